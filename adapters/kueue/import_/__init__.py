"""Kueue's objects as a policy and facts."""
