"""The catalogue: every topic and view with its writers and readers, as a site of static files."""
