"""Volcano: how its passes divide, order, place and evict."""
