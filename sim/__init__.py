"""Virtual time: workloads with durations played through the core, measured and reported; tests of policies."""
