"""The project's speed on this machine, each figure beside something simpler from the same run."""
