"""What gpol writes to a Workload: the answer of its admission check, and the mark of the decision, in one server-side apply.

An apply carries the workload's uid and the version that was read. So it fails if anything has changed since, and never reaches another
workload of the name, nor a later life of this one. It says all that gpol owns there: what it left out would be dropped, but for
`podSetUpdates`, which would stay, as Kueue owns them as well, and start the next life on the machines of this one.
"""

import json
from collections.abc import Mapping, Sequence

from ....engine.eligibility import labels_of
from ....engine.event_parts import Assignment
from ....engine.events import WorkloadAdmitted, WorkloadEvicted, WorkloadRejected
from ....engine.policy_graph import Flavor, PolicyGraph
from ....engine.units import format_time
from ...kubernetes.api import Plain
from ...kubernetes.nodes import NodeFact
from ...live.desired import Desired
from ...live.wording import told
from .observed import Observed
from .place_selectors import annotation_of, selector_of
from .protocol import DECIDED, DECISION, FLAVORS, PLACE, WORKLOAD, WORKLOAD_UID, Mark

_STATES = {WorkloadAdmitted: "Ready", WorkloadEvicted: "Retry", WorkloadRejected: "Rejected"}

WITHDRAWN = "Kueue has taken the quota back; gpol decides anew once it is reserved again"
"""What is said when an answer is taken back that would count for a later reservation."""

BY_NO_DECISION = "it runs by no decision of gpol, and is stopped; gpol decides once quota is reserved for it again"
"""What is said where somebody else has written Ready."""

_MOST_MESSAGE = 900
"""Characters of a message."""


def write_of(desired: Desired | None, key: str, observed: Observed, journal: str) -> bool:
    """Whether a decision is still to be carried out, as far as the workload itself goes."""
    if desired is None or observed.is_finished:
        return False
    is_done = observed.mark is not None and observed.mark.journal == journal and observed.mark.seq >= desired.seq
    match desired.event:
        case WorkloadAdmitted():
            return observed.asks and not is_done
        case WorkloadEvicted():  # one that waits is told only what was decided about an earlier slice of its job, whose pods it has
            return observed.runs or (observed.asks and not is_done and desired.event.workload != key)
        case WorkloadRejected():
            return observed.is_answered or (observed.asks and not is_done)
        case _:
            return False


def body(
    key: str,
    version: str,
    observed: Observed,
    desired: Desired,
    check: str,
    journal: str,
    graph: PolicyGraph,
    nodes: Mapping[str, NodeFact],
) -> Plain:
    """The body of the apply that carries out a decision; `nodes` are the nodes, by name, as the journal has them."""
    event, mark = desired.event, Mark(journal, desired.seq)
    at = format_time(event.time - event.time % 1_000_000)
    message = safe_message(f"event {desired.seq}: {told(event)}")
    answer: Plain = {"name": check, "state": _STATES[type(event)], "message": message, "lastTransitionTime": at, "podSetUpdates": []}
    if isinstance(event, WorkloadAdmitted):
        answer["podSetUpdates"] = [_update(given, desired.seq, observed.uid, graph, nodes) for given in event.assignments]
    is_let_run = "True" if isinstance(event, WorkloadAdmitted) else "False"
    condition = {"type": DECIDED, "status": is_let_run, "reason": mark.reason, "message": message, "lastTransitionTime": at}
    return _apply(key, version, observed, answer, condition)


def undecided(key: str, version: str, observed: Observed, check: str, message: str, at: int) -> Plain:
    """The body of the apply that says that nothing is decided about a workload now, and why; the mark stays as it is.

    One that somebody else has let run is told to stop, unless Kueue stops it already.
    """
    moment, state = format_time(at - at % 1_000_000), "Retry" if observed.is_answered else "Pending"
    answer = {"name": check, "state": state, "message": message, "lastTransitionTime": moment, "podSetUpdates": []}
    return _apply(key, version, observed, answer, observed.marked)


def safe_message(message: str) -> str:
    """A message as Kueue can pass it on: it takes some as a format, and cuts events after about a thousand characters."""
    return message.replace("%", " percent")[:_MOST_MESSAGE]


def _apply(key: str, version: str, observed: Observed, answer: Plain, condition: Plain) -> Plain:
    namespace, _, name = key.partition("/")
    return {
        "apiVersion": WORKLOAD.api_version,
        "kind": WORKLOAD.kind,
        "metadata": {"namespace": namespace, "name": name, "uid": observed.uid, "resourceVersion": version},
        "status": {"admissionChecks": [answer], **({"conditions": [condition]} if condition else {})},
    }


def _update(given: Assignment, seq: int, uid: str, graph: PolicyGraph, nodes: Mapping[str, NodeFact]) -> Plain:
    """What the pods of a pod set are given: the labels of their flavors' nodes and of their place to select, what they are to tolerate, and
    who decided."""
    flavors, place = _flavors(given, graph), selector_of(given, graph, nodes)
    assert place is not None, "what cannot be said is not written"
    selector = {key: value for flavor in flavors for key, value in labels_of(flavor).items()} | place
    flavors_said = json.dumps(given.flavors, sort_keys=True, separators=(",", ":"))
    tolerations: list[Plain] = []
    for each in (each for flavor in flavors for each in flavor.tolerations):
        said = {"key": each.key, "operator": each.operator, "value": each.value, "effect": each.effect}
        plain = {name: text for name, text in said.items() if text}
        if plain not in tolerations:
            tolerations.append(plain)
    return {
        "name": given.pod_set,
        "annotations": {DECISION: str(seq), FLAVORS: flavors_said, **({PLACE: annotation_of(given)} if place else {})},
        "labels": {WORKLOAD_UID: uid},
        **({"nodeSelector": selector} if selector else {}),
        **({"tolerations": tolerations} if tolerations else {}),
    }


def _flavors(given: Assignment, graph: PolicyGraph) -> Sequence[Flavor]:
    """The flavors of a pod set, each once, in the order of the policy."""
    names = set(given.flavors.values())
    return [flavor for flavor in graph.flavors if flavor.name in names]
