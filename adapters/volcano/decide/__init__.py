"""Scenarios decided as Volcano's scheduler decides them."""
