"""Figures of a run, counted from its events."""
