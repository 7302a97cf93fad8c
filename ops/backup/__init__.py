"""A copy of a running shop at one moment, and a shop made of it again."""
