"""The form of every event, as the tables of docs/events.md give it: fields, their order and types, and the one way to write them.

Written from that page alone, with nothing but Python's own library. Nothing here knows what the events mean.
"""

import json
import re
from functools import cache
from typing import Any

Event = dict[str, Any]

FACTS = {
    "PolicyActivated": "file:text text:text profiles:[Profile] digest:digest language:int by?:text note?:text",
    "CapacityChanged": "flavor:text capacity:sorted{amount}",
    "NodeAdded": "node:text labels:sorted{text} capacity:sorted{amount} taints?:[Taint] cordoned?:flag",
    "NodeChanged": "node:text labels:sorted{text} capacity:sorted{amount} taints?:[Taint] cordoned?:flag",
    "NodeRemoved": "node:text",
    "SimulationStarted": "on_evict:restart|resume source:text source_digest:digest",
    "WorkloadSubmitted": "workload:text queue:text|null namespace:text user:text group:text workload_kind:text labels:sorted{text}"
    " priority:int|text|null pod_sets:[PodSet] local_queue?:text namespace_labels?:sorted{text} created?:time uid?:text boost?:int"
    " hold?:flag misconfigured?:text replaces?:text",
    "WorkloadAdopted": "workload:text queue:text since:time evicting:flag placements:[Placement]",
    "UsageReported": "local_queue:text consumed:{amount} as_of?:time",
    "WorkloadUpdated": "workload:text priority:int|text|null hold:flag|null reclaimable:sorted{amount}|null checks?:{State}"
    " requeued?:time boost?:int lost_nodes?:[text]",
    "WorkloadFinished": "workload:text",
    "WorkloadCancelled": "workload:text",
    "TimeAdvanced": "",
    "OperatorAction": "by:text action:evict|hold|release workload:text note:text",
}
"""The fields of each kind of fact in their order, behind `kind`, `v` and `time`; `?`: may be left out."""

DECISIONS = {
    "WorkloadAdmitted": "workload:text queue:text priority:int reason:FitsOwned|FitsBorrowing|FitsAfterEviction assignments:[Assignment]"
    " usage:[Charge] borrowed:[Charge] replaces?:text passed_over?:[Attempt] why:Why",
    "WorkloadEvicted": "workload:text queue:text priority:int reason:Preempted|Drained|EvictedByOperator|NodeLost|GangBroken"
    " beneficiary:text|null preemption:in-queue|reclaim|other|operator|stopped|node-lost|fair-sharing|reclaim-while-borrowing"
    "|consolidation|broken-gang|balance by?:text usage:[Charge] why:Why",
    "WorkloadPlaced": "workload:text queue:text reason:NodeLost|NodesProvided assignments:[Assignment] why:Why",
    "WorkloadMoved": "workload:text queue:text priority:int reason:Consolidated beneficiary:text moves:[MovedPods]"
    " assignments:[Assignment] why:Why",
    "WorkloadResized": "workload:text queue:text priority:int reason:RoomForMore|Preempted beneficiary?:text"
    " preemption?:in-queue|reclaim|other|operator|stopped|node-lost|fair-sharing|reclaim-while-borrowing|consolidation|broken-gang|balance"
    " changes:[PodSetChange] assignments:[Assignment]"
    " usage:[Charge] borrowed?:[Charge] why:Why",
    "WorkloadReplaced": "workload:text queue:text reason:WorkloadSliceReplaced by:text usage:[Charge] why:Why",
    "WorkloadDeferred": "workload:text queue:text"
    " reason:WaitingForQuota|ExceedsMaxQuota|NoMatchingFlavor|TopologyPlacementFailed|WaitingForPreemptedWorkloads|PendingEvaluation"
    "|Misconfigured outcome:Outcome"
    " waits:next|parked preempting:flag alike:flag tried:[Place] attempts:[Attempt] victims:[text] why:Why",
    "WorkloadRejected": "workload:text queue:text|null reason:Denied|NoMatchingQueue|MatchesSeveralQueues|UnknownPriority why:Why",
}
"""The fields of each kind of decision, behind `kind`, `v`, `time` and `cause`."""

PARTS = {
    "Profile": "name:text text:text",
    "PodSet": "name:text count:amount requests:sorted{amount} flavors:[text] min_count?:amount node_selector?:{text} affinity?:[Terms]"
    " tolerations?:[Toleration] group?:text within?:text near?:text anywhere?:flag slices?:[Slice] minimum?:amount",
    "Slice": "level:text size:amount",
    "Taint": "key:text value:text effect:NoSchedule|NoExecute|PreferNoSchedule",
    "Requirement": "key:text operator:Operator values:[text]",
    "Toleration": "key:text operator:Equal|Exists value:text effect:Effect",
    "Placement": "pod_set:text count:amount flavors:{text} usage:{amount} places?:[Placed] delayed?:flag",
    "Assignment": "pod_set:text count:amount flavors:{text} places?:[Placed] delayed?:flag",
    "MovedPods": "pod_set:text pods:amount from_place:[text] to_place:[text]",
    "PodSetChange": "pod_set:text added?:amount taken?:amount places?:[Placed]",
    "Placed": "domain:[text] pods:amount",
    "Charge": "flavor:text resource:text amount:amount",
    "Place": "pod_set:text resource:text index:int",
    "Attempt": "pod_set:text flavor:text resources:[text] borrows:flag obstacles:[Obstacle]",
    "Obstacle": "kind:Hindrance resource:text asked?:int limit?:int detail?:text",
    "Why": "rule:Source|null operands:[Operand] limit:Limit|null places?:Unplaced",
    "Unplaced": "kind:no-room|uneven-slices|no-level|no-domains|slice-above|place-gone|slices-broken"
    " pod_sets:[text] flavor:text level?:text together?:flag above?:text"
    " fit?:int of?:int size?:int layers?:[LayerFit] closest?:[text] closest_fit?:int places?:int kept_off?:[KeptOff] others?:int"
    " if_empty?:flag left_over?:int",
    "LayerFit": "level:text fit:int of:int",
    "KeptOff": "cause:taint|selector|affinity|outside|resource detail?:text places:int",
    "Operand": "name:text value:text",
    "Source": "name:text file:text line:amount",
    "Limit": "node:text limit:owned|borrowing|capacity flavor:text resource:text asked:int available:int deficit:int source:Source|null",
}
"""The fields of what stands inside an event."""

WORDS = {
    "State": ("Pending", "Ready", "Retry", "Rejected"),
    "Outcome": ("no fit", "no candidates", "overtaken", "overlapping", "preempting", "deferred", "turned away", "no room", "let in"),
    "Operator": ("In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt"),
    "Effect": ("", "NoSchedule", "NoExecute", "PreferNoSchedule"),
    "Hindrance": (
        *("unserved", "lacks-resource", "missing", "taint", "not-selected", "too-large", "not-nominated", "other-flavor", "exceeds"),
        *("short", "without-places", "only-with-places", "no-level", "no-places", "several-placed"),
    ),
}
"""Texts of which one stands in a field."""


class UnknownEventError(ValueError):
    """A kind of event, or a version of one, that the page does not have."""


class FormError(ValueError):
    """A payload is not in the one form; the text says in plain words what is wrong."""


def parsed(payload: bytes) -> Event:
    """The event that a payload is. Raises FormError, or UnknownEventError where it is of a kind or version that the page does not have."""
    try:
        event = json.loads(payload.decode(), object_pairs_hook=without_repeats)
    except ValueError as error:
        raise FormError(f"its payload is no JSON in UTF-8: {error}") from error
    if not isinstance(event, dict) or list(event)[:3] != ["kind", "v", "time"]:
        raise FormError("its payload does not begin with kind, v and time")
    kind = event["kind"]
    if event["v"] != 1 or (kind not in FACTS and kind not in DECISIONS):
        raise UnknownEventError(f"kind {kind!r}, version {event['v']!r} is none that this program knows")
    if json.dumps(event, ensure_ascii=False, separators=(",", ":")).encode() != payload:
        raise FormError("its payload is not in the one form: spaces or escapes that need not be")
    check_fields(kind, event, event_fields(kind))
    return event


def without_repeats(pairs: list[tuple[str, Any]]) -> Event:
    """An object of JSON; one that says a field twice is none."""
    if len(dict(pairs)) != len(pairs):
        raise ValueError("a field stands twice in one object")
    return dict(pairs)


def event_fields(kind: str) -> str:
    """All fields of a kind with their types, in their order."""
    first = "kind:text v:int time:time"
    return f"{first} {FACTS[kind]}" if kind in FACTS else f"{first} cause:amount {DECISIONS[kind]}"


@cache
def read_fields(said: str) -> tuple[re.Pattern[str], dict[str, tuple[str, ...]]]:
    """What the names of the fields together have to match, and the types of each."""
    types = {name.rstrip("?"): tuple(kinds.split("|")) for name, _, kinds in (field.partition(":") for field in said.split())}
    names = (field.partition(":")[0] for field in said.split())
    return re.compile("".join(f"({name[:-1]} )?" if name.endswith("?") else f"{name} " for name in names)), types


def check_fields(where: str, value: Any, said: str) -> None:
    """An object has these fields in this order, each of its type. Raises FormError."""
    if not isinstance(value, dict):
        raise FormError(f"{where} is no object")
    order, types = read_fields(said)
    if not order.fullmatch("".join(f"{name} " for name in value)):
        raise FormError(f"{where} does not have the fields of the page in their order, but {', '.join(value) or 'none'}")
    for name, each in value.items():
        check_type(f"{where}.{name}", each, types[name])


def check_type(where: str, value: Any, types: tuple[str, ...]) -> None:
    """A value is of one of the types. Raises FormError."""
    for kind in types:
        if kind in PARTS and isinstance(value, dict):
            return check_fields(where, value, PARTS[kind])
        if kind.startswith("[") and isinstance(value, list):
            for number, each in enumerate(value):
                check_type(f"{where}[{number}]", each, (kind[1:-1],))
            return None
        if kind.endswith("}") and isinstance(value, dict):
            if kind.startswith("sorted") and list(value) != sorted(value):
                raise FormError(f"the keys of {where} are not sorted")
            for key, each in value.items():
                check_type(f"{where}[{key!r}]", each, (kind[kind.index("{") + 1 : -1],))
            return None
        if is_plain(value, kind):
            return None
    raise FormError(f"{where} is {value!r}, and should be {' or '.join(types)}")


def is_plain(value: Any, kind: str) -> bool:
    """Whether a value is of a type without parts, or is the very word that stands in its place."""
    if kind == "flag":
        return isinstance(value, bool)
    if kind in ("int", "amount", "time"):
        return isinstance(value, int) and not isinstance(value, bool) and (kind == "int" or value >= 0)
    if kind == "null":
        return value is None
    if kind == "digest":
        return isinstance(value, str) and re.fullmatch("sha256:[0-9a-f]{64}", value) is not None
    if kind == "Terms":
        check_type("affinity", value, ("[Requirement]",))
        return True
    if kind in WORDS:
        return value in WORDS[kind]
    return isinstance(value, str) if kind == "text" else value == kind
