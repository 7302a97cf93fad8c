"""The steps from records to rows: validate, deduplicate, extract, join, aggregate, encode."""
