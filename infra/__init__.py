"""What every room stands on, and what runs the shop on one machine."""
