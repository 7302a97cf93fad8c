"""The command line `retail`: one file per command; the only place that imports every room."""
