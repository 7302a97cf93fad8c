"""What people plan: frauds, and what is innocent and looks like one. Behaviour, not thresholds."""
