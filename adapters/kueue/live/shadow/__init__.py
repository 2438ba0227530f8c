"""gpol watches: Kueue decides by itself, gpol decides beside it, and tells where the two part."""
