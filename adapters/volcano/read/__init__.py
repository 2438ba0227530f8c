"""Volcano's objects read from files, typed and checked."""
