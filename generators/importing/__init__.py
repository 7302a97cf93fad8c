"""Sales of a real retailer, from files to events: `retail import`."""
