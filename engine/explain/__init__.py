"""From what was decided to its reasons."""
