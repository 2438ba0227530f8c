"""Scenarios: nothing in them is ignored, and their answers say what the import made of them."""

import copy
from collections.abc import Callable
from typing import Any

import pytest
from gpol.adapters.kueue.decide.scenarios import decide
from gpol.adapters.kueue.import_.load import ImportRefused

from ..conftest import Json, Maker

AT = "2026-01-03T00:00:00Z"
LATER = ("2026-01-03T00:10:00Z", "2026-01-03T00:20:00Z", "2026-01-03T00:30:00Z")


def single(kueue: Maker, **changes: Any) -> Json:
    """One workload on a ClusterQueue of 8 cpu."""
    scenario = {"name": "s", "now": AT, "flavors": [kueue.flavor()], "clusterQueues": [kueue.queue()], "incoming": kueue.work()}
    return scenario | {"targetCQ": "a"} | changes


def timeline(kueue: Maker, *steps: Json, **changes: Any) -> Json:
    """Steps on a ClusterQueue of 8 cpu; a step has its time where it says no other."""
    objects = {"flavors": [kueue.flavor()], "clusterQueues": [kueue.queue()], "localQueues": [kueue.local()]}
    return {"name": "t", **objects, "steps": [{"at": AT, **step} for step in steps]} | changes


def refused(scenario: object) -> str:
    """Why a scenario is refused."""
    with pytest.raises(ImportRefused) as caught:
        decide(scenario)
    return str(caught.value)


def cpus(kueue: Maker, count: int) -> list[Json]:
    """A pod set of one pod that asks for so many cpus."""
    return [kueue.pods(requests={"cpu": str(count)})]


WRONG: dict[str, tuple[Callable[[Maker], object], str]] = {
    "a misspelt list": (
        lambda kueue: single(kueue, cohort=[]),
        "scenario: has a field `cohort`, which counts for nothing; did you mean `cohorts`?",
    ),
    "a moment for a history": (
        lambda kueue: timeline(kueue, now=AT),
        "scenario: has a field `now`, which counts for nothing; it has name, fair,",
    ),
    "a misspelt part of a step": (
        lambda kueue: timeline(kueue, {}, {"finsh": []}),
        "steps[1]: has a field `finsh`, which counts for nothing; did you",
    ),
    "a misspelt answer": (
        lambda kueue: {"in": single(kueue), "keue": {}},
        "has a field `keue`, which counts for nothing; did you mean `kueue`?",
    ),
    "both": (lambda kueue: single(kueue, steps=[]), "scenario: has both `incoming` and `steps`; write one or the other"),
    "neither": (lambda kueue: {"name": "n"}, "scenario: has neither `incoming` nor `steps`; write one or the other"),
    "null": (lambda kueue: None, "scenario: is null; write one object with named fields a line"),
    "null in a line": (lambda kueue: {"in": None}, "scenario: is null; write one object with named fields a line"),
    "fair as a text": (lambda kueue: single(kueue, fair="false"), "scenario: fair: is a text; write true or false"),
    "fair as a number": (lambda kueue: single(kueue, fair=1), "scenario: fair: is the number 1; write true or false"),
    "strategies without fair": (
        lambda kueue: single(kueue, strategies=["LessThanInitialShare"]),
        "strategies: counts for nothing without fair",
    ),
    "a strategy that is a list": (lambda kueue: single(kueue, fair=True, strategies=[[]]), "strategies: holds a list; write texts"),
    "another mode": (lambda kueue: single(kueue, mode="fit"), "mode: is not `preempt`, the only one that there is; leave it out"),
    "a number for a name": (lambda kueue: single(kueue, name=5), "scenario: name: is the number 5; write a text"),
    "a number for a queue": (lambda kueue: single(kueue, targetCQ=5), "targetCQ: is the number 5; write a name"),
    "no steps": (lambda kueue: timeline(kueue, steps=None), "steps: is null; write a list"),
    "a step that is none": (lambda kueue: timeline(kueue, steps=[5]), "steps[0]: is the number 5; write an object"),
    "a step without its time": (lambda kueue: timeline(kueue, {}, {"at": None}), "steps[1].at: is missing"),
    "a step with a wrong time": (lambda kueue: timeline(kueue, {}, {"at": "noon"}), "steps[1].at: `noon` is no time"),
    "steps that go back": (
        lambda kueue: timeline(kueue, {"at": LATER[0]}, {}),
        "steps[1].at: is before the step before it; write steps in",
    ),
    "a finish that is a list": (lambda kueue: timeline(kueue, {"finish": [[]]}), "finish: holds a list; write texts"),
    "no pods": (
        lambda kueue: timeline(kueue, {"submit": [kueue.work(sets=[kueue.pods(count=0)])]}),
        "submit: ns/w is no workload that could run",
    ),
    "nobody to decide": (
        lambda kueue: single(kueue, incoming=kueue.work(sets=[kueue.pods(count=0)])),
        "incoming: ns/w is no workload that could run",
    ),
    "a finish of nobody": (
        lambda kueue: timeline(kueue, {}, {"at": LATER[0], "finish": ["ns/nobody"]}),
        "steps[1].finish: no workload 'ns/nobody' waits or runs",
    ),
    "finished": (
        lambda kueue: timeline(kueue, {"submit": [kueue.work(status={"conditions": [kueue.true("Finished")]})]}),
        "submit: ns/w is no",
    ),
}


@pytest.mark.parametrize("name", WRONG)
def test_what_would_be_ignored_is_refused(kueue: Maker, name: str) -> None:
    """By name and with a remedy: a field that there is not, a value of another kind, a workload that nobody would decide about."""
    scenario, said = WRONG[name]
    assert said in refused(scenario(kueue))


def test_what_counts_for_nothing_may_be_null(kueue: Maker) -> None:
    """Lists, strategies and `fair` may be null, a line may have Kueue's answer beside it, and `mode` the one word that there is."""
    nulls = dict.fromkeys(("workloads", "cohorts", "strategies", "fair", "localQueues"))
    plain = decide(single(kueue))

    assert plain["mode"] == "Fit"
    assert decide(single(kueue, mode="preempt", **nulls)) == plain
    assert decide({"in": single(kueue), "kueue": {"mode": "NoFit"}}) == plain


def test_answers_say_what_the_import_made_of_it(kueue: Maker) -> None:
    """Notes of the objects and of every step stand in the answer, each once; where there are none, neither is the field."""
    lost = kueue.work("lost", spec={"queueName": "nowhere"})
    told = "Workload ns/lost: spec.queueName: is no LocalQueue of the dump: the workload waits for it"

    answer = decide(timeline(kueue, {"submit": [kueue.work(), lost]}))

    assert answer["notes"] == [told]
    assert answer["steps"][0]["pending"] == ["ns/lost"]
    assert "notes" not in decide(timeline(kueue, {"submit": [kueue.work()]}))
    assert "notes" not in decide(single(kueue))
    assert decide(single(kueue, incoming=kueue.work(spec={"active": False})))["notes"] == ["Workload ns/w: is held: it is not active"]


def test_times_of_creation_are_compared_with_each_other_alone(kueue: Maker) -> None:
    """Workloads that were created after they came, by their clocks, are answered, and the one that was created first goes first."""
    made = [kueue.work(name, cpus(kueue, 8), creationTimestamp=time) for name, time in zip("cab", LATER, strict=True)]
    gone = [{"submit": made[::-1]}, {"at": LATER[0], "finish": ["ns/c"]}, {"at": LATER[0], "finish": ["ns/a"]}]

    future = decide(timeline(kueue, *gone))
    past = decide(timeline(kueue, *({**step, "at": f"2026-01-0{4 + day}T00:00:00Z"} for day, step in enumerate(gone))))

    assert [sorted(step["admitted"]) for step in future["steps"]] == [["ns/c"], ["ns/a"], ["ns/b"]]
    assert future == past


def test_a_later_creation_changes_no_other_time(kueue: Maker) -> None:
    """What is compared with the scenario's clock goes by that clock still: a workload that backs off until then waits."""
    backs_off = kueue.work("late", status={"requeueState": {"requeueAt": LATER[0]}})
    created_later = kueue.work("new", creationTimestamp=LATER[2])

    answer = decide(timeline(kueue, {"submit": [backs_off, created_later]}))

    assert (sorted(answer["steps"][0]["admitted"]), answer["steps"][0]["pending"]) == (["ns/new"], ["ns/late"])


def test_a_single_decision_on_a_workload_of_later(kueue: Maker) -> None:
    """The same for one decision: created after `now`, and decided alike."""
    early, late = (single(kueue, incoming=kueue.work(creationTimestamp=time)) for time in ("2026-01-02T00:00:00Z", LATER[0]))
    assert decide(early) == decide(late)


def test_every_reservation_of_a_scenario_stands(kueue: Maker) -> None:
    """A scenario asks Kueue's scheduler alone: what its workloads hold they hold, in a stopped queue too, admitted or not."""
    status = kueue.admitted(usage={"cpu": "3"})
    held = [kueue.work("r", cpus(kueue, 3), status)]
    stopped = single(kueue, now="2026-01-03T02:00:00Z", clusterQueues=[kueue.queue(stopPolicy="Hold")], workloads=held)
    assert decide(stopped)["available"] == {"a": {"base|cpu": 5000}}


def test_a_scenario_is_not_changed(kueue: Maker) -> None:
    """Deciding leaves the data as it was, so that the same line can be asked again."""
    scenario = single(kueue)
    before = copy.deepcopy(scenario)
    assert decide(scenario) == decide(scenario)
    assert scenario == before


def test_places_are_told_of_a_scenario_with_topologies(kueue: Maker) -> None:
    """What is used by domain of one decision, and where pods stand after each step; nothing of it without topologies."""
    more = {"topologies": [kueue.obj("Topology", "dc", {"levels": [{"nodeLabel": "rack"}]})], "nodes": [kueue.obj("Node", "n")], "pods": []}
    assert decide(single(kueue, **more))["usage"] == {}
    assert [step["topology"] for step in decide(timeline(kueue, {}, {}, **more))["steps"]] == [{}, {}]
    assert "usage" not in decide(single(kueue))
    assert "topology" not in decide(timeline(kueue, {}))["steps"][0]
