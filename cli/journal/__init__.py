"""The commands that read, check and copy a journal."""
