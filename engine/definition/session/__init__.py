"""One cycle of a policy that decides by passes: pods one by one, on nodes, over one log of what was tried."""
