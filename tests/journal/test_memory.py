"""What goes through a whole journal takes as much memory for a long one as for a short one."""

import gc
import tracemalloc
from collections.abc import Callable
from pathlib import Path

import pytest
from gpol.dsl import check
from gpol.engine.default_core import new_core
from gpol.engine.event_parts import PodSet
from gpol.engine.facts import PolicyActivated, ProfileText, WorkloadFinished, WorkloadSubmitted
from gpol.journal.audit import fsck, replay
from gpol.journal.journal import Journal
from gpol.journal.read.as_of import core_at
from gpol.journal.store import recorder

POLICY = 'policy "one" {\n  use gpol.fair\n}\n\nflavor a100 { gpu 8 }\n\nqueue owner {\n  owns 8 gpu on a100\n}\n'

DONE: dict[str, Callable[[Journal], object]] = {
    "replay": lambda journal: replay.replay(journal).same,
    "fsck": lambda journal: fsck.fsck(journal).good,
    "state": core_at,
}


def made(place: Path, workloads: int) -> Path:
    """A journal in which so many workloads come and go, three events each, three at a time, under ten names in turn, without snapshots."""
    checked = check(POLICY, "one.gpol")
    assert checked.graph is not None
    profiles = tuple(ProfileText(name=name, text=text) for name, text in checked.profiles)
    activation = PolicyActivated(time=0, file="one.gpol", text=POLICY, profiles=profiles, digest=checked.graph.digest)
    core, batches = new_core(), []
    with Journal.create(place) as journal:
        batches.append([activation, *core.step(activation, checked.graph)])
        for number in range(workloads):
            submitted = WorkloadSubmitted(time=number, workload=f"w{number % 10}", queue="owner", pod_sets=(PodSet(requests={"gpu": "2"}),))
            batches.append([submitted, *core.step(submitted)])
            if number >= 3:
                finished = WorkloadFinished(time=number, workload=f"w{(number - 3) % 10}")
                batches.append([finished, *core.step(finished)])
        journal.append(batches)
        assert journal.head.seq > 2.9 * workloads
    return place


@pytest.mark.slow
@pytest.mark.sqlite
@pytest.mark.parametrize("what", sorted(DONE))
def test_four_times_the_events_take_no_more_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, what: str) -> None:
    """The peak for a longer journal is above that for a short one by a fifth at most of what the further payloads alone would take.

    What little is added waits for the collector of garbage or is kept by libraries, up to a bound of their own; the shorter journal is
    long enough to come near it.
    """
    monkeypatch.setattr(recorder, "PAGE_EVENTS", 50)
    monkeypatch.setattr(replay, "AT_ONCE", 50)
    monkeypatch.setattr(fsck, "_ANCHOR_EVERY", 50)
    peaks, sizes = [], []
    for name, workloads in (("warm", 100), ("short", 400), ("long", 1600)):
        with Journal.open(made(tmp_path / f"{name}.db", workloads)) as journal:
            gc.collect()
            tracemalloc.start()
            assert DONE[what](journal)
            peaks.append(tracemalloc.get_traced_memory()[1])
            tracemalloc.stop()
            sizes.append(sum(len(recorded.payload) for recorded in journal.events()))
    assert peaks[2] - peaks[1] < (sizes[2] - sizes[1]) // 5
