"""Jobs played by the core itself."""
