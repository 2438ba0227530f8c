"""A policy as Volcano's objects."""
