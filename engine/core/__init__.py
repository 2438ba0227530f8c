"""The core over arrays: the same decisions as the definition's, from tables of integers."""
