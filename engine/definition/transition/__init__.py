"""How events change the state."""
