"""Cores that are meant to be equal are equal on generated policies and facts; one with a mistake is not, and the mistake is made small."""

import json
from pathlib import Path
from typing import Any

import pytest
import seeded
from constructs import FACTS
from cores_by_name import CORES, Side
from fuzzing import Tally, fuzz_one, load
from player import Case, Play, difference
from run import main

DEFINITION = CORES["definition"]
OTHERS = [name for name in CORES if name not in seeded.MISTAKES]
"""Every core without a mistake; the definition is compared with itself, too."""

QUICK, LONG = 9, 12
"""Histories of each way of deciding. `make fuzz` plays as many as one has time for."""

COMMON = (
    "WorkloadAdmitted FitsOwned",
    "WorkloadAdmitted FitsBorrowing",
    "WorkloadAdmitted FitsAfterEviction",
    "WorkloadEvicted Preempted, reclaim",
    "WorkloadEvicted Preempted, in-queue",
    "WorkloadEvicted EvictedByOperator, operator",
    "WorkloadReplaced WorkloadSliceReplaced",
    "WorkloadRejected Denied",
    "WorkloadDeferred WaitingForPreemptedWorkloads, preempting, next",
)
"""Some decisions that even a quick run has to see."""


def compared(other: str, histories: int, seed: str) -> Tally:
    """Play histories of both ways of deciding through the definition and another core."""
    tally = Tally()
    for number in range(2 * histories):
        found = fuzz_one(f"{seed}/{number}", number % 2 == 1, DEFINITION, CORES[other], 250, tally)
        assert found is None, f"history {seed}/{number}, fact {len(found[0].facts)}: {found[1]}"
    return tally


@pytest.mark.parametrize("other", ["array", *(pytest.param(name, marks=pytest.mark.slow) for name in OTHERS if name != "array")])
def test_cores_agree(other: str, request: pytest.FixtureRequest) -> None:
    """Nothing differs in some thousand facts, in which every field of a fact and the usual decisions occur."""
    if other == "compiled":
        request.getfixturevalue("compiled")  # kernels that another process has compiled: compiling them here takes most of a minute
    tally = compared(other, QUICK, "short")
    assert [name for name in FACTS if tally.fact_fields[name] == 0] == []
    assert [name for name in COMMON if tally.decisions[name] == 0] == []


@pytest.mark.slow
@pytest.mark.parametrize("other", ["array", "careful"])
def test_cores_agree_for_long(other: str) -> None:
    """The same for longer."""
    compared(other, LONG, "long")


@pytest.mark.parametrize(("mistake", "first"), [("lends-more", 0), ("later-first", 1), ("keeps-done-pods", 1)])
def test_a_mistake_is_found_and_made_small(mistake: str, first: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The command ends with 1 and writes a case of few facts, which differs again when it is played again."""
    options = ["--seed", "1", "--first", str(first), "--policies", "20", "--facts", "250", "--right", mistake]
    assert main([*options, "--out", str(tmp_path)]) == 1
    assert "1 differences" in capsys.readouterr().out
    small = load(tmp_path)
    assert len(small.facts) <= 10
    assert sum(len(text.splitlines()) for text in small.texts) <= 45
    assert difference(small, DEFINITION, CORES[mistake]) is not None
    assert difference(small, DEFINITION, DEFINITION) is None
    assert main(["--again", str(tmp_path), "--right", mistake]) == 1
    assert main(["--again", str(tmp_path)]) == 0


def test_the_command_counts(capsys: pytest.CaptureFixture[str]) -> None:
    """Where nothing differs it ends with 0, and shows what was drawn and decided."""
    assert main(["--policies", "4", "--facts", "40", "--seed", "2"]) == 0
    out = capsys.readouterr().out
    for part in ("seed 2", "share borrowed", "WorkloadSubmitted labels", "refused by the compiler", "a second", "0 differences"):
        assert part in out


def test_the_command_counts_when_it_is_stopped(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """Ctrl-C ends it with 130, after it showed what was played until then."""

    def stopped_in_the_third(name: str, *rest: Any) -> Any:
        if name == "2/2":
            raise KeyboardInterrupt
        return fuzz_one(name, *rest)

    monkeypatch.setattr("run.fuzz_one", stopped_in_the_third)
    assert main(["--policies", "20", "--facts", "40", "--seed", "2"]) == 130
    out = capsys.readouterr().out
    for part in ("stopped in history 2", "WorkloadSubmitted labels", "2 histories", "80 facts", "0 differences"):
        assert part in out


# --- the player -----------------------------------------------------------------------------------------------------

POLICY = 'policy "p" {\n}\nflavor f {\n  gpu 4\n}\nqueue q {\n  owns 4 gpu\n}\n'


def submitted(time: int, **said: object) -> dict[str, object]:
    """A submission of one GPU."""
    return {"kind": "WorkloadSubmitted", "time": time, "workload": "w", "queue": "q", "pod_sets": [{"requests": {"gpu": 1000}}], **said}


def test_what_both_refuse_is_no_difference() -> None:
    """A fact that cannot have happened is refused by both, and the next one is played."""
    play = Play((POLICY,), DEFINITION, DEFINITION)
    play.step({"kind": "PolicyActivated", "time": 0, "policy": 0})
    for fact in (submitted(1), submitted(2, impossible="again"), submitted(3, workload="v")):
        play.step(fact)
    play.finish()
    assert play.seen["refused WorkloadSubmitted"] == 1
    assert play.seen["WorkloadAdmitted FitsOwned"] == 2


def test_a_crash_is_a_difference() -> None:
    """A core that breaks off is reported with its error, and not as a refusal."""

    class Broken(type(DEFINITION.new())):  # type: ignore[misc]
        def next_wake(self) -> int | None:
            return [][0]

    broken = Side(Broken, DEFINITION.freeze, DEFINITION.thaw)
    found = difference(Case((POLICY,), ({"kind": "PolicyActivated", "time": 0, "policy": 0},)), DEFINITION, broken)
    assert found is not None
    assert (found[0].what, found[1]) == ("crash", 1)
    assert "IndexError" in str(found[0])


def test_a_reproduction_is_text(tmp_path: Path) -> None:
    """Policies are files of the language, facts are JSON line by line."""
    assert main(["--seed", "1", "--policies", "20", "--facts", "200", "--right", "lends-more", "--out", str(tmp_path)]) == 1
    assert (tmp_path / "p0.gpol").read_text().startswith("policy ")
    facts = [json.loads(line) for line in (tmp_path / "facts.jsonl").read_text().splitlines()]
    assert facts[0]["kind"] == "PolicyActivated"
