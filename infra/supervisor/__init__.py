"""The components as processes: started, restarted within limits, stopped, found again."""

# In the order in which they are started; supervisord.conf says how each is run.
COMPONENTS = (
    "broker",
    "simulator",
    "clock",
    "quarantine",
    "pipelines",
    "ordering",
    "supplier",
    "api",
    "lake",
)
