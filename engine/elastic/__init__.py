"""Elastic workloads, which have more and fewer pods while they run."""
