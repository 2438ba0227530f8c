"""Refusals that are kept until there is more room, by the core over arrays: it decides as the definition does, which keeps none."""

from typing import Any

import pytest
from cores_by_name import CORES
from fuzzing import Tally, fuzz_one
from gpol.dsl import check
from gpol.engine.core import columns as c
from gpol.engine.core.core import ArrayCore
from gpol.engine.core.kernels import settle as settling
from player import Case, difference, fact_of

SECOND = 1_000_000
HISTORIES = 12
FACTS = 110

Plain = dict[str, Any]


@pytest.mark.parametrize("number", range(HISTORIES))
def test_crowded_histories_are_decided_alike(number: int) -> None:
    """Long lines wait, under rules that keep refusals and some that do not."""
    found = fuzz_one(f"crowded/{number}", False, CORES["definition"], CORES["array"], FACTS, Tally(), crowded=True)
    assert found is None, f"fact {len(found[0].facts)}: {found[1]}"


def submitted(time: int, name: str, queue: str, gpus: int, priority: int = 0) -> Plain:
    """A submission of some GPUs."""
    pods = [{"requests": {"gpu": str(gpus)}}]
    return {"kind": "WorkloadSubmitted", "time": time, "workload": name, "queue": queue, "priority": priority, "pod_sets": pods}


def ended(time: int, name: str) -> Plain:
    """The end of a workload."""
    return {"kind": "WorkloadFinished", "time": time, "workload": name}


def decisions(policy: str, facts: list[Plain]) -> list[list[str]]:
    """What the core over arrays decides after each fact, in words; it is the same as the definition does."""
    activated = {"kind": "PolicyActivated", "time": 0, "policy": 0}
    found = difference(Case((policy,), (activated, *facts)), CORES["definition"], CORES["array"], 1000)
    assert found is None, str(found[0])
    core = ArrayCore()
    told = [core.step(*fact_of(fact, (policy,))) for fact in (activated, *facts)]
    return [[f"{type(each).__name__[8:].lower()} {each.workload}" for each in some] for some in told[1:]]


class Looks:
    """The names (their numbers in the tables) of all who are nominated or asked whether they only wait for room; and queues looked at."""

    def __init__(self) -> None:
        self.nominated: list[int] = []
        self.asked: list[int] = []
        self.queues: list[int] = []

    def clear(self) -> None:
        """Forget all of it."""
        for each in (self.nominated, self.asked, self.queues):
            each.clear()


@pytest.fixture
def looks(monkeypatch: pytest.MonkeyPatch) -> Looks:
    """What is looked at from now on."""
    found, nominate, waits, put_up = Looks(), settling.nominate, settling.waits_for_room, settling.put_up

    def noted(t: Any, row: int, *others: int) -> None:
        found.nominated.append(int(t.work[row, c.NAME]))
        nominate(t, row, *others)

    def noted_too(t: Any, row: int) -> bool:
        found.asked.append(int(t.work[row, c.NAME]))
        return waits(t, row)

    def noted_queue(t: Any, queue: int, node: int) -> bool:
        found.queues.append(queue)
        return put_up(t, queue, node)

    monkeypatch.setattr(settling, "nominate", noted)
    monkeypatch.setattr(settling, "waits_for_room", noted_too)
    monkeypatch.setattr(settling, "put_up", noted_queue)
    return found


RECLAIM = """policy "p" { use gpol.reclaim }
flavor pool { gpu 10 }
queue mine { owns 4 gpu }
queue guest { owns nothing }
protect warm-up { where victim.running < 1m }
"""


def test_who_was_refused_in_a_pass_is_refused_for_the_rest_of_it() -> None:
    """big may not evict, small may. Then there is room for another one like big, but not in this pass, and in the next one big is first."""
    facts = [submitted(0, "all", "guest", 10), submitted(1, "big", "mine", 8), submitted(2, "small", "mine", 2)]
    facts += [submitted(3, "big2", "mine", 8), {"kind": "TimeAdvanced", "time": 60 * SECOND}]
    assert decisions(RECLAIM, facts)[-1] == ["evicted all", "admitted small", "admitted big"]


def test_who_asks_for_the_same_may_have_another_past() -> None:
    """young is protected; old asks for the same at the same priority, has run for long enough, and goes. Then both are kept."""
    facts = [submitted(0, "old", "guest", 4), submitted(30 * SECOND, "young", "guest", 4), submitted(61 * SECOND, "a", "mine", 4)]
    facts.append(submitted(62 * SECOND, "b", "mine", 2))
    assert decisions(RECLAIM, facts)[2:] == [["evicted old", "admitted a"], ["admitted b"]]


def test_those_who_ask_for_the_same_are_kept_together() -> None:
    """Nobody in guest is less important than urgent, but for the one in the middle."""
    policy = 'policy "p" { use gpol.reclaim }\nflavor pool { gpu 3 }\nqueue guest { owns 3 gpu }\n'
    facts = [submitted(0, "first", "guest", 1, 5), submitted(1, "low", "guest", 1, 3), submitted(2, "last", "guest", 1, 5)]
    facts += [submitted(3, "urgent", "guest", 1, 4), submitted(4, "again", "guest", 1, 4)]
    assert decisions(policy, facts)[3:] == [["evicted low", "admitted urgent"], []]


def test_a_refusal_ends_where_enough_is_set_free() -> None:
    """Of two who wait the end of a workload helps the one who asks for less, and the next end the other."""
    facts = [submitted(0, "a", "guest", 3), submitted(1, "b", "guest", 5), submitted(2, "c", "guest", 2)]
    facts += [submitted(3, "six", "guest", 6), submitted(4, "three", "guest", 3), ended(5, "a"), ended(6, "three"), ended(7, "b")]
    assert decisions(RECLAIM, facts)[5:] == [["admitted three"], [], ["admitted six"]]


def test_a_refusal_ends_where_one_joins_who_may_be_evicted() -> None:
    """first and then second run in the queue of urgent, who needs the room of both."""
    policy = 'policy "p" { use gpol.reclaim }\nflavor pool { gpu 10 }\nqueue mine { owns 6 gpu }\nqueue other { owns 4 gpu }\n'
    facts = [submitted(0, "first", "mine", 2), submitted(1, "theirs", "other", 4), submitted(2, "urgent0", "mine", 4, 5)]
    facts += [submitted(3, "urgent", "mine", 4, 1), ended(4, "urgent0"), submitted(5, "urgent2", "mine", 6, 2)]
    told = decisions(policy, facts)
    assert told[3] == []
    assert told[4] == ["admitted urgent"]
    assert told[5] == ["evicted urgent", "evicted first", "admitted urgent2"] or told[5] == [
        "evicted first",
        "evicted urgent",
        "admitted urgent2",
    ]


FAIR = """policy "p" {{ use gpol.fair }}
flavor pool {{ gpu {} }}
queue a {{ owns nothing }}
queue b {{ owns nothing }}
"""


def test_a_share_that_would_only_change_sides_is_not_looked_at(looks: Looks) -> None:
    """With two of three GPUs a would have what b has now, and b one: no rule lets anybody go, and nobody is nominated to find that out."""
    facts = [submitted(0, "a1", "a", 1), submitted(1, "b1", "b", 1), submitted(2, "b2", "b", 1), submitted(3, "a2", "a", 1)]
    assert decisions(FAIR.format(3), facts)[3:] == [[]]
    assert len(set(looks.nominated)) == 3  # for the records of the admissions


def test_a_share_that_becomes_even_is_taken() -> None:
    """With two of four GPUs a would have as much as is left to b, whose later workload goes; then neither may take from the other."""
    facts = [submitted(number, f"b{number}", "b", 1) for number in range(3)]
    facts += [submitted(3, "a3", "a", 1), submitted(4, "a4", "a", 1), submitted(5, "a5", "a", 1), submitted(6, "b6", "b", 1)]
    assert decisions(FAIR.format(4), facts)[4:] == [["evicted b2", "admitted a4"], [], []]


def test_who_frees_least_counts_for_shares() -> None:
    """With two of five GPUs a would have more than is left to b without its big workload, and less than without its small one."""
    facts = [submitted(0, "big", "b", 3), submitted(1, "small", "b", 1), submitted(2, "a2", "a", 1), submitted(3, "a3", "a", 1)]
    assert decisions(FAIR.format(5), facts)[3] == ["evicted small", "admitted a3"]


def test_a_row_that_is_used_again_has_keys_of_its_own() -> None:
    """Of all who own enough the more important one comes first, whatever stood in its row before."""
    policy = 'policy "p" { use gpol.fair }\nflavor pool { gpu 3 }\n' + "".join(
        f"queue {name} {{ owns {gpus} gpu }}\n" for name, gpus in (("a", 1), ("b", 2), ("guest", 0))
    )
    policy = policy.replace("owns 0 gpu", "owns nothing") + "protect all-of-guest { where victim.running < 1h }\n"
    facts = [submitted(number, f"g{number}", "guest", 1) for number in range(3)]
    facts += [submitted(3, "p", "a", 1, 5), submitted(4, "q", "b", 1, 9), submitted(5, "r", "b", 1, 3), ended(6, "g0")]
    facts += [{"kind": "WorkloadCancelled", "time": 7, "workload": "p"}, submitted(8, "s", "a", 1, 1), ended(9, "g1")]
    assert decisions(policy, facts)[6:] == [["admitted q"], [], [], ["admitted r"]]


def test_who_waits_for_room_is_not_nominated_again(looks: Looks) -> None:
    """Two hundred wait; what comes and goes beside them is decided without a look at them."""
    core, policy = ArrayCore(), 'policy "p" { use gpol.fair }\nflavor pool { gpu 100 }\nqueue q { owns 50 gpu }\nqueue r { owns 50 gpu }\n'
    assert not check(policy, "p.gpol").diagnostics
    core.step(*fact_of({"kind": "PolicyActivated", "time": 0, "policy": 0}, (policy,)))
    core.step(*fact_of(submitted(1, "long", "r", 45), (policy,)))
    for number in range(200):
        core.step(*fact_of(submitted(2, f"w{number}", "q", 56 + number % 44, number), (policy,)))
    looks.clear()
    for turn in range(5):
        assert core.step(*fact_of(submitted(3 + turn, f"x{turn}", "r", 1), (policy,)))
        core.step(*fact_of(ended(3 + turn, f"x{turn}"), (policy,)))
    assert len(set(looks.nominated + looks.asked)) == 5


LIMITED = """policy "p" {{ use gpol.fair }}
flavor pool {{ gpu 20 }}
cohort team {{
  {}
  queue mine {{
    owns 1 gpu
    {}
  }}
  queue beside {{ owns 1 gpu }}
}}
queue guest {{ owns nothing }}
"""


@pytest.mark.parametrize(
    ("policy", "in_the_way"),
    [(LIMITED.format("borrows up to 1 gpu", ""), "beside1"), (LIMITED.format("", "borrows up to 1 gpu"), "mine2")],
    ids=["of the cohort", "of the queue"],
)
def test_who_waits_for_a_borrowing_limit_is_not_looked_at_again(policy: str, in_the_way: str, looks: Looks) -> None:
    """By shares guest would give, but the limit of mine, or of its cohort, refuses more whoever of guest goes."""
    before = [submitted(0, "mine2", "mine", 2), submitted(1, "beside1", "beside", 1)]
    before += [submitted(2, f"guest{number}", "guest", 1) for number in range(16)] + [submitted(3, "more", "mine", 1)]
    turns = [each for turn in range(5) for each in (submitted(4, f"x{turn}", "guest", 1), ended(4, f"x{turn}"))]
    told = decisions(policy, [*before, *turns, ended(5, "guest0"), ended(6, in_the_way)])
    assert told[len(before) - 1 :] == [
        [],
        *([f"admitted x{number // 2}"] * (1 - number % 2) for number in range(10)),
        [],
        ["admitted more"],
    ]
    core = ArrayCore()
    for fact in ({"kind": "PolicyActivated", "time": 0, "policy": 0}, *before):
        core.step(*fact_of(fact, (policy,)))
    mine = looks.queues[-1]
    looks.clear()
    for fact in turns:
        core.step(*fact_of(fact, (policy,)))
    assert looks.queues
    assert mine not in looks.queues
    assert len(set(looks.nominated + looks.asked)) == 5


@pytest.mark.parametrize(("of_team", "of_queue"), [("borrows up to 2 gpu", ""), ("", "borrows up to 2 gpu")], ids=["cohort", "queue"])
def test_what_a_queue_keeps_for_itself_is_not_limited(of_team: str, of_queue: str) -> None:
    """mine may use what it lends to nobody, and borrow two more, for which guests have to go; never three."""
    policy = f"""policy "p" {{ use gpol.fair }}
flavor pool {{ gpu 8 }}
cohort team {{
  {of_team}
  queue mine {{
    owns 4 gpu
    lends nothing
    {of_queue}
  }}
}}
queue absent {{ owns 4 gpu }}
queue guest {{ owns nothing }}
"""
    facts = [submitted(0, f"guest{number}", "guest", 1) for number in range(4)] + [submitted(1, "seven", "mine", 7)]
    assert decisions(policy, [*facts, submitted(2, "six", "mine", 6)])[4:] == [[], ["evicted guest3", "evicted guest2", "admitted six"]]
