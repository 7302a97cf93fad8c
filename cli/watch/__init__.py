"""retail watch: the shop in the terminal, from the API."""
