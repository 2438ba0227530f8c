"""Deciding over tables, in plain functions that run as they are and that a compiler for numpy code takes as well."""
