"""Auditing a journal: rows and chain, recorded decisions made again, signed evidence, and everything that is wrong."""
