"""One case after another: a world, policies, a history; and what came of all of them."""

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from cores_by_name import CORES, Side
from draws import Dice, Draw
from fact_draws import Facts
from gpol.engine.core import columns as c
from gpol.engine.core.core import ArrayCore
from gpol.engine.core.tables import Tables
from gpol.engine.errors import FactError
from place_laws import PlaceLaws
from placed_draws import PlacedFacts, placed_policy
from player import Case, DifferenceError, Play, fact_of
from policy_draws import policy
from worlds import SIZES, changed, world

POLICIES_OF_A_CASE = (1, 2, 2, 3)
"""How many policies one history may go through."""


@dataclass
class Tally:
    """What was drawn and seen in many cases. `texts` are policies, `under` how many facts were played under each, `differences` how many
    cases differ."""

    cases: int = 0
    differences: int = 0
    policies: int = 0
    facts: int = 0
    texts: Counter[str] = field(default_factory=Counter)
    under: Counter[str] = field(default_factory=Counter)
    refused: Counter[str] = field(default_factory=Counter)
    fact_fields: Counter[str] = field(default_factory=Counter)
    decisions: Counter[str] = field(default_factory=Counter)


def drawn_play(
    draw: Draw, in_cycles: bool, left: Side, right: Side, refused: Counter[str], sizes: Sequence[str] = SIZES, crowded: bool = False
) -> tuple[Play, Facts]:
    """Two cores before the first fact, and the facts of a history for them."""
    place = world(draw, in_cycles, sizes, crowded)
    places = [place, *(changed(draw, place) for _ in range(draw.pick(POLICIES_OF_A_CASE) - 1))]
    texts = tuple(policy(draw, each, refused) for each in places)
    return Play(texts, left, right), Facts(draw, place, len(texts))


def placed_play(draw: Draw, in_cycles: bool, left: Side, right: Side) -> tuple[Play, PlacedFacts]:
    """The same of a cluster whose flavors give places, with the laws of places."""
    return Play((placed_policy(draw, in_cycles),), left, right, laws=PlaceLaws()), PlacedFacts(draw)


def core_after_each(name: str, in_cycles: bool, crowded: bool, count: int) -> Iterator[ArrayCore]:
    """The core over arrays after each of so many facts, under policies that decide in cycles or at once, while it decides by its tables."""
    play, facts = drawn_play(Dice(name), in_cycles, CORES["array"], CORES["array"], Counter(), crowded=crowded)
    core = ArrayCore()
    for _ in range(count):
        plain = facts.next(play.core, play.wake)
        play.step(plain)
        with suppress(FactError):
            core.step(*fact_of(plain, play.texts))
        if core._store is not None:
            yield core


def tables_after(name: str, in_cycles: bool, crowded: bool, count: int) -> Iterator[Tables]:
    """The tables of that core."""
    for core in core_after_each(name, in_cycles, crowded, count):
        assert core._store is not None
        yield core._store.tables


def queues_after(name: str, histories: int, count: int) -> Iterator[tuple[Tables, int]]:
    """The same with each queue's node, of some histories by turns in cycles and at once; every third one is crowded."""
    for number in range(histories):
        for tables in tables_after(f"{name}/{number}", number % 2 == 0, number % 3 == 0, count):
            for node in range(int(tables.state[c.NODES])):
                if tables.node[node, c.IS_QUEUE]:
                    yield tables, node


def queue_after_each(text: str, facts: Sequence[dict[str, object]], name: str) -> Iterator[tuple[Tables, int]]:
    """The tables of the core over arrays after each of some facts under one policy, the first of which activates it; and a queue's node."""
    core = ArrayCore()
    for plain in facts:
        core.step(*fact_of(plain, (text,)))
        assert core._store is not None
        assert core.graph is not None
        yield core._store.tables, [node.name for node in core.graph.nodes].index(name)


def play_out(play: Play, facts: Facts | PlacedFacts, count: int, whole: bool = True) -> None:
    """Play so many facts. Raises DifferenceError at the first difference. Without `whole` nothing is asked or replayed at the end."""
    for _ in range(count):
        play.step(facts.next(play.core, play.wake))
    if whole:
        play.finish()
    play.end()


def fuzz_one(
    name: str,
    in_cycles: bool,
    left: Side,
    right: Side,
    count: int,
    tally: Tally,
    sizes: Sequence[str] = SIZES,
    crowded: bool = False,
    placed: bool = False,
    whole: bool = True,
) -> tuple[Case, DifferenceError] | None:
    """A case by the name of its seed: None where nothing differs."""
    play, facts = (
        placed_play(Dice(name), in_cycles, left, right)
        if placed
        else drawn_play(Dice(name), in_cycles, left, right, tally.refused, sizes, crowded)
    )
    found = None
    try:
        play_out(play, facts, count, whole)
    except DifferenceError as error:
        found = Case(play.texts, tuple(play.played), placed), error
        tally.differences += 1
    tally.cases += 1
    tally.policies += len(play.texts)
    tally.facts += len(play.played)
    tally.texts.update(play.texts)
    tally.under.update(play.under)
    tally.decisions.update(play.seen)
    for plain in play.played:
        tally.fact_fields.update(fields_of(plain))
    return found


def fields_of(plain: dict[str, object]) -> list[str]:
    """What a fact says, as words to count: its kind, its fields, those of its pod sets."""
    kind = str(plain["kind"])
    words = [kind] if "impossible" not in plain else [f"impossible: {plain['impossible']}"]
    words += [f"{kind} {key}" for key in plain if key not in ("kind", "time", "workload", "impossible")]
    if "action" in plain:
        words.append(f"{kind} action {plain['action']}")
    pod_sets = plain.get("pod_sets")
    if isinstance(pod_sets, list):
        words += [f"pod set {key}" for pods in pod_sets for key in pods]
        words += ["several pod sets"] if len(pod_sets) > 1 else []
    return words


# --- reproductions --------------------------------------------------------------------------------------------------


def save(case: Case, folder: Path, about: str) -> None:
    """Write a case into a folder: policies, facts line by line, what differs."""
    folder.mkdir(parents=True, exist_ok=True)
    for number, text in enumerate(case.texts):
        (folder / f"p{number}.gpol").write_text(text, encoding="utf-8")
    (folder / "facts.jsonl").write_text("".join(json.dumps(fact) + "\n" for fact in case.facts), encoding="utf-8")
    (folder / "difference.txt").write_text(about + "\n", encoding="utf-8")


def load(folder: Path) -> Case:
    """A case from its folder."""
    texts = tuple(path.read_text(encoding="utf-8") for path in sorted(folder.glob("p*.gpol")))
    lines = (folder / "facts.jsonl").read_text(encoding="utf-8").splitlines()
    return Case(texts, tuple(json.loads(line) for line in lines))
