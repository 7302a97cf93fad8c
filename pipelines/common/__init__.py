"""The shell around every pipeline: read, judge, deduplicate, fold, write, mark."""
