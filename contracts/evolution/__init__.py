"""The evolution of contracts: the releases, what differs now, and whom a difference breaks."""
