"""The documents in a file, JSON or YAML, as plain data."""
