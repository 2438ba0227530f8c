"""The inputs of a run, out of a journal: what can be run again, and what a run would do otherwise."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from gpol.adapters.export.inputs import fact_lines, inputs_of
from gpol.dsl.analysis.profiles import shipped
from gpol.engine.events import AnyEvent
from gpol.engine.facts import PolicyActivated, ProfileText, TimeAdvanced
from gpol.journal.errors import JournalError
from gpol.journal.journal import Journal

FAIR = ProfileText(name="gpol.fair", text=shipped("gpol.fair") or "")

Fill = Callable[..., Journal]


@pytest.fixture
def fill(tmp_path: Path) -> Iterator[Fill]:
    """Makes a journal of facts."""
    made: list[Journal] = []

    def make(*facts: AnyEvent) -> Journal:
        made.append(Journal.create(tmp_path / "j.db"))
        made[-1].append([[fact] for fact in facts])
        return made[-1]

    yield make
    for journal in made:
        journal.close()


def _policy(time: int = 5, profile: ProfileText = FAIR) -> PolicyActivated:
    return PolicyActivated(time=time, file="p.gpol", text="policy", profiles=(profile,), digest="sha256:" + "0" * 64)


def test_a_journal_of_one_policy(fill: Fill) -> None:
    """The policy is the one that was activated, and the facts are the stored bytes of all others; nothing is to be noted."""
    journal = fill(_policy(), TimeAdvanced(time=5), TimeAdvanced(time=6))
    inputs = inputs_of(journal)

    assert (inputs.policy, inputs.notes) == (_policy(), ())
    assert list(fact_lines(journal)) == [f'{{"kind":"TimeAdvanced","v":1,"time":{time}}}' for time in (5, 6)]


def test_later_policies_are_facts(fill: Fill) -> None:
    """The first policy is the one of the command line; a later one is a line among the facts, whole."""
    journal = fill(_policy(), TimeAdvanced(time=5), _policy(7))

    assert inputs_of(journal).policy == _policy()
    assert list(fact_lines(journal)) == ['{"kind":"TimeAdvanced","v":1,"time":5}', _policy(7).payload().decode()]


@pytest.mark.parametrize(
    ("facts", "note"),
    [
        (
            (_policy(), TimeAdvanced(time=6)),
            "the policy was activated at 1970-01-01T00:00:00.000005Z, and a run activates it with the first",
        ),
        ((_policy(profile=ProfileText(name="gpol.fair", text="x")),), "the profile gpol.fair was another one when this was recorded"),
        ((_policy(profile=ProfileText(name="gone", text="x")),), "the profile gone was another one when this was recorded"),
    ],
)
def test_what_a_run_does_otherwise(fill: Fill, facts: tuple[AnyEvent, ...], note: str) -> None:
    """A policy that was active before the first fact, and a profile that is another one by now, are noted."""
    (found,) = inputs_of(fill(*facts)).notes

    assert found.startswith(note)


@pytest.mark.parametrize(
    ("facts", "words"),
    [
        ((), "does not begin with a policy"),
        ((TimeAdvanced(time=1), _policy()), "does not begin with a policy"),
    ],
)
def test_what_no_run_can_repeat(fill: Fill, facts: tuple[AnyEvent, ...], words: str) -> None:
    """A journal without a policy at its beginning is refused by name."""
    with pytest.raises(JournalError, match=words):
        inputs_of(fill(*facts))
