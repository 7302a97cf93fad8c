"""What this machine needs to have before anything is started."""
