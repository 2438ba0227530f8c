"""The kernels of the core over arrays, compiled by numba. Tests and benchmarks use it; no command does yet."""
