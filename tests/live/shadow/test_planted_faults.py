"""A Kueue that makes one wrong decision and goes on from it, as a mistake in its scheduler would: exactly that one difference is told."""

from pathlib import Path

import pytest
from gpol.adapters.kueue.live.shadow.decision_difference import KueueDifference
from modelled_kueue import ModelledKueue
from planted_faults import FAULTS, FaultKind, Planted, PlantedFault, faults_of
from recorded_kueue import Json, own_history, recorded_histories
from shadow_bench import HistoryPlayer, ShadowBench

TOLD_AS: dict[FaultKind, set[str]] = {
    "admission": {"admitted"},
    "flavor": {"other flavors"},
    "victim": {"other victims", "preempted"},
    "omission": {"passed over", "not preempted"},
}
"""How a fault may be told. One victim instead of another is `preempted` where gpol
evicts nobody any more by then."""

OWN_FAULTS = faults_of(own_history()["in"], "own", most=1000)

QUICK = ("15", "21")
"""Recorded histories into which `make test` plants faults."""

EVERY = 5
"""Of so many recorded histories one is taken, in order of name."""

NEVER_TOLD = {("219", "omission")}
"""A fault that nobody can see from outside, by history and kind. `ns/w12` is overlooked in one cycle, and gets quota of the same flavors
two cycles later; in between nobody takes its room, nobody goes for it, and nobody is held up. All that is left of the fault is a
reservation that names a moment two seconds later. A Kueue without a fault does the same where its first write of that reservation fails:
it puts the workload back, and decides again. So does one that learns of the workload two seconds late. gpol would have to call every
second of delay a difference."""

ENTANGLED: tuple[tuple[str, FaultKind], ...] = (
    ("65", "flavor"),  # an order of changes explains it in which Kueue learns of a workload half a minute late
    ("251", "flavor"),  # in the same cycle another workload gets the room that the wrong flavor takes
    ("139", "flavor"),  # in the same cycle another workload gets room of the wrong flavor first
    ("7", "omission"),  # another one gets quota in its place, and the same cycle evicts for a third one
    ("157", "omission"),  # overlooked in a strict queue, it keeps those behind it waiting in later steps
    ("183", "admission"),  # the same cycle evicts somebody for whose beneficiary there is no room after the wrong admission
    ("229", "victim"),  # the same cycle evicts somebody else as well, which an earlier moment explains alone
)
"""Faults that are entangled with right decisions of the same cycle, or with later ones: these were told with others, or not at all, before
gpol could take a wrong decision in the middle of its own cycle. The last five are played by the slow test below."""


def play(folder: Path, case: Json, fault: PlantedFault) -> list[KueueDifference]:
    """Play a history with a fault, and return the differences."""
    bench, planted = ShadowBench(folder, case["in"]), Planted(fault)
    player = HistoryPlayer(bench, ModelledKueue(case["in"], planted))
    found = player.play(case["in"]["steps"])
    bench.close()
    assert planted.happened
    return found


def is_about(difference: KueueDifference, fault: PlantedFault) -> bool:
    """Whether a difference is the fault."""
    if fault.kind == "omission" and difference.kind not in TOLD_AS["omission"]:  # told by who took its place
        return fault.workload in {*(decision.workload for decision in difference.gpol.instead), *difference.gpol.early}
    if difference.kind not in TOLD_AS[fault.kind] or difference.workload != fault.workload:
        return False
    match fault.kind:
        case "admission" | "flavor":
            given = {pod_set: dict(flavors) for pod_set, flavors in difference.kueue.flavors.items()}
            return all(given[pod_set][resource] == flavor for pod_set, resource, flavor in fault.flavors)
        case "victim":
            return fault.victim in difference.kueue.victims  # the right one may follow in the next cycle, as the room is not enough
        case "omission":
            return difference.kueue.did == "nothing"


def assert_exactly_one(folder: Path, case: Json, fault: PlantedFault) -> None:
    """One difference, which is the fault, and nothing that follows from it."""
    found = play(folder, case, fault)
    assert len(found) == 1, [difference.text for difference in found]
    assert is_about(found[0], fault), (fault, found[0].text)


def test_faults_of_several_kinds_can_be_planted() -> None:
    """The history of our own has room for a wrong flavor, a wrong victim and a missing admission."""
    assert {fault.kind for fault in OWN_FAULTS} >= {"flavor", "victim", "omission"}


@pytest.mark.parametrize("fault", OWN_FAULTS, ids=lambda fault: f"{fault.kind}-{fault.cycle}-{fault.workload}-{fault.victim}")
def test_every_fault_of_our_history_is_told_alone(fault: PlantedFault, tmp_path: Path) -> None:
    """Wherever the one wrong decision is made."""
    assert_exactly_one(tmp_path, own_history(), fault)


@pytest.mark.parametrize("kind", FAULTS)
@pytest.mark.parametrize("name", QUICK)
def test_a_fault_in_a_recorded_history_is_told_alone(name: str, kind: FaultKind, tmp_path: Path, shared: Path) -> None:
    """A wrong admission, flavor, victim, and a missing admission."""
    case = recorded_histories(shared)[name]
    fault = next(fault for fault in faults_of(case["in"], name) if fault.kind == kind)
    assert_exactly_one(tmp_path, case, fault)


@pytest.mark.parametrize(("name", "kind"), ENTANGLED[:2])
def test_an_entangled_fault_is_told_alone(name: str, kind: FaultKind, tmp_path: Path, shared: Path) -> None:
    """What else the same cycle decided is no difference."""
    case = recorded_histories(shared)[name]
    assert_exactly_one(tmp_path, case, next(fault for fault in faults_of(case["in"], name) if fault.kind == kind))


@pytest.mark.slow
@pytest.mark.parametrize("part", range(5))
def test_faults_in_recorded_histories_are_told_alone(part: int, tmp_path: Path, shared: Path) -> None:
    """One fault of each kind that is possible in every fifth history: 119 in all, of which 118 are told, each as one difference."""
    cases = recorded_histories(shared)
    chosen = [name for name in sorted(cases)[::EVERY] if not cases[name]["kueue"]["livelock"]]
    assert {name for name, _ in ENTANGLED} <= set(chosen)
    for name in chosen[part::5]:
        for fault in faults_of(cases[name]["in"], name):
            folder = tmp_path / f"{name}-{fault.kind}"
            folder.mkdir()
            if (name, fault.kind) in NEVER_TOLD:
                assert play(folder, cases[name], fault) == []
            else:
                assert_exactly_one(folder, cases[name], fault)
