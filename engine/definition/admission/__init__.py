"""Which workloads are admitted, in which order."""
