"""The kernels of the core over arrays, compiled by numba. `fast_core.py` says when they are used."""
