"""Queues: what their objects say."""

from ...kueue.read.fields import Fields
from . import volcano_fields as known
from .resource_lists import limits, quotas
from .volcano_objects import VolcanoQueue

MOST_WEIGHT = 65_535
"""The greatest weight of a Queue; the least is 1."""

_STATES = ("Open", "Closed", "Closing", "Unknown")
_STRATEGIES = ("traverse", "fifo")

_FIFO = "is fifo, which has no effect in Volcano: a PodGroup may pass another one that waits, there as here"
_PRIORITY = "is above 0, which a policy cannot say: no queue goes before another one because of a number of its own"
_NODES = "is left out: it says on which nodes the pods stand, and a policy counts the nodes together"
_CLUSTERS = "is left out: it says in which other clusters the pods may run"
_TYPE = "is left out: no plugin of Volcano's scheduler reads it"
_ANNOTATION = "is left out: of the tree of queues only spec.parent is imported, and of limits only those of the queue as a whole"


def queue(name: str, file: str, whole: Fields) -> VolcanoQueue:
    """A Queue of v1beta1."""
    spec, status = whole.sub("spec").known(known.QUEUE), whole.sub("status").known(known.QUEUE_STATUS)
    _note_unused(spec, whole.sub("metadata").sub("annotations"))
    state = status.one_of("state", _STATES, "Open")
    return VolcanoQueue(
        name=name,
        file=file,
        parent=spec.optional_name("parent"),
        weight=spec.whole("weight", 1, 1, MOST_WEIGHT),
        deserved=quotas(spec, "deserved"),
        guarantee=quotas(spec.sub("guarantee").known(known.GUARANTEE), "resource"),
        capability=limits(spec, "capability"),
        reclaimable=spec.flag("reclaimable", True),
        priority=_priority(spec),
        is_open=state == "Open",
    )


def _priority(spec: Fields) -> int:
    priority = spec.whole("priority", 0, 0)
    if priority:
        spec.found.note("spec.priority", _PRIORITY)
    return priority


def _note_unused(spec: Fields, annotations: Fields) -> None:
    """Say which fields have no effect, in Volcano or here."""
    if spec.one_of("dequeueStrategy", _STRATEGIES, "traverse") == "fifo":
        spec.found.note("spec.dequeueStrategy", _FIFO)
    for field, text in (("affinity", _NODES), ("extendClusters", _CLUSTERS), ("type", _TYPE)):
        if spec.data.get(field) not in (None, "", [], {}):
            spec.found.note(f"spec.{field}", text)
    for annotation in known.QUEUE_ANNOTATIONS:
        if annotations.has(annotation):
            spec.found.note(f"metadata.annotations.{annotation}", _ANNOTATION)
