"""What is done to records: validate, deduplicate, extract, join, aggregate, encode."""
