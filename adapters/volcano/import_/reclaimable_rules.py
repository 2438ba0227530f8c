"""The rules of a profile that spare queues which others may not reclaim from (`reclaimable: false`).

Volcano asks this of the victim's own queue when somebody of another queue reclaims; within the queue it counts for nothing. So each rule
that evicts from other queues is said again, with a condition more; its other parts stay those of the profile.
"""

from collections.abc import Sequence

from ....dsl import parse
from ....dsl.analysis.profiles import file_of, shipped
from ....dsl.syntax import tree

PROFILE = "gpol.fair"
"""The profile of an imported policy."""


def sparing(queues: Sequence[str]) -> list[tree.PreemptItem]:
    """The rules of the profile that evict from other queues, without victims of these; none where there are no such queues."""
    if not queues:
        return []
    text = shipped(PROFILE)
    assert text is not None
    items = parse(text, file_of(PROFILE)).tree.items
    return [_with_condition(item, queues) for item in items if isinstance(item, tree.PreemptItem) and _is_about_others(item)]


def _is_about_others(item: tree.PreemptItem) -> bool:
    return any(isinstance(part, tree.EvictFrom) and part.scope != "same-queue" for part in item.body)


def _with_condition(item: tree.PreemptItem, queues: Sequence[str]) -> tree.PreemptItem:
    spared = [tree.FieldComparison("!=", tree.FieldRef("victim", "queue"), tree.Text(queue)) for queue in queues]
    guards: list[tree.Guard] = []
    for part in item.body:
        if isinstance(part, tree.Where):
            guards += part.guard.items if isinstance(part.guard, tree.AllOf) else [part.guard]
    guards += spared
    where = tree.Where(guards[0] if len(guards) == 1 else tree.AllOf(tuple(guards)))
    before = tuple(part for part in item.body if isinstance(part, tree.TriggerStatement | tree.EvictFrom))
    return tree.PreemptItem(item.name, (*before, where, *(part for part in item.body if isinstance(part, tree.OrderBy))))
