"""Kueue's own words for what gpol decides."""

REASONS = {
    "in-queue": "InClusterQueue",
    "reclaim": "InCohortReclamation",
    "fair-sharing": "InCohortFairSharing",
    "reclaim-while-borrowing": "InCohortReclaimWhileBorrowing",
}
"""Kueue's words for why a victim goes."""
