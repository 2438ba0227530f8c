"""Journals in other forms: one flat row an event for databases and log collectors, and the inputs that a run can be made of again."""
