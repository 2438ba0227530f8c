"""Which queues a submission belongs to: found by doors, the same as those of all queues that let it in."""

from itertools import product

import pytest
from gpol.dsl import compile_policy
from gpol.engine.event_parts import PodSet
from gpol.engine.facts import WorkloadSubmitted
from gpol.engine.guard import matches
from gpol.engine.intake.routing import entered_by, matching_queues, queue_named
from gpol.engine.policy.doors import Condition
from gpol.engine.policy_graph import PolicyGraph

POLICY = """policy "doors" { }
flavor a100 { gpu 8 }
queue one {
  owns 1 gpu
  for namespace "a" and label "team" = "x"
  for user "u?"
}
queue two {
  owns 1 gpu
  for namespace "b*" and label "team" = "y"
  for label "team" = "x" and kind "Job"
}
queue three {
  owns 1 gpu
  for namespace "*"
}
queue four {
  owns 1 gpu
  for namespace "a"
  for namespace "a" and user "u1"
}
queue five { owns 1 gpu }
"""


PODS = (PodSet(requests={"gpu": 1000}),)


@pytest.fixture(scope="module")
def graph() -> PolicyGraph:
    """Queues with literal patterns, with wildcards, with both, and without any match rule."""
    return compile_policy(POLICY, "doors.gpol")


def _said(fact: WorkloadSubmitted, condition: Condition) -> str | None:
    if condition.attribute == "label":
        return fact.labels.get(condition.key or "")
    return fact.workload_kind if condition.attribute == "kind" else str(getattr(fact, condition.attribute))


def test_every_queue_that_lets_a_submission_in_is_found(graph: PolicyGraph) -> None:
    """All that four attributes may say: the queues are those with a rule whose conditions all hold, in the order of the policy."""
    found = set[tuple[int, ...]]()
    for namespace, user, kind, team in product(("", "a", "b", "bc", "*"), ("", "u1", "ux", "u12"), ("", "Job"), (None, "x", "y")):
        labels = {"other": "x"} | ({} if team is None else {"team": team})
        fact = WorkloadSubmitted(time=0, workload="w", namespace=namespace, user=user, workload_kind=kind, labels=labels, pod_sets=PODS)
        wanted = [
            queue.node
            for queue in graph.queues
            if any(
                all((said := _said(fact, condition)) is not None and matches(said, condition.pattern) for condition in conditions)
                for conditions in queue.matches
            )
        ]
        assert matching_queues(graph, fact) == wanted
        found.add(tuple(wanted))
    assert len(found) > 6


def test_a_name_leads_to_its_queue(graph: PolicyGraph) -> None:
    """By name a queue without match rules is reached too; nothing else has that name."""
    names = [node.name for node in graph.nodes]
    assert [queue_named(graph, name) for name in ("five", "six", "cluster")] == [names.index("five"), None, None]
    assert entered_by(graph, "t/five") == []
