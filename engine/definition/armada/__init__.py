"""Armada: how its round divides, orders, places and evicts."""
