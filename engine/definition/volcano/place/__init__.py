"""Which nodes a pod may have, and which of them is best."""
