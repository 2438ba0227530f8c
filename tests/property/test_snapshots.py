"""Law 8 for snapshots: a core made from one decides on byte for byte as the core that it was taken of."""

import json
from collections.abc import Iterator
from contextlib import suppress

from cycle_cases import Case as CycleCase
from cycle_cases import cycle_cases, history
from generators import Case, activation, cases, fact_of
from gpol.engine.cores import Core
from gpol.engine.default_core import SnapshotError, freeze, new_core, thaw
from gpol.engine.events import AnyEvent
from gpol.engine.facts import Fact
from gpol.engine.policy_graph import PolicyGraph
from hypothesis import given
from hypothesis import strategies as st

Facts = list[tuple[Fact, PolicyGraph]]


def at_once(case: Case) -> Iterator[tuple[Core, Fact, PolicyGraph]]:
    """A core and the facts of a case that decides at once; the caller steps each before the next."""
    core = new_core()
    yield core, activation(case), case.graph
    for number, step in enumerate(case.steps):
        yield core, fact_of(core, case, number, step), case.graph


def assert_snapshots_are_whole(steps: Iterator[tuple[Core, Fact, PolicyGraph]]) -> None:
    """At every moment of a history: a snapshot gives a core that freezes alike, wakes alike, and takes the next fact alike.

    By induction it does so for all that follows: what it then freezes to is what the original freezes to. And a core to which the
    recorded events were applied freezes to what the one that decided them does.
    """
    applied, resumed = new_core(), thaw(freeze(new_core()), None)
    for core, fact, graph in steps:
        events: list[AnyEvent] = [fact, *core.step(fact, graph)]
        assert [event.payload() for event in resumed.step(fact, graph)] == [event.payload() for event in events[1:]]
        for event in events:
            applied.apply(event, graph)
        frozen = freeze(core)
        assert freeze(applied) == frozen
        assert freeze(resumed) == frozen
        resumed = thaw(frozen, graph)
        assert freeze(resumed) == frozen
        assert resumed.next_wake() == core.next_wake()
        assert (resumed.seq, resumed.time) == (core.seq, core.time)


@given(cases())
def test_deciding_at_once(case: Case) -> None:
    """Frozen and thawed after every fact, a core that decides at once decides as one that goes through."""
    assert_snapshots_are_whole(at_once(case))


@given(cycle_cases())
def test_deciding_in_cycles(case: CycleCase) -> None:
    """Frozen and thawed after every fact, a core that decides in cycles decides as one that goes through, policy changes included."""
    assert_snapshots_are_whole(history(case))


def play(steps: Iterator[tuple[Core, Fact, PolicyGraph]], upto: int) -> tuple[Core, Facts]:
    """Play a history: the core as it stood after so many facts, at most all, and all facts, each with its policy."""
    core = new_core()
    copy, facts = new_core(), list[tuple[Fact, PolicyGraph]]()
    for core, fact, graph in steps:
        if len(facts) == upto:
            copy = core.copy()
        core.step(fact, graph)
        facts.append((fact, graph))
    return copy if upto < len(facts) else core, facts


def assert_goes_on(steps: Iterator[tuple[Core, Fact, PolicyGraph]], cut: int) -> None:
    """From a snapshot in the middle to the end of a history, without another one: all decisions and wakes are the same."""
    core, facts = play(steps, cut)
    resumed = thaw(freeze(core), core.graph)
    for fact, graph in facts[cut:]:
        assert [event.payload() for event in resumed.step(fact, graph)] == [event.payload() for event in core.step(fact, graph)]
        assert resumed.next_wake() == core.next_wake()


@given(cases(), st.integers(0, 20))
def test_going_on_at_once(case: Case, cut: int) -> None:
    """Deciding at once, what follows a snapshot is decided as if there had been none."""
    assert_goes_on(at_once(case), min(cut, len(case.steps)))


@given(cycle_cases(), st.integers(0, 40))
def test_going_on_in_cycles(case: CycleCase, cut: int) -> None:
    """Deciding in cycles, what follows a snapshot is decided as if there had been none."""
    assert_goes_on(history(case), cut)


def assert_refused_or_meant(content: bytes, graph: PolicyGraph | None) -> None:
    """Bytes are refused in the one way in which they may be, or read as what they say and nothing else."""
    with suppress(SnapshotError):
        assert freeze(thaw(content, graph)) == content


@given(cycle_cases(), st.data())
def test_altered_bytes(case: CycleCase, data: st.DataObject) -> None:
    """Cut off, or with bytes changed, put in or taken out: refused, or read as what is written there."""
    core, _ = play(history(case), data.draw(st.integers(1, 40)))
    content = freeze(core)
    for _ in range(20):
        at, length = data.draw(st.integers(0, len(content))), data.draw(st.sampled_from([0, 1, 2, len(content)]))
        put = data.draw(st.sampled_from([b"", b"0", b'"', b"}", b"-", b"\xff", b"\0", b"null", b"[" * 300]))
        assert_refused_or_meant(content[:at] + put + content[at + length :], core.graph)


STRANGE = (None, True, False, -1, 0, 1, 2**63, 10**400, 1.5, "", "x", "q1", "c0", "waiting", [], [[]], [1, 2], {}, {"x": 1})
"""What stands in place of a value, or beside it, in content that is well-formed."""


def places(value: object) -> Iterator[tuple[object, object]]:
    """Every place in a document: what holds it, and by which key or index."""
    keys: Iterator[object] = iter(value) if isinstance(value, dict) else iter(range(len(value) if isinstance(value, list) else 0))
    for key in keys:
        yield value, key
        yield from places(value[key])  # type: ignore[index]


@given(st.one_of(cases(), cycle_cases()), st.data())
def test_altered_content(case: Case | CycleCase, data: st.DataObject) -> None:
    """Well-formed and with any value taken for another, or twice in a list: refused, or read as what is written there."""
    core, _ = play(at_once(case) if isinstance(case, Case) else history(case), data.draw(st.integers(1, 30)))
    for _ in range(20):
        document = json.loads(freeze(core))
        holder, key = data.draw(st.sampled_from(list(places(document))))
        if isinstance(holder, list) and data.draw(st.booleans()):
            holder.append(holder[key])  # type: ignore[index]
        else:
            holder[key] = data.draw(st.sampled_from(STRANGE))  # type: ignore[index]
        assert_refused_or_meant(json.dumps(document, separators=(",", ":"), ensure_ascii=False).encode(), core.graph)
