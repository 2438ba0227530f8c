"""Who is not nominated at all, and what each is told."""

from collections.abc import Callable
from typing import Any

import pytest

POLICY = """flavor a {{ gpu as owned }}
flavor gone {{
  gpu as owned
  missing
}}
queue q {{
  serves gpu from {flavors}
  owns 4 gpu on a
  {says}
}}
"""


def policy(*says: str, flavors: str = "a") -> str:
    """One queue that says something."""
    return POLICY.format(flavors=flavors, says="\n  ".join(says))


@pytest.mark.parametrize("says", ["stopped", "stopped and drained"])
def test_a_stopped_queue_puts_up_nobody(cycles: Callable[[str], Any], says: str) -> None:
    """Nothing is decided, nor recorded again and again; the workload is told that its queue is stopped."""
    c = cycles(policy(says))
    c.submit("w", "q")

    assert c.rest() == []
    assert (c.standing("w").reason, c.standing("w").rule.name) == ("Suspended", "q")
    assert c.standing("w").operands[0].value == "stopped"


def test_draining_evicts_what_runs(cycles: Callable[[str], Any]) -> None:
    """A policy that drains a queue evicts what runs there, for nobody; one that only stops it does not."""
    c = cycles(policy())
    c.submit("w", "q")
    c.rest()
    assert c.activate(policy("stopped")) == []
    assert c.running() == ["w"]
    assert c.activate(policy("stopped and drained")) == ["evict w for -"]
    assert (c.decided[0].preemption, c.decided[0].reason) == ("stopped", "Drained")

    c.activate(policy())
    assert c.rest() == ["run w"]


def test_a_missing_flavor_stops_its_queues(cycles: Callable[[str], Any]) -> None:
    """A queue that serves a flavor which nothing defines admits nothing, on other flavors either."""
    c = cycles(policy(flavors="a, gone"))
    c.submit("w", "q")

    assert c.rest() == []
    assert c.standing("w").operands[0].value == "flavor gone is missing"


@pytest.mark.parametrize("says", ["stopped", "stopped and drained"])
def test_a_stopped_local_queue_sets_its_workloads_aside(cycles: Callable[[str], Any], says: str) -> None:
    """Only those that came by it wait; draining evicts those that run."""
    local = 'local queue "ns/a" {}\n  local queue "ns/b"'.replace(" {}", " { weight 1 }")
    c = cycles(policy(local))
    c.submit("runs", None, local_queue="ns/a")
    c.rest()
    drained = c.activate(policy(local.replace("{ weight 1 }", f"{{ {says} }}")))
    c.submit("waits", None, local_queue="ns/a")
    c.submit("passes", None, local_queue="ns/b")

    assert drained == (["evict runs for -"] if "drained" in says else [])
    assert c.rest() == ["run passes"]
    assert (c.standing("waits").reason, c.standing("waits").rule.name) == ("Suspended", "ns/a")


@pytest.mark.parametrize(
    ("state", "decided"), [("Retry", ["park w"]), ("Rejected", ["park w"]), ("Pending", ["run w"]), ("Ready", ["run w"])]
)
def test_failed_checks_turn_a_head_away(cycles: Callable[[str], Any], state: str, decided: list[str]) -> None:
    """One whose check has to be tried again, or was turned down, waits for its evaluation; others are admitted."""
    c = cycles(policy("needs check prov"))
    c.submit("w", "q")
    c.update("w", checks={"prov": state})

    assert c.rest() == decided
    if decided == ["park w"]:
        assert (c.standing("w").reason, c.standing("w").operands[0].value) == ("PendingEvaluation", "admission check prov")
        c.update("w", checks={"prov": "Ready"})
        assert c.rest() == ["run w"]


@pytest.mark.parametrize(("labels", "decided"), [({"dep": "eng"}, ["run w"]), ({"dep": "sales"}, ["park w"]), ({}, ["park w"])])
def test_namespaces(cycles: Callable[[str], Any], labels: dict[str, str], decided: list[str]) -> None:
    """Only workloads of namespaces with the right labels are admitted; even in a strict queue the others are parked."""
    c = cycles(policy('for namespaces where label "dep" in "eng"', "queueing strict fifo"))
    c.submit("w", "q", namespace_labels=labels)

    assert c.rest() == decided
    assert c.standing("w").reason == ("Running" if decided == ["run w"] else "Misconfigured")


def test_one_of_no_queue_waits_for_it(cycles: Callable[[str], Any]) -> None:
    """A local queue that nobody has yet rejects nobody: once a policy brings it the workload is admitted."""
    c = cycles(policy())
    assert c.submit("w", None, local_queue="ns/new") == []
    assert c.rest() == []
    assert (c.standing("w").reason, c.standing("w").operands[0].value) == ("Misconfigured", "ns/new")

    c.activate(policy('local queue "ns/new"'))
    assert c.rest() == ["run w"]


def test_holds(cycles: Callable[[str], Any]) -> None:
    """Held by its owner, by an operator, by a rule: each is told who or which."""
    c = cycles(policy() + 'hold frozen { where workload.user = "eve" } because "later"\n')
    c.submit("mine", "q")
    c.update("mine", hold=True)
    c.submit("theirs", "q")
    c.operator("hold", "theirs")
    c.submit("eves", "q", user="eve")

    assert c.rest() == []
    assert [c.standing(name).reason for name in ("mine", "theirs", "eves")] == ["OnHold"] * 3
    assert [c.standing(name).operands[0].value for name in ("mine", "theirs")] == ["its owner", "olga"]
    assert c.standing("eves").rule.name == "frozen"
    c.update("mine", hold=False)
    assert c.rest() == ["run mine"]


def test_denied_for_good(cycles: Callable[[str], Any]) -> None:
    """A deny rule rejects at once, without waiting for a cycle."""
    c = cycles(policy() + 'deny eve { where workload.user = "eve" } because "no"\n')

    assert c.submit("w", "q", user="eve") == ["reject w"]


def test_a_check_that_a_queue_needs_comes_after_the_decision(cycles: Callable[[str], Any]) -> None:
    """Kueue waits for it once quota is reserved, which is what is decided here: nobody waits for it, whatever it says meanwhile."""
    for checks in ({}, {"prov": "Pending"}, {"prov": "Ready"}):
        c = cycles(policy("needs check prov"))
        c.submit("w", "q")
        c.update("w", checks=checks)
        assert c.rest() == ["run w"]


@pytest.mark.parametrize("says", ["", "needs check prov"])
@pytest.mark.parametrize("state", ["Retry", "Rejected"])
def test_a_check_that_failed_keeps_out(cycles: Callable[[str], Any], says: str, state: str) -> None:
    """Whether its queue needs that check or not: it waits until the check says otherwise, while one that runs goes on running."""
    c = cycles(policy(says))
    c.submit("runs", "q")
    c.rest()
    c.submit("w", "q")
    for name in ("runs", "w"):
        c.update(name, checks={"prov": state})
    assert c.rest() == ["park w"]
    assert (c.running(), c.standing("w").reason) == (["runs"], "PendingEvaluation")

    c.update("w", checks={"prov": "Pending"})
    assert c.rest() == ["run w"]
