"""HyperNodes as a topology of gpol, nodes as facts, and where the pods of PodGroups stand or are to stand."""
