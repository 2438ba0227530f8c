"""A law: whatever the policy and the facts are, what gpol decides conserves."""

from collections import Counter
from pathlib import Path

import pytest
from draws import Dice
from fact_draws import Facts
from gpol.compiled.fast_core import fast_core
from gpol.engine.cores import Core
from gpol.engine.default_core import new_core
from gpol.engine.errors import FactError
from histories import asked, write_journal
from player import fact_of
from policy_draws import PROFILES, policy
from worlds import SIZES, changed, world

FACTS = 150
"""So many facts are drawn for each history."""


def history(name: str, in_cycles: bool, core: Core) -> list[bytes]:
    """The events of a history under one to three policies, all drawn from a name, as a core decides."""
    draw = Dice(name)
    place = world(draw, in_cycles, SIZES)
    places = [place, *(changed(draw, place) for _ in range(draw.pick((0, 1, 1, 2))))]
    texts = tuple(policy(draw, each, Counter()) for each in places)
    profiles = [{"name": profile, "text": text} for profile, text in sorted(PROFILES.items())]
    facts, wake, rows = Facts(draw, place, len(texts)), None, []
    for _ in range(FACTS):
        plain = facts.next(core, wake)
        if "policy" in plain:
            plain |= {"text": texts[plain["policy"]], "profiles": profiles}
        try:
            fact, graph = fact_of(plain, texts)
            rows += [each.payload() for each in (fact, *core.step(fact, graph))]
        except FactError:
            continue  # the generator draws impossible facts as well, and none of them gets into a journal
        finally:
            wake = core.next_wake()
    return rows


def conserves(folder: Path, number: int, core: Core) -> None:
    """The history with this number, odd ones decided in cycles, is accepted."""
    code, said = asked(write_journal(folder / f"{number}.db", history(f"conserves {number}", number % 2 == 1, core)))
    assert code == 0, f"history {number}: {said}"


def test_ten_generated_histories_conserve(tmp_path: Path) -> None:
    """Half of them are decided at once, half in cycles."""
    for number in range(10):
        conserves(tmp_path, number, new_core())


@pytest.mark.slow
@pytest.mark.usefixtures("compiled")
@pytest.mark.parametrize("first", range(10, 210, 20))
def test_two_hundred_generated_histories_conserve(tmp_path: Path, first: int) -> None:
    """The same, twenty at a time, as the core over arrays decides: a few of them take the definition minutes."""
    for number in range(first, first + 20):
        conserves(tmp_path, number, fast_core(lambda missing: None, is_long=True))
