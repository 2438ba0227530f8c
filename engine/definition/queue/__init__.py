"""Who waits where: the queue of a workload, what holds it, its place, and what is parked."""
