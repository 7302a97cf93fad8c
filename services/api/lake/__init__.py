"""The past, read from the files of the lake."""
