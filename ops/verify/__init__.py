"""Independent computations of every view, from the log alone: they tell whether answers are exact,
and how good they are.
"""
