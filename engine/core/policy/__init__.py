"""A policy as numbers."""
