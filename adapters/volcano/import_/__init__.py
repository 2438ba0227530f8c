"""Volcano's objects as a policy and facts."""
