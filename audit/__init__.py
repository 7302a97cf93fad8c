"""Independent computations of every view, from the log alone: how exact it is, and how good."""
