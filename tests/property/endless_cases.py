"""Policies that decide in cycles and never come to rest: each with workloads that show it, and what ends it."""

import re
from dataclasses import dataclass

from gpol.engine.event_parts import PodSet
from gpol.engine.facts import WorkloadSubmitted
from gpol.engine.units import SECOND


@dataclass(frozen=True)
class Asked:
    """A workload: queue, pods, what each asks for, priority, the fewest pods that will do, the local queue."""

    queue: str
    pods: int
    gpu: int
    cpu: int = 0
    priority: int = 0
    fewest: int | None = None
    local: str | None = None

    def fact(self, number: int) -> WorkloadSubmitted:
        """Its submission; one workload comes every five seconds."""
        requests = {"gpu": self.gpu * 1000} | ({"cpu": self.cpu * 1000} if self.cpu else {})
        pods = PodSet(count=self.pods, requests=requests, min_count=self.fewest)
        time, name = number * 5 * SECOND, f"w{number}"
        return WorkloadSubmitted(
            time=time, workload=name, queue=self.queue, priority=self.priority, pod_sets=(pods,), local_queue=self.local
        )


@dataclass(frozen=True)
class Cause:
    """A policy and workloads that never come to rest, who is evicted again and again by which statement, and a change that ends it.

    change: a pattern in the policy and what to write instead; None: that every workload needs all its pods ends it.
    """

    policy: str
    asked: tuple[Asked, ...]
    victim: str
    by: str
    change: tuple[str, str] | None

    def changed(self) -> "Cause":
        """With the change."""
        if self.change is None:
            asked = tuple(Asked(each.queue, each.pods, each.gpu, each.cpu, each.priority) for each in self.asked)
            return Cause(self.policy, asked, "", "", None)
        policy = re.sub(self.change[0], self.change[1], self.policy, flags=re.DOTALL)
        assert policy != self.policy
        return Cause(policy, self.asked, "", "", None)


CAUSES = {
    "sparing its own in the end": Cause(
        """policy "p" {
  use kueue.fair
  preempt fairly by final share
}
flavor a { gpu as owned }
cohort top {
  queue q1 {
    evicts its own of lower priority
    reclaims from lower priority
    owns 4 gpu
  }
  queue q2 {
    owns 3 gpu
    weight 2
  }
}
""",
        (Asked("q2", 1, 4), Asked("q1", 1, 1), Asked("q1", 1, 4, priority=1)),
        "w0",
        "reclaims from lower priority",
        ("    evicts its own of lower priority\n", ""),
    ),
    "cohorts that differ in share": Cause(
        """policy "p" {
  use kueue.fair
  preempt fairly by final share
}
flavor a { gpu as owned }
cohort top {
  queue q0 { owns 3 gpu }
  cohort sub {
    queue q2 {
      reclaims from anyone
      owns 4 gpu
    }
    queue q3 { owns 4 gpu }
  }
}
""",
        (Asked("q3", 1, 2), Asked("q0", 1, 4), Asked("q3", 1, 3), Asked("q3", 1, 1), Asked("q2", 1, 3)),
        "w1",
        "reclaims from anyone",
        (r"  cohort sub \{(.*)  \}\n\}\n$", r"\1}\n"),
    ),
    "borrowing of another resource": Cause(
        """policy "p" {
  use kueue.fair
  preempt fairly by final share
}
flavor a { gpu as owned }
flavor c { cpu as owned }
cohort top {
  queue q0 {
    reclaims from anyone
    owns 2 gpu
  }
  queue q1 { owns 2 cpu }
}
""",
        (Asked("q1", 1, 1), Asked("q0", 2, 1, cpu=1)),
        "w0",
        "reclaims from anyone",
        ("    owns 2 gpu\n", "    owns 2 gpu\n    owns 2 cpu\n"),
    ),
    "evicting both its own and others', by share": Cause(
        """policy "p" {
  use kueue.fair
  preempt fairly by final share
}
flavor a { gpu as owned }
cohort top {
  queue q1 {
    evicts its own of lower priority
    reclaims from anyone
    owns 2 gpu
  }
  queue q2 { owns 3 gpu }
}
""",
        (Asked("q2", 1, 4), Asked("q1", 1, 4, priority=1), Asked("q1", 1, 2)),
        "w0",
        "reclaims from anyone",
        ("    evicts its own of lower priority\n", ""),
    ),
    "fewer pods, by share": Cause(
        """policy "p" {
  use kueue.fair
  preempt fairly by final share
}
flavor a { gpu as owned }
cohort top {
  queue q0 {
    reclaims from anyone
    owns 2 gpu
  }
  queue q1 { owns 2 gpu }
}
""",
        (Asked("q1", 1, 3), Asked("q0", 2, 2, fewest=1)),
        "w0",
        "reclaims from anyone",
        None,
    ),
    "evicting while it borrows": Cause(
        """policy "p" { use kueue.classical }
flavor a { gpu as owned }
cohort top {
  queue q1 { owns 2 gpu }
  cohort sub {
    owns 2 gpu
    queue q2 {
      reclaims from lower priority
      borrows by evicting lower priority up to 1
      owns 5 gpu
    }
    queue q3 {
      reclaims from lower priority
      borrows by evicting lower priority up to 1
      owns 1 gpu
    }
  }
}
""",
        (Asked("q3", 1, 1), Asked("q2", 2, 3, priority=1), Asked("q3", 1, 4, priority=2)),
        "w0",
        "borrows by evicting lower priority",
        ("      borrows by evicting lower priority up to 1\n", ""),
    ),
    "another flavor, once there is room": Cause(
        """policy "p" { use kueue.classical }
flavor a { gpu as owned }
flavor b { gpu as owned }
flavor c { cpu as owned }
cohort top {
  queue q0 {
    owns 2 gpu on b
    owns 4 cpu on c
  }
  queue q2 {
    serves gpu from b, a
    serves cpu from c
    reclaims from anyone
    owns 1 gpu on a
    owns 1 gpu on b
    owns 4 cpu on c
  }
}
""",
        (Asked("q2", 1, 1, cpu=2), Asked("q0", 2, 1, cpu=3, priority=1), Asked("q2", 1, 1, cpu=1)),
        "w1",
        "reclaims from anyone",
        ("serves gpu from b, a", "when borrowing try next flavor\n    serves gpu from b, a"),
    ),
    "another flavor, in cohorts below cohorts": Cause(
        """policy "p" { use kueue.classical }
flavor b { gpu as owned }
flavor c { cpu as owned }
flavor d { gpu as owned }
cohort top {
  queue q1 {
    serves gpu from d
    serves cpu from c
    owns 1 cpu on c
    owns 2 gpu on d
  }
  cohort sub {
    owns 2 gpu on d
    queue q2 {
      serves gpu from d, b
      serves cpu from c
      reclaims from lower priority
      owns 1 gpu on b
      owns 3 cpu on c
      owns 6 gpu on d
    }
    queue q3 {
      serves gpu from b
      serves cpu from c
      owns 1 gpu on b
      owns 3 cpu on c
    }
  }
}
""",
        (Asked("q1", 1, 1, cpu=3), Asked("q2", 2, 4), Asked("q3", 2, 1, cpu=2), Asked("q2", 1, 1, cpu=1, priority=1)),
        "w2",
        "reclaims from lower priority",
        ("      serves gpu from d, b", "      when borrowing try next flavor\n      serves gpu from d, b"),
    ),
    "evicting both its own and others', by priority": Cause(
        """policy "p" { use kueue.classical }
flavor a { gpu as owned }
flavor c { cpu as owned }
cohort top {
  queue q0 {
    evicts its own of lower priority
    reclaims from anyone
    owns 4 gpu
  }
  queue q1 { owns 2 cpu }
}
""",
        (Asked("q1", 1, 1, priority=1), Asked("q0", 2, 2, cpu=1, priority=1), Asked("q0", 2, 2)),
        "w0",
        "reclaims from anyone",
        ("    evicts its own of lower priority\n", ""),
    ),
    "fewer pods, by priority": Cause(
        """policy "p" { use kueue.classical }
flavor a { gpu as owned }
cohort top {
  queue q1 { owns 3 gpu }
  queue q2 {
    reclaims from anyone
    owns 1 gpu
  }
}
""",
        (Asked("q1", 2, 2), Asked("q2", 3, 1, fewest=1)),
        "w0",
        "reclaims from anyone",
        None,
    ),
    "fewer pods, and room kept for somebody else": Cause(
        """policy "p" { use kueue.classical }
flavor a { gpu as owned }
cohort top {
  queue q0 { owns 6 gpu }
  queue q1 {
    reclaims from lower priority
    owns 4 gpu
  }
  queue q2 {
    owns 5 gpu
    borrows up to 2 gpu
  }
}
""",
        (Asked("q2", 3, 2), Asked("q0", 2, 4), Asked("q2", 1, 2, priority=1), Asked("q1", 3, 3, priority=1, fewest=1)),
        "w1",
        "reclaims from lower priority",
        ("    owns 5 gpu\n", "    owns 5 gpu\n    reclaims from anyone\n"),
    ),
    "by usage": Cause(
        """policy "p" {
  use kueue.classical
  usage halves every 7d, sampled every 5m
}
flavor a { gpu as owned }
queue q {
  owns 2 gpu
  evicts its own of lower priority
  admits by usage
  local queue "q/busy" { weight 0 }
  local queue "q/calm"
}
""",
        (Asked("q", 1, 1, local="q/calm"), Asked("q", 1, 2, priority=1, local="q/busy")),
        "w0",
        "evicts its own of lower priority",
        ("  admits by usage\n", ""),
    ),
    "an order of its own": Cause(
        """policy "p" {
  use kueue.classical
  order workloads by submitted asc
}
flavor a { gpu as owned }
queue q {
  owns 2 gpu
  evicts its own of lower priority
  queueing strict fifo
}
""",
        (Asked("q", 1, 1), Asked("q", 1, 2, priority=1)),
        "w0",
        "evicts its own of lower priority",
        ("order workloads by submitted asc", "order workloads by priority desc, submitted asc"),
    ),
}
