"""Writers that are killed at random instants leave whole journals: `kill.py` in small, and what its tally counts."""

import os
from pathlib import Path
from random import Random

import pytest
from facts import Cluster
from gpol.journal.journal import Journal
from kill import Tally, examine, run

RUNS = 40

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork and SIGKILL")


@pytest.mark.slow
def test_killed_writers(tmp_path: Path) -> None:
    """SQLite: whenever the writer dies, what was acknowledged is there, nothing is half there, and the journal verifies and replays."""
    tally = run(RUNS, lambda number: str(tmp_path / f"{number}.db"))

    assert tally.good, tally
    assert tally.runs == RUNS
    assert tally.facts > RUNS
    assert tally.inside > 0


def _left(place: Path, *claims: str) -> Tally:
    tally = Tally()
    examine(str(place), place.parent / "none", 0, [claim.split() for claim in claims], tally)
    return tally


def test_losses_are_counted(tmp_path: Path) -> None:
    """A journal that lacks what was acknowledged, holds another history, or ends inside a transaction, does not pass for good."""
    place = tmp_path / "journal.db"
    cluster = Cluster(Random(1))
    with Journal.create(place) as journal:
        head = journal.append(cluster.batches(4))
    claim = f"ok {head.seq} {head.chain.hex()}"

    assert _left(place, f"try {head.seq} 4", claim).good
    assert _left(place, f"try {head.seq + 3} 2").halves == 1
    assert _left(place, f"try {head.seq} 4", claim, f"try {head.seq + 3} 2", f"ok {head.seq + 3} {'0' * 64}").lost == 1
    assert _left(place, f"try {head.seq} 4", f"ok {head.seq} {'0' * 64}").lost == 1


def test_other_histories_are_counted(tmp_path: Path) -> None:
    """A journal with a decision that the core does not take does not replay, and one that was altered does not verify."""
    place = tmp_path / "journal.db"
    batches = Cluster(Random(2)).batches(30)
    decided = next(number for number, batch in enumerate(batches) if len(batch) > 1)
    with Journal.create(place) as journal:
        head = journal.append([*batches[:decided], batches[decided][:1]])

    tally = _left(place, f"try {head.seq} {decided + 1}", f"ok {head.seq} {head.chain.hex()}")

    assert tally.not_replayed == 1
    assert tally.not_verified == 0
    assert not tally.good
