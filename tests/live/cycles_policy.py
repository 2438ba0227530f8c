"""The queues of a policy that decides in cycles, for the laws of gpol deciding for Kueue and for Volcano."""

QUEUES_IN_CYCLES = """cohort all {
  queue wide {
    owns 4 gpu on h100
    reclaims from anyone
  }
  queue other {
    owns 4 gpu on h100
    reclaims from anyone
  }
}
"""
"""Where capacity is what is owned, a tree has what its root owns."""
