"""What makes long commands fast."""
