"""Scenarios in which two policies decide differently."""
