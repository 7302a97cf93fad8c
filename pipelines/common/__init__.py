"""What all pipelines share: read, validate, deduplicate, extract, aggregate, write, mark."""
