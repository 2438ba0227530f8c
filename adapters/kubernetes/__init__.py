"""Kubernetes: talking to an API server, and following what it has."""
