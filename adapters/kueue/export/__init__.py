"""A policy as Kueue's objects."""
