"""Runs the components as processes: starts them, restarts them within limits, stops them."""

# In the order of their start; supervisord.conf has the command of each.
COMPONENTS = (
    "broker",
    "simulator",
    "clock",
    "quarantine",
    "pipelines",
    "ordering",
    "markdowns",
    "supplier",
    "api",
    "lake",
)
