"""Nothing is written of what was decided and is not in the journal."""

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest
from fake_kinds import KINDS
from fake_store import FakeStore
from gpol.adapters.kueue.live.decides import KueueDecisions
from gpol.adapters.live.decider import LiveDecider
from gpol.dsl.analysis.checker import check
from gpol.engine.default_core import thaw
from gpol.journal.errors import JournalError
from gpol.sim.drive.player import Player
from gpol.sim.drive.policy import Policy
from kueue_model import POD, KueueModel
from store_api import StoreApi

POLICY = 'policy "live" { use gpol.fair }\nflavor h100 { gpu 8 }\nqueue wide { owns 8 gpu on h100 }\n'


@pytest.fixture
def decider(tmp_path: Path) -> Iterator[LiveDecider]:
    """A decider with a new journal."""
    with LiveDecider.open(str(tmp_path / "journal.db"), lambda frozen: thaw(*frozen)) as made:
        made.activate(Policy.of(check(POLICY, "live.gpol")))
        yield made


def test_a_workload_that_stands_in_the_queue_of_writes(decider: LiveDecider, monkeypatch: pytest.MonkeyPatch) -> None:
    """It may be in the queue for another reason: its admission is written only once the journal has it."""
    store = FakeStore((*KINDS, POD))
    kueue, api = KueueModel(store), StoreApi(store)
    kueue.submit("a", 4)
    for _ in range(5):
        any(step("a") for step in kueue.steps())
    gpol = KueueDecisions(api, decider, "gpol")  # type: ignore[arg-type]
    asyncio.run(gpol.cluster.namespaces._list())
    asyncio.run(gpol.cluster.workloads._list())
    gpol.begin()

    def full(player: Player) -> None:
        raise JournalError("the disk is full", "make room")

    with monkeypatch.context() as patch:
        patch.setattr(Player, "flush", full)
        with pytest.raises(JournalError):
            gpol.take_a_look()
    assert gpol.deciding.desired.of("default/a", kueue.workload("a")["metadata"]["uid"]) is not None  # type: ignore[index]
    assert asyncio.run(gpol.carrying_out.carry_out("default/a")) is None
    assert api.writes == []
    decider.commit(lambda events: None)
    asyncio.run(gpol.carrying_out.carry_out("default/a"))
    assert len(api.writes) == 1
