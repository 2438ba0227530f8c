"""The inputs of `gpol run`, extracted from a journal: its first policy and its facts, activations of later policies among them."""

from collections.abc import Iterator
from dataclasses import dataclass
from shlex import quote

from ...dsl.analysis.profiles import shipped
from ...engine.facts import PolicyActivated
from ...engine.units import format_time
from ...journal.errors import JournalError
from ...journal.journal import Journal


@dataclass(frozen=True, slots=True)
class Inputs:
    """The first policy as it was activated, and the reasons, if any, why a run of it with the facts gives another chain value."""

    policy: PolicyActivated
    notes: tuple[str, ...]


def inputs_of(journal: Journal) -> Inputs:
    """The first policy of a journal. Raises JournalError for a journal that does not begin with one."""
    activations = list(journal.events(stream="policy"))
    if not activations or activations[0].seq != 1:
        raise JournalError(f"`{journal.name}` does not begin with a policy, so no run can repeat it", "export it with `gpol export jsonl`")
    policy = activations[0].event
    assert isinstance(policy, PolicyActivated)  # its stream holds nothing else
    return Inputs(policy, tuple(_notes(journal, policy)))


def fact_lines(journal: Journal) -> Iterator[str]:
    """The facts but for the first policy, as they are stored, each as a line without its end."""
    for recorded in journal.events(after=1):
        if not recorded.event.is_decision:
            yield recorded.payload.decode()


def _notes(journal: Journal, policy: PolicyActivated) -> Iterator[str]:
    """What a run does otherwise."""
    first = next((recorded.event.time for recorded in journal.events(after=1) if not recorded.event.is_decision), None)
    if first is not None and first != policy.time:
        told = (
            f"the policy was activated at {format_time(policy.time)}, and a run activates it with the first fact, at {format_time(first)}"
        )
        yield f"{told}: its chain will be another"
    if policy.by:
        yield f"the policy was activated by `{policy.by}`: give the run `--by {quote(policy.by)}`, or its chain will be another"
    if policy.note:
        yield f"the policy was activated with a note: give the run `--note {quote(policy.note)}`, or its chain will be another"
    for profile in policy.profiles:
        if shipped(profile.name) != profile.text:
            yield f"the profile {profile.name} was another one when this was recorded: a run may decide otherwise"
