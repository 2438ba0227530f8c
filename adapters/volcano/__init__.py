"""Volcano: its objects, from files to a policy and the facts that rebuild the current state, and back."""
