"""Kueue: its objects, from a dump of a cluster to a policy and the facts that rebuild the current state."""
