"""The quota tree, shares, and usage that decays."""
