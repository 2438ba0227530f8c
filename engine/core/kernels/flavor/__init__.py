"""Which flavors a workload gets."""
