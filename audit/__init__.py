"""Independent computations of every view, from the log alone: whether answers are exact, and how
good they are.
"""
