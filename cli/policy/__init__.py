"""The commands for those who write policies: check, fmt, test, diff."""
