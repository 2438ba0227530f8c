"""HyperNodes, and what PodGroups ask for of them; the pods that stand on nodes."""
