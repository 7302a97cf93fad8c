"""Keys of the secure profile: an authority, certificates, and a password for each service."""
