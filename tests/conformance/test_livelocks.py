"""Histories that Kueue's own scheduler never ends: named under the Kueue profiles, at rest under gpol's default profile."""

import gzip
import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from gpol.adapters.kueue.import_.facts import Moment, facts
from gpol.adapters.kueue.import_.load import Imported, load, raws_of
from gpol.adapters.kueue.problems import Findings
from gpol.adapters.kueue.read.fields import Fields
from gpol.adapters.kueue.read.kinds import Raw, read_objects
from gpol.adapters.kueue.read.objects import Configuration
from gpol.dsl import check, compile_policy, print_tree
from gpol.engine.facts import Fact, PolicyActivated, WorkloadCancelled, WorkloadFinished
from gpol.sim.drive.player import MOST_TURNS_IN_CYCLES, EndlessError, Player
from suites.recorded import LIVELOCKS

EXPECTED = {
    "80": ("reclaims from anyone", "reclaims from lower priority"),
    "144": ("reclaims from anyone", "reclaims from lower priority"),
    "164": ("reclaims from anyone", "reclaims from lower priority", "evicts its own of lower priority"),
    "196": ("borrows by evicting lower priority",),
    "201": ("reclaims from anyone", "reclaims from lower priority", "evicts its own of lower priority"),
    "211": ("borrows by evicting lower priority",),
}
"""The statements that can be what feeds each."""


@pytest.fixture(scope="module")
def histories(shared: Path) -> dict[str, Any]:
    """Each livelock by name, with what Kueue decided; skips where the reference data is absent."""
    file = shared / "conformance" / "kueue" / "timeline.jsonl.gz"
    if not file.is_file():
        pytest.skip("needs Kueue's recorded histories in `shared/conformance`, beside the repository")
    with gzip.open(file, "rt", encoding="utf-8") as lines:
        read = [json.loads(line) for line in lines]
    return {case["in"]["name"]: case for case in read if case["kueue"]["livelock"]}


class _History:
    """A recorded history as facts under a profile, played by the player that `gpol run` plays facts with."""

    def __init__(self, scenario: dict[str, Any], profile: str | None) -> None:
        self.steps = scenario["steps"]
        settings = Configuration(fair=scenario["fair"], strategies=tuple(scenario["strategies"] or ()) if scenario["fair"] else ())
        start = self._moment(self.steps[0])
        self.imported: Imported = load(raws_of(scenario), start, profile, "history", settings)
        self.text = print_tree(self.imported.tree)
        self.graph = compile_policy(self.text, "history.gpol")
        self.player = Player()
        activated = PolicyActivated(time=start, file="history.gpol", text=self.text, digest=self.graph.digest)
        self.player.step(activated, self.graph)
        self.cycles = self.graph.settings.cycles is not None

    @staticmethod
    def _moment(step: dict[str, Any]) -> int:
        moment = Fields(step, "", Findings()).time("at")
        assert moment is not None
        return moment

    def play(self) -> None:
        """Play every step to its rest. Raises EndlessError."""
        for step in self.steps:
            at = max(self._moment(step), self.player.core.time)
            for fact in self._facts(step, at):
                for _ in self.player.play(fact):
                    pass
            for _ in self.player.come_to_rest() if self.cycles else self.player.advance(at):
                pass

    def _facts(self, step: dict[str, Any], at: int) -> Iterator[Fact]:
        for name in step["finish"]:
            known = self.player.core.view.workload(name)
            assert known is not None
            runs = known.admitted is not None
            yield (WorkloadFinished if runs else WorkloadCancelled)(time=at, workload=name)
        found = Findings()
        read = read_objects([Raw(plain, "", "Workload") for plain in step["submit"]], found)
        yield from facts(replace(self.imported.objects, workloads=read.workloads), Moment(at, self.cycles, {}), found)
        found.check()


@pytest.mark.parametrize("name", LIVELOCKS)
def test_named_under_kueue(name: str, histories: dict[str, Any]) -> None:
    """The player stops after so many evictions of one workload by time alone; it names those that take turns and the lines that feed it."""
    case = histories[name]
    history = _History(case["in"], None)
    with pytest.raises(EndlessError) as caught:
        history.play()
    last = case["kueue"]["steps"][-1]["log"][-10:]
    turning = {text.split(":")[0] for cycle in last for text in cycle["evicted"]}
    assert turning <= {eviction.workload for eviction in caught.value.evictions}
    assert f"more than {MOST_TURNS_IN_CYCLES} times" in str(caught.value)
    lines = history.text.splitlines()
    for eviction in caught.value.evictions:
        rule = eviction.why.rule
        assert rule is not None
        assert lines[rule.line - 1].strip().startswith(EXPECTED[name])
        assert eviction.beneficiary in str(caught.value) or eviction.workload in str(caught.value)


@pytest.mark.parametrize("name", LIVELOCKS)
def test_warned_of(name: str, histories: dict[str, Any]) -> None:
    """`check` warns of the setting before anything is played."""
    history = _History(histories[name]["in"], None)
    assert "GP057" in {diagnostic.code for diagnostic in check(history.text, "history.gpol").diagnostics}


@pytest.mark.parametrize("name", LIVELOCKS)
def test_at_rest_under_the_default_profile(name: str, histories: dict[str, Any]) -> None:
    """The same cluster and the same history settle under gpol.fair, and looking again changes nothing."""
    history = _History(histories[name]["in"], "gpol.fair")
    history.play()
    core = history.player.core
    wake = core.next_wake()
    assert wake is None or wake > core.time
