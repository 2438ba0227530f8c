"""The same figures as `../measure.py`, counted from the columns of a history that a core has played by itself."""
