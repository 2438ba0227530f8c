"""Where pods stand, over tables."""
