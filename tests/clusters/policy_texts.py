"""Policies that tests of several rooms play."""

TWO_QUEUES = """
policy "two" { use gpol.fair }
flavor a100 { gpu 8 }
cohort all {
  queue owner { owns 8 gpu }
  queue guest { owns nothing }
}
"""
"""One queue owns all, the other one borrows."""

PROTECTED = (
    TWO_QUEUES
    + """protect warm-up { where victim.running < 10m }
"""
)
"""The same two queues; for ten minutes nobody who runs is evicted."""

TURNS = """policy "turns" {
  preempt by turn, reclaim-owned, fair-share, make-room
}

flavor a100 { gpu 8 }

queue owner { owns 8 gpu }

preempt turn {
  evict from the same queue
  where victim.running >= 1m
}
"""
"""Workloads of one queue that evict each other in turns for ever."""
