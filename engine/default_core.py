"""The definition as a core, and snapshots. Commands decide by the core over arrays (`compiled/fast_core.py`); both return the same."""

from .cores import Core, Probe
from .definition.core import DefinitionCore
from .definition.snapshot import FORMAT as FORMAT
from .definition.snapshot import SnapshotError as SnapshotError
from .definition.snapshot import thawed
from .definition.state.state import ActivePolicy, State
from .intake.capacity import node_sizes
from .nodes.inventory import Inventory
from .policy_graph import PolicyGraph
from .questions.probe import DefinitionProbe


def new_core() -> Core:
    """A core that nothing has happened to yet."""
    return DefinitionCore()


def idle_probe(graph: PolicyGraph, capacity: list[int]) -> Probe:
    """Questions about a policy over what exists, by slot, where nobody uses anything."""
    return DefinitionProbe(State(policy=ActivePolicy.of(graph, capacity, node_sizes(graph, Inventory()), {})))


def freeze(core: Core) -> bytes:
    """The state of a core as bytes: JSON in one form, so that equal states give equal bytes."""
    return core.freeze()


def thaw(content: bytes, graph: PolicyGraph | None) -> Core:
    """A core in the state that was frozen, under the policy that was active then (None before the first one).

    It decides on as the frozen one would have. Raises SnapshotError for all else than the bytes of such a state.
    """
    return DefinitionCore(thawed(content, graph))
