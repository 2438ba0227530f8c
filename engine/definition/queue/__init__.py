"""Who waits where: the order of a queue, what is parked, and how much local queues have used."""
