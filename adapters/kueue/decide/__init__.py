"""Scenarios decided as Kueue decides them."""
