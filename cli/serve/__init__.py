"""serve: gpol beside a cluster."""
