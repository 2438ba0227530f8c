"""gpol guards quotas: a system decides by itself, and the objects in which it has its quotas stay as a policy says."""
