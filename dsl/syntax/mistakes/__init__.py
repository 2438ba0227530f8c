"""Mistakes that are recognised where a policy does not parse, and what to write instead."""
