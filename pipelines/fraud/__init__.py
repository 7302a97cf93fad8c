"""What looks like fraud, rule by rule."""
