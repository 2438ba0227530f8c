"""What a head needs from above its queue is kept as long as it holds, and says what a look at all quotas on the path would say."""

from collections import Counter
from typing import Any

import pytest
from cores_by_name import CORES
from fuzzing import queue_after_each, queues_after
from gpol.engine.core import columns as c
from gpol.engine.core.kernels.flavor.plain import has_room_above, level_above, note_from_above
from gpol.engine.core.kernels.quota.tree import exceeds_owned, fits, level_that_fits, room
from gpol.engine.core.kernels.requests import plain_of
from gpol.engine.core.tables import Tables
from player import Case, difference

Plain = dict[str, Any]

HISTORIES = 14
FACTS = 80
PROFILES = ("kueue.classical", "kueue.fair")

GUARANTEED = """policy "p" {{ use {profile} }}
flavor pool {{ gpu as owned }}
cohort all {{
  queue mine {{
    owns 8 gpu
    guarantees {kept} gpu
    queueing strict fifo
  }}
  queue other {{ owns 8 gpu }}
}}
queue alone {{
  owns 8 gpu
  reclaims from anyone
}}
"""


def test_what_heads_need_from_above_is_kept_while_it_holds() -> None:
    """After every fact of some histories, in cycles and at once."""
    seen = Counter[str]()
    for tables, queue in queues_after("from above", HISTORIES, FACTS):
        if is_noted(tables, queue):
            seen.update(checked(tables, queue))
    assert min(seen["has room"], seen["has none"]) > 50, seen


@pytest.mark.parametrize("profile", PROFILES)
def test_an_end_in_the_own_queue_gives_local_quota_back(profile: str) -> None:
    """mine keeps 8 for itself and uses 6 of it, so 2 of the 9 that its head asks for need not come from above; later 5."""
    running = [submitted("first", "mine", 3), submitted("second", "mine", 3), submitted("big", "other", 8)]
    facts = [*running, submitted("head", "mine", 9), ended("first")]
    assert needed_after(profile, 8, facts, "mine")[-2:] == [7000, 4000]


@pytest.mark.parametrize("profile", PROFILES)
def test_what_mine_lends_comes_from_above(profile: str) -> None:
    """mine keeps 4 of its 8 for itself, so 6 of the 10 that its head asks for come from above, where other has taken all."""
    assert needed_after(profile, 4, [submitted("big", "other", 12), submitted("head", "mine", 10)], "mine")[-1] == 6000


@pytest.mark.parametrize("profile", PROFILES)
def test_a_queue_without_a_cohort_lacks_what_it_does_not_own(profile: str) -> None:
    """alone uses 5 of its 8, so it lacks 2 of the 5 that its head asks for. As it may reclaim, no room is reserved for its head, and what
    is noted of it stays."""
    assert needed_after(profile, 8, [submitted("first", "alone", 5), submitted("head", "alone", 5)], "alone")[-1] == 2000


@pytest.mark.parametrize("profile", PROFILES)
def test_who_is_adopted_takes_local_quota(profile: str) -> None:
    """mine keeps 8 for itself and uses 3 of it, so 4 of the 9 that its head asks for come from above; 6 once it uses 2 more."""
    placement = {"pod_set": "main", "count": 2, "flavors": {"gpu": "pool"}, "usage": {"gpu": "2"}}
    adopted = {"kind": "WorkloadAdopted", "time": 0, "workload": "next", "queue": "mine", "since": 0, "placements": [placement]}
    facts = [
        submitted("first", "mine", 3),
        submitted("big", "other", 8),
        submitted("head", "mine", 9),
        submitted("next", "mine", 2),
        adopted,
    ]
    assert needed_after(profile, 8, facts, "mine")[-2:] == [4000, 6000]


@pytest.mark.parametrize("profile", PROFILES)
def test_a_head_that_asks_for_less_is_noted_anew(profile: str) -> None:
    """mine keeps 8 for itself, so 4 of the 12 that its head asks for come from above; 3 once one of its pods is done."""
    done = {"kind": "WorkloadUpdated", "time": 0, "workload": "head", "reclaimable": {"main": 1}}
    assert needed_after(profile, 8, [submitted("big", "other", 8), submitted("head", "mine", 12), done], "mine")[-2:] == [4000, 3000]


# --- histories written by hand ----------------------------------------------------------------------------------------------


def submitted(name: str, queue: str, gpus: int) -> Plain:
    """A submission of as many pods as GPUs."""
    pods = [{"count": gpus, "requests": {"gpu": "1"}}]
    return {"kind": "WorkloadSubmitted", "time": 0, "workload": name, "queue": queue, "pod_sets": pods}


def ended(name: str) -> Plain:
    """The end of a workload."""
    return {"kind": "WorkloadFinished", "time": 0, "workload": name}


def needed_after(profile: str, kept: int, facts: list[Plain], name: str) -> list[int]:
    """What the head of a queue needs from above after each of some facts and a cycle, where it is noted and as it has to be."""
    policy = GUARANTEED.format(profile=profile, kept=kept)
    played: list[Plain] = [{"kind": "PolicyActivated", "time": 0, "policy": 0}]
    for fact in facts:
        played += [fact, {"kind": "TimeAdvanced", "time": 0}]
    found = difference(Case((policy,), tuple(played)), CORES["definition"], CORES["array"], 1000)
    assert found is None, str(found[0])
    needed = list[int]()
    for fact, (t, queue) in zip(played, queue_after_each(policy, played, name), strict=True):
        if fact["kind"] == "TimeAdvanced" and is_noted(t, queue):
            assert "has none" in checked(t, queue)
            needed.append(int(t.plain[t.node[queue, c.QUEUE_INDEX], 0, c.E_FROM_ABOVE]))
    return needed


# --- what is kept, beside what is found anew -----------------------------------------------------------------------------------


def is_noted(t: Tables, queue: int) -> bool:
    """Whether it is noted of somebody who waits in a queue what it asks for, and what it needs from above. What it asks for is forgotten
    where the tables grow; and its row may have gone to another one since."""
    row = t.node[queue, c.NEEDS_OF]
    if row == c.NONE or t.nom[t.node[queue, c.QUEUE_INDEX], c.N_NOTED] != row + 1:
        return False
    return bool(t.work[row, c.QUEUE] == queue and t.when[row, c.NUMBER] > 0 and t.work[row, c.WAIT] != c.NONE)


def checked(t: Tables, queue: int) -> list[str]:
    """Whether the head of a queue has room, where what is kept is as it would be found now: as things are; were just what it lacks owned
    above it and idle; and were one less of that owned, or idle."""
    row, nom, top = int(t.node[queue, c.NEEDS_OF]), int(t.node[queue, c.QUEUE_INDEX]), int(t.node[queue, c.TOP])
    asks = [(int(slot), int(asked)) for _, slot, asked in t.ask[plain_of(nom), 1 : int(t.ask[plain_of(nom), 0, 0]) + 1]]
    kept = t.plain[nom, : len(asks) + 1].copy()
    note_from_above(t, row, nom)
    assert kept[:-1].tolist() == t.plain[nom, : len(asks)].tolist()
    assert kept[-1, c.E_SLOT] == c.NONE
    found = [room_as_known(t, queue, nom, asks)]
    if top != queue:
        lacked = [(slot, max(0, asked - room(t, queue, slot))) for slot, asked in asks]
        for less_owned, less_idle in ((0, 0), (1, 0), (0, 1)):
            for slot, lack in lacked:
                t.quota[top, slot, c.OWNED] += lack - less_owned
                t.slot[slot, c.CAPACITY] += lack - less_idle
            found.append(room_as_known(t, queue, nom, asks))
            for slot, lack in lacked:
                t.quota[top, slot, c.OWNED] -= lack - less_owned
                t.slot[slot, c.CAPACITY] -= lack - less_idle
    return found


def room_as_known(t: Tables, queue: int, nom: int, asks: list[tuple[int, int]]) -> str:
    """Whether the head of a queue has room by what is kept, which is what all quotas on its path say."""
    looks_on = bool(t.node[queue, c.LOOKS_ON_BORROWING]) and any(exceeds_owned(t, queue, *ask) for ask in asks)
    found = has_room_above(t, queue, nom)
    assert found == (fits(t, queue, plain_of(nom)) and not looks_on)
    if found:
        assert level_above(t, queue, nom) == max(level_that_fits(t, queue, *ask)[0] for ask in asks)
    return "has room" if found else "has none"
