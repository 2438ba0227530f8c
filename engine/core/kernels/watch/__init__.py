"""Refusals that hold until there is more room: what each waits for, and whom a change may help."""
