"""Preempt rules: which ones Volcano has an action for, and whom they spare."""

import pytest

from ..volcano_exports import HEAD, exported, notes, problems, specs

QUEUES = 'queue a { owns 8 "nvidia.com/gpu" }\n\nqueue b { owns 8 "nvidia.com/gpu" }\n\nqueue bb { owns nothing }\n\n'
POLICY = HEAD + QUEUES

OWNED = "when workload fits what its queue owns\n  evict from queues that borrow"


def rule(name: str, body: str) -> str:
    """A rule that stands in place of the profile's of that name."""
    return f"preempt {name} {{\n  {body}\n}}\n\n"


def actions(text: str) -> str:
    """The actions that a note of an export names."""
    [note] = [str(note) for note in exported(text).notes if "needs the plugin" in note.text]
    return note.partition("the actions ")[2].partition(":")[0]


def test_the_actions_of_the_rules_are_named() -> None:
    """Those of Volcano's own example, where there are rules for them."""
    assert actions(POLICY) == "enqueue, allocate, preempt, reclaim, backfill"
    assert all("reclaimable" not in spec for spec in specs(POLICY).values())


def test_without_rules_about_others_nobody_is_reclaimed_from() -> None:
    """Which a Queue can say."""
    quiet = POLICY.replace("{ use gpol.reclaim }", "{\n  use gpol.reclaim\n  preempt by nothing\n}")
    assert actions(quiet) == "enqueue, allocate, backfill"
    assert [spec["reclaimable"] for spec in specs(quiet).values()] == [False, False, False]


def test_evening_out_is_noted() -> None:
    """The plugin capacity does not do it; the actions are the same."""
    fair = POLICY.replace("gpol.reclaim", "gpol.fair")
    [note] = notes(fair)
    assert note.startswith("preempt rule fair-share: evens out shares of what is borrowed: Volcano's plugin capacity does not")
    assert actions(fair) == actions(POLICY)
    initial = fair + rule("fair-share", "evict from queues that borrow\n  where victim.queue.share > workload.queue.share")
    assert [line.partition(":")[0] for line in notes(initial)] == ["preempt rule fair-share"]


@pytest.mark.parametrize(
    ("condition", "spared"),
    [
        ('victim.queue != "a"', {"a"}),
        ('victim.queue != "b*"', {"b", "bb"}),
        ("victim.queue != a and victim.queue != bb", {"a", "bb"}),
    ],
)
def test_queues_that_are_spared_are_not_reclaimable(condition: str, spared: set[str]) -> None:
    """However the rule names them."""
    made = specs(POLICY + rule("reclaim-owned", f"{OWNED}\n  where {condition}"))
    assert {name for name, spec in made.items() if spec.get("reclaimable") is False} == spared


def test_all_rules_about_others_spare_the_same() -> None:
    """A Queue is reclaimable or not."""
    fair = POLICY.replace("gpol.reclaim", "gpol.fair") + rule("reclaim-owned", f"{OWNED}\n  where victim.queue != a")
    cause = "spares queue a unlike another rule; in Volcano a queue is reclaimable or not"
    [told] = problems(fair)
    assert told.startswith("gpol/fair.gpol:")
    assert told.endswith(f": preempt rule fair-share: where: {cause}; let all rules that evict from other queues spare the same ones")


@pytest.mark.parametrize(
    "body",
    [
        f"{OWNED}, in the same cohort",
        f"{OWNED}\n  where victim.running > 1h",
        f"{OWNED}\n  where victim.priority < workload.priority",
        f'{OWNED}\n  where victim.queue = "a"',
        f'{OWNED}\n  where victim.queue != "a" or victim.priority < workload.priority',
        f'{OWNED}\n  where victim.namespace != "a"',
        "when workload fits what its cohort owns\n  evict from queues that borrow",
        "evict from any queue\n  where victim.priority < workload.priority",
        "evict from the same queue",
        'evict from the same queue\n  where victim.priority < workload.priority and victim.queue != "a"',
    ],
)
def test_other_rules_are_refused(body: str) -> None:
    """No action of Volcano has their conditions."""
    [told] = problems(POLICY + rule("reclaim-owned", body))
    assert told == (
        "p.gpol:13: preempt rule reclaim-owned: evicts by conditions that no action of Volcano has; "
        "use the rules of gpol.fair or gpol.reclaim, or rules with the same conditions"
    )


def test_a_rule_may_be_turned_around() -> None:
    """`b > a` says what `a < b` says."""
    turned = POLICY + rule("make-room", "evict from the same queue\n  where workload.priority > victim.priority")
    assert actions(turned) == actions(POLICY)
