"""What is generated: every construct of the language, always the same from the same seed, and nearly nothing that is refused."""

import re
from collections import Counter
from pathlib import Path

import pytest
from constructs import OF_PASSES, WORDS_OF_PASSES, constructs
from cores_by_name import CORES
from draws import Dice, Guided
from fuzzing import Tally, drawn_play, fuzz_one
from hypothesis import given
from hypothesis import strategies as st
from player import Play
from policy_draws import policy
from worlds import world

DEFINITION = CORES["definition"]
Drawn = tuple[list[str], Counter[str]]


@pytest.fixture(scope="module")
def drawn() -> Drawn:
    """Policies of 300 seeds, and how many the compiler refused."""
    refused = Counter[str]()
    texts = []
    for number in range(300):
        dice = Dice(f"constructs/{number}")
        texts.append(policy(dice, world(dice, in_cycles=number % 2 == 1), refused))
    return texts, refused


def test_every_construct_is_drawn(drawn: Drawn) -> None:
    """Each alternative of the grammar, each field and key occurs in 300 policies and the profiles that they bring."""
    found = constructs(dict.fromkeys(drawn[0], 1))
    assert len(found) > 250
    assert [name for name, (policies, _) in found.items() if policies == 0] == []


def test_every_word_of_the_language_is_drawn(root: Path, drawn: Drawn) -> None:
    """No keyword of the grammar is left out, so that a construct that is new in the language is drawn as well.

    Those of passes are left out: no core decides by them.
    """
    grammar = (root / "dsl" / "syntax" / "grammar.lark").read_text()
    rules, _, terminals = grammar.partition("// --- words")
    rules = re.sub(r"// --- tests.*", "", rules, flags=re.DOTALL)
    rules = re.sub(rf"^(?:{'|'.join(sorted(OF_PASSES))}):.*\n(?: +\|.*\n)*", "", rules, flags=re.MULTILINE)
    found = re.findall(r'^([A-Z]+): "([a-z]+)"$', terminals, re.MULTILINE)
    named = {name: word for name, word in found if re.search(rf"\b{name}\b", rules)}
    words = {*re.findall(r'"([a-z]+)"', rules), *named.values(), "user", "group", "kind"} - {"profile"} - WORDS_OF_PASSES
    assert len(words) > 90
    texts = "\n".join(drawn[0])
    assert sorted(word for word in words if not re.search(rf"\b{word}\b", texts)) == []


def test_hardly_any_policy_is_refused(drawn: Drawn) -> None:
    """Drawing again is rare: at most one policy in 50."""
    assert drawn[1].total() <= len(drawn[0]) // 50


def test_the_same_seed_draws_the_same() -> None:
    """Policies and facts depend on the seed alone."""
    first, second = (_history("same") for _ in range(2))
    assert (first.texts, first.played) == (second.texts, second.played)
    assert first.played != _history("other").played


def _history(seed: str) -> Play:
    play, facts = drawn_play(Dice(seed), True, DEFINITION, DEFINITION, Counter())
    for _ in range(60):
        play.step(facts.next(play.core, play.wake))
    return play


@given(st.data(), st.booleans())
def test_whatever_is_drawn_two_definitions_agree(data: st.DataObject, in_cycles: bool) -> None:
    """The generators with the choices of hypothesis, which shrinks what fails."""
    play, facts = drawn_play(Guided(data), in_cycles, DEFINITION, DEFINITION, Counter())
    for _ in range(data.draw(st.integers(1, 25))):
        play.step(facts.next(play.core, play.wake))
    play.finish()


def test_what_was_drawn_is_counted() -> None:
    """The tally of a case has its policies, facts and decisions."""
    tally = Tally()
    assert fuzz_one("counted", False, DEFINITION, DEFINITION, 50, tally) is None
    assert (tally.cases, tally.facts, tally.policies) == (1, 50, tally.texts.total())
    assert tally.fact_fields["PolicyActivated"] >= 1
    assert tally.decisions.total() > 0
