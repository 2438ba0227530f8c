"""How events change the state, and which facts are possible."""
