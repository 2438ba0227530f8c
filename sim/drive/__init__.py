"""Facts and jobs played through the core in virtual time."""
