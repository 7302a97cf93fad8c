"""The steps that records go through: validate, deduplicate, extract, join, aggregate, encode."""
