"""Facts in a row: a closed loop, or given facts."""
