"""Policies whose quotas are guarded, one after the other: what tests of the guard share."""

from gpol.dsl import compile_policy
from gpol.engine.policy_graph import PolicyGraph

_HEAD = """policy "guarded" {
  use kueue.classical
}

resource "nvidia.com/gpu"

flavor h100 {
  "nvidia.com/gpu" as owned
  label gpu = "h100"
}

priority prod 1000
"""

_PLAIN = """
cohort all {
  queue a {
    owns 8 "nvidia.com/gpu" on h100
    reclaims from anyone
    for namespace "team-a"
  }
  queue b {
    owns 4 "nvidia.com/gpu" on h100
    borrows up to 2 "nvidia.com/gpu" on h100
    local queue "team-b/gpus"
  }
}
"""


def policy(text: str = _PLAIN) -> PolicyGraph:
    """A policy of two queues in a cohort, or of other queues."""
    return compile_policy(_HEAD + text, "guarded.gpol")


PLAIN = policy()
STOPPED = policy(_PLAIN.replace("    reclaims from anyone\n", "    weight 2\n    stopped\n").replace("owns 4", "owns 16"))
"""The first queue is stopped, has a weight, and reclaims nothing; the second owns more."""
APART = policy("""
queue a {
  owns 8 "nvidia.com/gpu" on h100
  for namespace "team-a"
}
""")
"""One queue without a cohort; the other queue is gone."""
