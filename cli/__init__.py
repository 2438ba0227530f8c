"""The command `gpol`."""
