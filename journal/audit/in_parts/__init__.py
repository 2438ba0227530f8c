"""A long journal looked at in parts, by all processors."""
