"""What the API keeps of the log: a database per generation, and mirrors of a few topics."""
