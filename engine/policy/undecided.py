"""What no core decides, though the language has it: such a policy is refused where it would begin to decide."""

from collections.abc import Callable, Mapping

from ..policy_graph import PolicyGraph
from .armada_words import unlike_armada
from .kai_words import unlike_kai
from .pass_settings import VictimSearch
from .search_of import search_of
from .volcano_words import unlike_volcano

_UNLIKE: Mapping[VictimSearch, tuple[str, Callable[[PolicyGraph], str | None]]] = {
    "by-scenarios": ("KAI", unlike_kai),
    "node-by-node": ("Volcano", unlike_volcano),
    "by-rescheduling": ("Armada", unlike_armada),
}
"""Whose passes decide, by the search for victims, and what a policy says otherwise than they do."""


def why_undecided(graph: PolicyGraph) -> str | None:
    """Why no core decides by a policy: where it says so, what that is, and what to do; None where one does."""
    if graph.settings.passes is None:
        return None
    place = f"{graph.nodes[0].source.file}:{graph.nodes[0].source.line}: policy `{graph.name}`"
    system, unlike = _UNLIKE[search_of(graph)]
    said = unlike(graph)
    return None if said is None else f"{place} says something that {system} does not decide, in {said}; write it so"
