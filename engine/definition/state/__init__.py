"""The state of a cluster under a policy."""
