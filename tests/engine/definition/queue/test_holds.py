"""Who may not run: denied for good, held by a rule, by its owner or by an operator, and how each of it ends."""

from collections.abc import Callable
from typing import Any

import pytest

POLICY = """policy "holds" { preempt by nothing }
flavor a { gpu 8 }
priority urgent 50
cohort lab {
  queue nlp { owns nothing }
  queue vision { owns nothing }
}
queue other { owns nothing }
RULE
"""


@pytest.mark.parametrize(
    ("scope", "refused"),
    [
        ("", "nlp vision other"),
        (" for nlp", "nlp"),
        (" for lab", "nlp vision"),
        (" for other, vision", "vision other"),
        (" for cluster", "nlp vision other"),
    ],
)
@pytest.mark.parametrize(("word", "becomes"), [("deny", "reject"), ("hold", "pending")])
def test_whom_a_rule_covers(cluster: Callable[[str], Any], scope: str, refused: str, word: str, becomes: str) -> None:
    """A rule covers everybody, or the queues and cohorts that it names, with all below them."""
    c = cluster(POLICY.replace("RULE", f'{word} stop{scope} because "not today"'))
    outcome = {}
    for queue in ("nlp", "vision", "other"):
        decided = c.submit(queue, queue, "1")
        outcome[queue] = decided[0].split()[0] if decided else c.standing(queue).state

    assert outcome == {queue: becomes if queue in refused.split() else "run" for queue in ("nlp", "vision", "other")}


@pytest.mark.parametrize(
    ("guard", "applies"),
    [
        ("workload.gpu > 3", True),
        ("workload.gpu > 4", False),
        ("workload.pods = 2", True),
        ("workload.priority >= urgent", False),
        ('workload.user = "a*"', True),
        ('workload.label "team" = "blue"', True),
        ('workload.label "team" = "red"', False),
        ("workload.queue = nlp", True),
        ('workload.namespace = "x" or not workload.kind = "Job"', False),
    ],
)
def test_guards_look_at_the_submission(cluster: Callable[[str], Any], guard: str, applies: bool) -> None:
    """A rule with a guard applies where it is true of what was submitted."""
    c = cluster(POLICY.replace("RULE", f'deny stop {{ where {guard} }} because "no"'))

    decided = c.submit("w", "nlp", "2", pods=2, user="ada", labels={"team": "blue"}, workload_kind="Job", priority=49)

    assert decided == ["reject w" if applies else "run w"]


def test_a_boost_counts_above_the_ceiling(cluster: Callable[[str], Any]) -> None:
    """A rule sees the priority with its boost, though the queue's ceiling bounds what is asked for."""
    capped = POLICY.replace("queue other { owns nothing }", "queue other { priority at most urgent }")
    c = cluster(capped.replace("RULE", 'deny big { where workload.priority > 50 } because "too urgent"'))

    assert c.submit("v", "other", "1", priority=90) == ["run v"]
    assert c.submit("w", "other", "1", priority=90, boost=5) == ["reject w"]


def test_a_denied_workload_is_gone(cluster: Callable[[str], Any]) -> None:
    """It is live no more, and its name is free again."""
    c = cluster(POLICY.replace("RULE", 'deny big { where workload.gpu > 4 } because "too big"'))

    assert c.submit("w", "nlp", "5") == ["reject w"]
    assert c.core.view.workload("w") is None
    assert c.submit("w", "nlp", "4") == ["run w"]


def test_a_running_workload_is_left_alone_by_deny_and_hold(cluster: Callable[[str], Any]) -> None:
    """New rules judge what waits: what runs goes on, until it has to queue again."""
    c = cluster(POLICY.replace("RULE", ""))
    c.submit("runs", "nlp", "8")
    c.submit("waits", "vision", "8")

    assert c.activate(POLICY.replace("RULE", 'hold all because "moving racks"\ndeny none for nlp because "closed"')) == []
    assert c.running() == ["runs"]
    assert c.finish("runs") == []
    assert c.standing("waits").reason == "OnHold"


def test_a_hold_ends_with_its_rule(cluster: Callable[[str], Any]) -> None:
    """A policy without the rule lets the workload run at once."""
    c = cluster(POLICY.replace("RULE", 'hold drained for nlp because "moving racks"'))
    c.submit("w", "nlp", "1")

    assert c.activate(POLICY.replace("RULE", "")) == ["run w"]


def test_an_update_may_end_a_hold(cluster: Callable[[str], Any]) -> None:
    """A rule that looks at the priority holds a workload no longer once that has changed."""
    c = cluster(POLICY.replace("RULE", 'hold low { where workload.priority < urgent } because "urgent work only"'))

    assert c.submit("w", "nlp", "1") == []
    assert c.update("w", priority="urgent") == ["run w"]


def test_an_owner_holds_and_lets_go(cluster: Callable[[str], Any]) -> None:
    """A workload that its owner holds is passed over when there is room, and runs once let go."""
    c = cluster(POLICY.replace("RULE", ""))
    c.submit("all", "nlp", "8")
    c.submit("w", "nlp", "1")

    assert c.update("w", hold=True) == []
    assert c.finish("all") == []
    assert c.update("w", hold=False) == ["run w"]


def test_an_operator_holds_and_releases(cluster: Callable[[str], Any]) -> None:
    """The same by an operator."""
    c = cluster(POLICY.replace("RULE", ""))
    c.submit("all", "nlp", "8")
    c.submit("w", "nlp", "1")

    assert c.operator("hold", "w") == []
    assert c.finish("all") == []
    assert c.operator("release", "w") == ["run w"]


def test_an_operator_ends_an_owners_hold(cluster: Callable[[str], Any]) -> None:
    """A release ends both kinds of hold, an owner's update only its own."""
    c = cluster(POLICY.replace("RULE", ""))
    c.submit("all", "nlp", "8")
    c.submit("w1", "nlp", "1")
    c.submit("w2", "nlp", "1")
    for name in ("w1", "w2"):
        c.update(name, hold=True)
        c.operator("hold", name)
    c.finish("all")

    assert c.update("w1", hold=False) == []
    assert c.operator("release", "w1") == ["run w1"]
    assert c.operator("release", "w2") == ["run w2"]


def test_an_operator_evicts(cluster: Callable[[str], Any]) -> None:
    """Evicting stops a workload and holds it: others run in its place, and it may come back when released."""
    c = cluster(POLICY.replace("RULE", ""))
    c.submit("a", "nlp", "8")
    c.submit("b", "nlp", "8")

    assert c.operator("evict", "a") == ["evict a", "run b"]
    assert c.finish("b") == []
    assert c.operator("release", "a") == ["run a"]


def test_release_frees_from_no_rule(cluster: Callable[[str], Any]) -> None:
    """An operator's release ends wishes of people; what the policy holds stays held."""
    c = cluster(POLICY.replace("RULE", 'hold all because "moving racks"'))
    c.submit("w", "nlp", "1")

    assert c.operator("release", "w") == []
