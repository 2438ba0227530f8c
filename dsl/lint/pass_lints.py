"""Warnings about policies that decide by passes."""

from ..analysis.context import Context
from ..syntax import tree

_ALWAYS_SOMEBODY = {"conformance"}
"""Votes that give up every candidate here: what belongs to the system is never evicted, and so is no candidate."""


def judge_votes(context: Context) -> None:
    """Warn of a later tier of votes in the policy's own rules: it is asked only where an earlier one gives up nobody, and so spares nobody.

    That is how Volcano asks its plugins (its issue 5896); who writes a second tier expects it to have a say.
    """
    for rule in context.merged.preempt:
        for part in rule.body if context.is_own(rule) else ():
            if isinstance(part, tree.Votes) and len(part.tiers) > 1:
                context.at(rule)
                _judge(context, part)


def _judge(context: Context, votes: tree.Votes) -> None:
    first, *later = votes.tiers
    together = [vote.name for tier in votes.tiers for vote in tier.votes]
    help_text = f"write one tier, in which all have a say: `votes {{ {', '.join(together)} }}`"
    before, after = _named(first.votes), _named(later[0].votes)
    if {vote.name for vote in first.votes} <= _ALWAYS_SOMEBODY:
        message = f"{after} can never be asked: {before} gives up every candidate, and the first tier that gives up anybody decides"
    else:
        message = f"{after} spares nobody: it is asked only where {before} would spare everybody, and then gives up some of them"
    context.warn("GP066", message, later[0], "a later tier", help_text)


def _named(votes: tuple[tree.VoteWord, ...]) -> str:
    """Votes in words, in their order."""
    *first, last = (f"`{vote.name}`" for vote in votes)
    return f"{', '.join(first)} and {last}" if first else last
