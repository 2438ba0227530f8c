"""Queues that others may not reclaim from: rules that spare them, and nothing else of them."""

from pathlib import Path

from commands import Gpol
from gpol.adapters.volcano.import_.reclaimable_rules import PROFILE, sparing
from gpol.dsl import compile_policy
from gpol.dsl.syntax import tree

from ..volcano_objects import GPU, queue, text

PLAYED = """
test "nobody reclaims from it" {
  at 0s submit b by borrower { 8 "nvidia.com/gpu" }
  at 1m submit o by owner { 8 "nvidia.com/gpu" }
  expect b admitted borrowing
  expect o pending because WaitingForQuota
}

test "within its queue the more important workload goes first" {
  at 0s submit b by borrower { 8 "nvidia.com/gpu" }
  at 1m submit c by borrower { 8 "nvidia.com/gpu", priority 1 }
  expect b evicted by make-room
  expect c admitted borrowing
}
"""


def test_without_such_queues_the_profile_says_it_all() -> None:
    """No rule is written."""
    assert sparing([]) == []
    assert "preempt" not in text(queue(), queue("b"))


def test_each_rule_about_others_has_a_condition_more() -> None:
    """The rest of it stays that of the profile, and the rule about the own queue is left alone."""
    rules = sparing(["a", "b"])
    assert [rule.name.text for rule in rules] == ["reclaim-owned", "fair-share"]
    plain = compile_policy(f'policy "p" {{ use {PROFILE} }}\nflavor f {{ gpu 8 }}\nqueue a {{ owns nothing }}', "p.gpol")
    made = text(queue("a", deserved={GPU: "8"}, reclaimable=False), queue("b"))
    spared = compile_policy(made, "p.gpol")
    for before, after in zip(plain.preempt, spared.preempt, strict=True):
        assert (after.name, after.trigger, after.scope, after.range, after.order) == (
            before.name,
            before.trigger,
            before.scope,
            before.range,
            before.order,
        )
    assert all(isinstance(rule, tree.PreemptItem) for rule in rules)
    assert 'where victim.queue != "a"\n' in made
    assert 'where workload.queue.share <= victim.queue.share_after and victim.queue != "a"\n' in made


def test_the_policy_does_what_volcano_says(gpol: Gpol, tmp_path: Path) -> None:
    """Nobody of another queue evicts there, and within the queue the more important workload does."""
    tree = [queue("borrower", deserved={}, reclaimable=False), queue("owner", deserved={GPU: "8"})]
    (tmp_path / "p.gpol").write_text(text(*tree) + PLAYED)
    assert gpol("test", "p.gpol").code == 0
    tree[0]["spec"]["reclaimable"] = True
    (tmp_path / "p.gpol").write_text(text(*tree) + PLAYED)
    assert gpol("test", "p.gpol").code == 2
