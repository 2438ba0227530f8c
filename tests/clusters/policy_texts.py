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

IN_CYCLES = """policy "in cycles" { use kueue.classical }
flavor a100 { gpu as owned }
cohort all {
  queue owner {
    owns 8 gpu
    reclaims from anyone
  }
  queue guest { owns nothing }
}
"""
"""The same two queues, decided in cycles."""

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

TWO_STEPS = """policy "two steps" {
  use test.bare
  preempt by make-room, reclaim
}
flavor a { gpu 2 }
priority low 0
priority high 10
queue owner { owns 2 gpu }
queue guest { owns nothing }
preempt make-room {
  evict from the same queue
  where victim.priority < workload.priority
}
preempt reclaim {
  when workload fits what its queue owns
  evict from queues that borrow
}
"""
"""Once a small workload of the owner is gone, a great one fits what the owner owns, and the borrower has to go as well."""

FABRIC = """topology fabric {
  level rack from label "rack"
  level host from node
}
"""
"""Nodes in racks."""

IN_RACKS = f"""policy "racks" {{ use gpol.fair }}
{FABRIC}flavor h100 {{
  gpu from nodes where model = "h100"
  placed in fabric
}}
queue q {{ owns 32 gpu on h100 }}
"""
"""One queue whose pods get nodes, in racks."""
