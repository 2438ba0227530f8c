"""Kueue's names for the reasons of gpol's decisions."""

REASONS = {
    "in-queue": "InClusterQueue",
    "reclaim": "InCohortReclamation",
    "fair-sharing": "InCohortFairSharing",
    "reclaim-while-borrowing": "InCohortReclaimWhileBorrowing",
    "node-lost": "NodeFailures",
}
"""Kueue's words for why a victim goes."""
