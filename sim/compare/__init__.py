"""One history under several policies, side by side."""
