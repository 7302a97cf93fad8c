"""How fast it is on this machine, each figure beside something simpler from the same run."""
