"""Kueue on a cluster: gpol decides as an admission check, keeps the quotas, or watches."""
