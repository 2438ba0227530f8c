"""What Volcano's queue plugins work out for queues and jobs, and what they say by it."""
