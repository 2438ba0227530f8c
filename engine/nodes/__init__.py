"""The nodes of a cluster: what keeps pods off them, how far they are from one another, and where pods stand."""
