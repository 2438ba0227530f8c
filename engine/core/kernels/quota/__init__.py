"""Quotas, charges and shares."""
