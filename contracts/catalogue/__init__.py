"""The catalogue: every topic and view, who writes it and who reads it, as a site of plain files."""
