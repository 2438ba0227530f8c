"""Checks of what a policy declares: flavors, cohorts, queues, rules."""
