"""Who has to go for a workload."""
