"""What to mark down."""
