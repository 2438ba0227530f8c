"""The command compare: several policies on the same jobs."""
