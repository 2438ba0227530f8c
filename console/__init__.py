"""gpol as a service: what it serves over HTTP, and how all that runs in one process is kept running."""
