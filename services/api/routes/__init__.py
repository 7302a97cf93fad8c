"""The routes, one noun per file, with the models of their answers."""
