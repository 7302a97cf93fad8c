"""The simulated world and its publishers."""
