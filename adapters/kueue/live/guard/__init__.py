"""gpol guards quotas: Kueue decides, and its queues stay as the policy says."""
