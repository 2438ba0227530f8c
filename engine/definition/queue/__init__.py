"""Who waits where: the order of a queue, and what is parked."""
