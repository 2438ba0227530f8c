"""Mistakes that a core can make while a context lasts, to show that the comparison finds them."""

from collections.abc import Callable
from contextlib import AbstractContextManager, ExitStack
from unittest.mock import patch

from gpol.engine.definition.preemption import classical, fair_sharing, rules
from gpol.engine.definition.quota.tree import QuotaTree
from gpol.engine.definition.transition import apply
from gpol.engine.intake import changes


def _spares_nobody() -> AbstractContextManager[object]:
    """Victims that turn out not to be needed go all the same."""
    stack = ExitStack()
    for module in (rules, classical, fair_sharing):
        stack.enter_context(patch.object(module, "fill_back", lambda trial, taken, fits, found=None: list(taken)))
    return stack


def _later_first() -> AbstractContextManager[object]:
    """Ties between workloads of a queue go to the later submission."""
    right = apply.line_key
    return patch.object(apply, "line_key", lambda graph, workload: (*right(graph, workload)[:-1], -workload.number))


def _lends_more() -> AbstractContextManager[object]:
    """A borrowing limit is one GPU too high."""
    right = QuotaTree._may_take

    def mistaken(tree: QuotaTree, node: int, slot: int) -> int | None:
        found = right(tree, node, slot)
        return None if found is None else found + 1000

    return patch.object(QuotaTree, "_may_take", mistaken)


def _keeps_done_pods() -> AbstractContextManager[object]:
    """Pods that are done stay charged."""
    return patch.object(changes, "asked_by_one", lambda pod_set, resource: 0)


MISTAKES: dict[str, Callable[[], AbstractContextManager[object]]] = {
    "spares-nobody": _spares_nobody,
    "later-first": _later_first,
    "lends-more": _lends_more,
    "keeps-done-pods": _keeps_done_pods,
}
"""By the name under which the command knows the definition with such a mistake."""
