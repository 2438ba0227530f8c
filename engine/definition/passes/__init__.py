"""Deciding by passes: from the state of a cluster to a session, and from what passes did to it back to decisions."""
