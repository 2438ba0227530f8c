"""Syntax tree to policy graph, with everything that is wrong in one go."""
