"""The routes, a noun per file, with the models of their answers."""
