"""What the machine needs before anything starts."""
