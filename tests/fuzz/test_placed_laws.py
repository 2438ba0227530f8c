"""The laws of places fail where they have to: for decisions that were altered, and for cores with a mistake."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from unittest.mock import patch

import pytest
from cores_by_name import CORES
from gpol.engine.definition.placement.places import PlaceBook
from gpol.engine.definition.preemption.rules import RuleSearch
from gpol.engine.event_parts import Assignment, PlacedPods
from gpol.engine.events import AnyEvent, WorkloadAdmitted
from in_cycles import Cycles
from place_laws import PlaceLaws
from place_ledger import BrokenLawError, PlaceLedger
from placing import FABRIC, POLICY, RACKS, ask, cluster_of
from player import Case, DifferenceError, Play, difference
from shrink import Shrinking

TOPOLOGY_OF_RACKS = POLICY.replace(FABRIC, RACKS).replace("fabric", "racks")
Places = dict[tuple[str, ...], int]


def admitted(policy: str = POLICY, pods: int = 2, gpu: str = "1", **asked: object) -> Cycles:
    """A cluster in which one workload was admitted; a node is cordoned, one has a taint."""
    c = cluster_of(policy, n1="b/r 4", n2="b/r 4", n3="b/s 4")
    for name, more in (("n4", {"cordoned": True}), ("n5", {"taints": [{"key": "k", "effect": "NoSchedule"}]})):
        c.fact("NodeAdded", node=name, labels={"block": "b", "rack": "r"}, capacity={"gpu": "4", "pods": 110}, **more)
    ask(c, "w", pods, gpu, **asked)
    c.rest()
    assert c.running() == ["w"]
    return c


def altered(c: Cycles, places: Places) -> list[AnyEvent]:
    """The events of a cluster, in which the workload has other places."""
    stands = tuple(PlacedPods(domain=domain, pods=pods) for domain, pods in places.items())

    def alter(given: Assignment) -> Assignment:
        return given.model_copy(update={"places": stands})

    return [
        event.model_copy(update={"assignments": tuple(map(alter, event.assignments))}) if isinstance(event, WorkloadAdmitted) else event
        for event, _ in c.history
    ]


WITHIN, SLICES = {"within": "rack"}, {"near": "block", "slices": [{"level": "rack", "size": 2}]}


@pytest.mark.parametrize(
    ("make", "places", "law"),
    [
        (lambda: admitted(**WITHIN), {("n1",): 2}, None),
        (lambda: admitted(**WITHIN), {("n1",): 1, ("n3",): 1}, "a gang lies within one domain"),
        (lambda: admitted(**WITHIN), {("n1",): 1}, "all pods stand somewhere"),
        (lambda: admitted(), {("n1",): 1, ("n9",): 1}, "places exist"),
        (lambda: admitted(), {("n1",): 1, ("n4",): 1}, "places take pods"),
        (lambda: admitted(), {("n1",): 1, ("n5",): 1}, "taints keep off"),
        (lambda: admitted(gpu="3"), {("n1",): 2}, "no node is exceeded"),
        (lambda: admitted(pods=4, **SLICES), {("n1",): 3, ("n3",): 1}, "slices are whole"),
        (lambda: admitted(pods=4, **SLICES), {("n1",): 1, ("n2",): 1, ("n3",): 2}, None),
        (lambda: admitted(TOPOLOGY_OF_RACKS, gpu="4"), {("b", "r"): 2}, None),
        (lambda: admitted(TOPOLOGY_OF_RACKS, gpu="4"), {("b", "s"): 2}, "no domain is exceeded"),
    ],
)
def test_a_law_of_events_is_held(make: Callable[[], Cycles], places: Places, law: str | None) -> None:
    """Other places of a workload break the law that they break, and none where they are as good."""
    c, ledger, broken = make(), PlaceLedger(), None
    try:
        for event in altered(c, places):
            ledger.take(event, c.graph)
    except BrokenLawError as error:
        broken = error.law
    assert broken == law


def test_use_is_conserved() -> None:
    """A core that forgets to free places is found once somebody ends."""
    c, laws = admitted(), PlaceLaws()
    laws.follow(c.core, c.history)
    taken = len(c.history)
    with patch.object(PlaceBook, "remove", lambda self, holdings, everywhere=True: None):
        c.finish("w")
    with pytest.raises(BrokenLawError, match="use is conserved"):
        laws.follow(c.core, c.history[taken:])


def test_renamed_nodes_decide_nothing() -> None:
    """A history in which something was decided that is not decided under other names is found, and one in which less was."""
    c = admitted()
    PlaceLaws().finish(c.history, CORES["definition"])
    (decision, graph) = c.history[-1]
    assert isinstance(decision, WorkloadAdmitted)
    for last in [(decision.model_copy(update={"reason": "FitsBorrowing"}), graph)], []:
        with pytest.raises(BrokenLawError, match="renamed nodes"):
            PlaceLaws().finish([*c.history[:-1], *last], CORES["definition"])


@contextmanager
def _lets_all_go() -> Iterator[None]:
    """All go who were taken as victims, whether they are needed in the end or not."""
    with CORES["spares-nobody"].around(), patch.object(RuleSearch, "_only_needed", lambda self, victims: victims):
        yield


LETS_ALL_GO = replace(CORES["definition"], around=_lets_all_go)


AT_ONCE = f"""policy "p" {{
  use gpol.fair
  place pods spread
}}
{FABRIC}flavor a {{
  gpu from nodes where pool = "a"
  placed in fabric
}}
cohort all {{
  queue q {{ owns 8 gpu }}
  queue r {{ owns nothing }}
}}
"""


def submitted(name: str, queue: str, gpu: str, time: int) -> dict[str, object]:
    """One pod."""
    return {"kind": "WorkloadSubmitted", "time": time, "workload": name, "queue": queue, "pod_sets": [{"requests": {"gpu": gpu}}]}


def history_of_needless_victims() -> tuple[Case, DifferenceError]:
    """Two of four borrowers stand on each of two nodes, by turns. The owner needs one node: of the last three who came, one is not in the
    way, and goes all the same where nobody is put back. Its node takes nobody by then, so that it does not start again."""
    play = Play((AT_ONCE,), LETS_ALL_GO, LETS_ALL_GO, laws=PlaceLaws())
    play.step({"kind": "PolicyActivated", "time": 0, "policy": 0})
    node = {"time": 0, "labels": {"pool": "a", "block": "b", "rack": "r"}, "capacity": {"gpu": "8"}}
    for name in ("n1", "n2"):
        play.step({**node, "kind": "NodeAdded", "node": name})
    for number in range(4):
        play.step(submitted(f"v{number}", "r", "4", number))
    play.step({**node, "kind": "NodeChanged", "node": "n1", "time": 4, "cordoned": True})
    with pytest.raises(DifferenceError) as found:
        play.step(submitted("w", "q", "8", 9))
    return Case(play.texts, tuple(play.played), placed=True), found.value


def test_a_victim_that_is_not_needed_is_found() -> None:
    """Both cores let victims go who are not needed, so that nothing differs; the law finds it."""
    assert history_of_needless_victims()[1].what == "each victim is needed"


@pytest.mark.slow
def test_a_broken_law_is_made_small() -> None:
    """What breaks a law comes down to fewer facts under a smaller policy, and breaks it still."""
    case, _ = history_of_needless_victims()
    small = Shrinking(case, LETS_ALL_GO, LETS_ALL_GO, seconds=20).run()
    left = difference(small, LETS_ALL_GO, LETS_ALL_GO)
    assert left is not None
    assert left[0].what == "each victim is needed"
    assert len(small.facts) < len(case.facts)
    assert len(small.texts[0]) < len(case.texts[0])
