"""Figures of given facts from columns are those of `Measure`, whatever comes between stretches, and wherever counting in tables begins."""

from collections import Counter
from collections.abc import Callable

import numpy as np
import pytest
from draws import Dice
from fact_draws import Facts
from gpol.dsl import check
from gpol.engine.core.core import ArrayCore
from gpol.engine.cores import PlayedBatch
from gpol.engine.errors import FactError
from gpol.engine.facts import FACT, CapacityChanged, Fact, TimeAdvanced, WorkloadCancelled, WorkloadFinished
from gpol.engine.outcome.history import ADMITTING, E_JOB, E_KIND
from gpol.engine.policy_graph import PolicyGraph
from gpol.engine.units import DAY, MINUTE, SECOND
from gpol.sim.drive.given_facts import PlayedStretch, may_be_given
from gpol.sim.drive.player import Player
from gpol.sim.drive.policy import Policy
from gpol.sim.measure.columns import stretch_measure
from gpol.sim.measure.columns.count_tables import CountTables
from gpol.sim.measure.columns.history_measure import HistoryMeasure
from gpol.sim.measure.columns.kernels.count_events import count_events
from gpol.sim.measure.columns.stretch_measure import StretchMeasure
from gpol.sim.measure.measure import AccountError, Measure
from job_draws import gang
from player import fact_of
from policy_draws import policy
from policy_texts import TWO_QUEUES
from same_figures import same_figures
from worlds import changed, world

HISTORIES, FACTS, AT_ONCE = 24, 150, 40


@pytest.fixture(autouse=True)
def few(monkeypatch: pytest.MonkeyPatch) -> None:
    """Few events are enough to count in tables, and few rows to make them anew."""
    monkeypatch.setattr(stretch_measure, "FEW", 1)
    monkeypatch.setattr(stretch_measure, "MOST_ROWS", 30)


def history(name: str, in_cycles: bool) -> list[tuple[Fact, PolicyGraph | None]]:
    """Possible facts of all kinds, under one policy or more."""
    draw = Dice(name)
    place = world(draw, in_cycles)
    texts = tuple(policy(draw, each, Counter()) for each in (place, changed(draw, place)))
    facts, core, found = Facts(draw, place, len(texts)), ArrayCore(), list[tuple[Fact, PolicyGraph | None]]()
    for _ in range(FACTS):
        fact, graph = fact_of(facts.next(core, core.next_wake()), texts)
        try:
            core.step(fact, graph)
        except FactError:
            continue
        found.append((fact, graph))
    return found


def played(facts: list[tuple[Fact, PolicyGraph | None]], take: Callable[[PlayedBatch | PlayedStretch, PolicyGraph], None]) -> Counter[str]:
    """Play facts, many in one go where that is possible; how many goes there were, and which facts came one by one."""
    player, at, seen = Player(ArrayCore()), 0, Counter[str]()
    while at < len(facts):
        end = at
        while end < min(len(facts), at + AT_ONCE) and may_be_given(facts[end][0], False):
            end += 1
        done, stretch = player.play_in_one_go([(fact, fact.payload()) for fact, _ in facts[at:end]], False)
        found: PlayedBatch | PlayedStretch | None = stretch
        if stretch is None:
            found, done = player.step(*facts[at]), 1
            seen[type(facts[at][0]).__name__] += 1
        assert found is not None
        assert player.core.graph is not None
        take(found, player.core.graph)
        seen["stretches"] += stretch is not None
        at += done
    return seen


@pytest.mark.parametrize("in_cycles", [False, True], ids=["at once", "in cycles"])
def test_generated_facts_of_all_kinds_have_the_same_figures(in_cycles: bool) -> None:
    """Adoptions, updates, operators, machines and new policies come between stretches: some of them no row can say."""
    seen, calls = Counter[str](), list[int]()

    def count(t: CountTables, begin: int, end: int) -> int:
        calls.append(end - begin)
        return count_events(t, begin, end)

    for number in range(HISTORIES):
        by_columns, by_objects = HistoryMeasure(None, lambda: count), Measure()

        def take(found: PlayedBatch | PlayedStretch, graph: PolicyGraph) -> None:
            by_columns.take(found, graph)  # noqa: B023
            for fact, decisions in [found] if isinstance(found, tuple) else found.batches():
                by_objects.take(fact, decisions, graph)  # noqa: B023
            if draw.chance(8):  # noqa: B023
                same_figures(by_columns.measure(), by_objects)  # noqa: B023

        draw = Dice(f"looks/{in_cycles}/{number}")
        seen += played(history(f"stretches/{in_cycles}/{number}", in_cycles), take)
        same_figures(by_columns.measure(), by_objects)
    assert len(calls) > HISTORIES
    assert min(seen[kind] for kind in ("stretches", "PolicyActivated", "CapacityChanged", "WorkloadAdopted", "WorkloadUpdated")) > 0, seen


def _counting(*goes: list[Fact]) -> tuple[list[PlayedStretch], StretchMeasure]:
    """Facts played in so many goes under a policy of two queues, and what counts them, which has counted the activation."""
    active, player, measure, found = Policy.of(check(TWO_QUEUES, "two.gpol")), Player(ArrayCore()), Measure(), list[PlayedStretch]()
    player.step(active.activation(0), active.graph)
    measure.take(active.activation(0), [], active.graph)
    for facts in goes:
        done, stretch = player.play_in_one_go([(fact, fact.payload()) for fact in facts])
        assert stretch is not None
        assert done == len(facts), f"{done} of {len(facts)}"
        found.append(stretch)
    return found, StretchMeasure(measure, active.graph, lambda: count_events)


FACTS_OF_TWO: list[Fact] = [
    gang("a", 0, 8, DAY).fact,
    gang("b", 1, 8, DAY).fact,
    WorkloadCancelled(time=MINUTE, workload="a"),
    WorkloadFinished(time=2 * MINUTE, workload="b"),
]


def test_cancellations_are_told_from_other_ends() -> None:
    """Both are ends in columns."""
    (stretch,), counting = _counting(FACTS_OF_TWO)
    counting.take(stretch)
    figures = counting.measure().queues["owner"]
    assert (figures.submitted, figures.cancelled, figures.finished) == (2, 1, 1)


def test_what_contradicts_itself_is_found_in_the_same_words() -> None:
    """Also what is said of a workload that never was."""
    (stretch,), counting = _counting(FACTS_OF_TWO)
    admissions = np.flatnonzero(stretch.events[:, E_KIND] == ADMITTING)
    stretch.events[admissions[-1], E_JOB] = stretch.events[admissions[0], E_JOB]
    with pytest.raises(AccountError, match="`a` is decided about, but is not live"):
        counting.take(stretch)


def test_a_name_may_be_used_again() -> None:
    """In a later stretch than that in which the workload of that name ended; and in the same it is for no stretch."""
    ends, again = WorkloadFinished(time=MINUTE, workload="a"), gang("a", 0, 4, DAY).fact.model_copy(update={"time": 2 * MINUTE})
    stretches, counting = _counting([gang("a", 0, 8, DAY).fact], [ends], [again])
    for stretch in stretches:
        counting.take(stretch)
    measure = counting.measure()
    figures = measure.queues["owner"]
    assert (figures.submitted, figures.finished, figures.used, measure.live["a"].since) == (2, 1, 4_000, 2 * MINUTE)
    with pytest.raises(AssertionError, match="1 of 2"):
        _counting([gang("a", 0, 8, DAY).fact], [ends, again])


def test_more_may_be_used_than_exists_while_it_gets_less() -> None:
    """Machines are gone, and a smaller workload takes the place of a larger one."""
    facts = [gang("a", 0, 8, DAY).fact, CapacityChanged(time=1, flavor="a100", capacity={"gpu": 4_000})]
    smaller = gang("b", 2, 6, DAY).fact.model_copy(update={"replaces": "a"})
    active, player = Policy.of(check(TWO_QUEUES, "two.gpol")), Player(ArrayCore())
    by_columns, by_objects = HistoryMeasure(None, lambda: count_events), Measure()
    for fact, graph in ((active.activation(0), active.graph), *((fact, None) for fact in facts)):
        batch = player.step(fact, graph)
        by_columns.take(batch, active.graph)
        by_objects.take(*batch, active.graph)
    _, stretch = player.play_in_one_go([(smaller, smaller.payload())])
    assert stretch is not None
    by_columns.take(stretch, active.graph)
    for batch in stretch.batches():
        by_objects.take(*batch, active.graph)
    same_figures(by_columns.measure(), by_objects)
    assert by_objects.used["a100", "gpu"] == 6_000


MOVED = """
policy "{name}" {{ use gpol.fair }}
flavor a100 {{ gpu 8 }}
cohort all {{
  queue owner {{
    {owner}
    owns 8 gpu on a100
  }}
  queue other {{
    {other}
    owns nothing
  }}
}}
"""
FOR_NLP = 'for namespace "nlp"'


def test_whoever_waits_moves_with_the_policy_and_is_counted_where_it_is() -> None:
    """A workload that waits in one queue is matched to another one by a new policy; it counts as submitted there."""
    texts = (MOVED.format(name="one", owner=FOR_NLP, other=""), MOVED.format(name="two", owner="", other=FOR_NLP))
    policies = [Policy.of(check(text, "moved.gpol")) for text in texts]
    player, measure = Player(ArrayCore()), Measure()
    jobs = [gang(name, 0, gpus, DAY).fact.model_copy(update={"queue": None, "namespace": "nlp"}) for name, gpus in (("a", 8), ("b", 6))]
    one, two = policies
    for fact, graph in ((one.activation(0), one.graph), *((job, None) for job in jobs), (two.activation(1), two.graph)):
        measure.take(*player.step(fact, graph), player.core.graph)
    assert [(measure.queues[name].submitted, list(measure.queues[name].waiting)) for name in ("owner", "other")] == [(1, []), (1, ["b"])]
    measure.take(*player.step(WorkloadFinished(time=MINUTE, workload="a")), player.core.graph)
    measure.check_accounts()
    assert measure.queues["other"].admitted == 1


def test_whoever_is_adopted_elsewhere_is_owed_nothing_more() -> None:
    """It fit what its queue owned from the beginning, and ran in another queue one second later."""
    active, player, measure = Policy.of(check(TWO_QUEUES, "two.gpol")), Player(ArrayCore()), Measure()
    placement = {"pod_set": "main", "flavors": {"gpu": "a100"}, "usage": {"gpu": 6_000}, "count": 1}
    said = {"kind": "WorkloadAdopted", "time": SECOND, "workload": "g", "queue": "guest", "since": 0, "placements": [placement]}
    facts = [
        gang("c", 0, 1, DAY).fact,
        CapacityChanged(time=0, flavor="a100", capacity={"gpu": 0}),
        gang("g", 0, 6, DAY).fact,
        FACT.validate_python(said),
        TimeAdvanced(time=DAY),
    ]
    for fact, graph in ((active.activation(0), active.graph), *((fact, None) for fact in facts)):
        measure.take(*player.step(fact, graph), active.graph)
    assert measure.queues["owner"].owner_wait(measure.end) == SECOND
