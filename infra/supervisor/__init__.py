"""Runs the components as processes: starts them, restarts them within limits, stops them."""

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
