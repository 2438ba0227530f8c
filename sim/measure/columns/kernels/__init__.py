"""Counting, in plain functions that a compiler for numpy code takes as well. `../../measure.py` has the same rules, by the same names."""
