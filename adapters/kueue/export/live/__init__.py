"""The objects that a cluster needs so that gpol is at work there."""
