"""The passes, and a cycle of them."""
