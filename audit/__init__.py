"""Independent computations of every view, from the log alone: they say whether answers are exact,
and how good.
"""
