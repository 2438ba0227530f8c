"""A decision of Kueue that gpol would have made otherwise: what Kueue did and what it says of it, what gpol would have done, and why."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from .....engine.event_parts import Assignment, Placement
from .....engine.events import WorkloadAdmitted, WorkloadEvicted, WorkloadReplaced
from .....engine.units import format_time
from ....live.wording import told

VERSION = 1
"""The version of the form in which differences are written down."""

DifferenceKind = Literal["admitted", "other flavors", "passed over", "preempted", "other victims", "not preempted", "other preemptor"]
"""What differs. Kueue alone admits a workload, or preempts for it; it gives it other flavors, takes other victims, or evicts the same one
for another; or gpol alone would admit it (`passed over`) or preempt for it (`not preempted`)."""

GpolDecision = WorkloadAdmitted | WorkloadEvicted | WorkloadReplaced
"""A decision of gpol that Kueue may make as well."""

_LONGEST = 6
"""So many workloads are named in a line."""


@dataclass(frozen=True, slots=True)
class KueueSide:
    """What Kueue did: `flavors` by pod set and resource; whom it preempted, for whom (names), with its own reason and message."""

    did: Literal["admitted", "preempted", "nothing"]
    reason: str = ""
    message: str = ""
    queue: str = ""
    flavors: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    victims: tuple[str, ...] = ()
    preemptor: str = ""


@dataclass(frozen=True, slots=True)
class GpolSide:
    """What gpol would have done: `text` says it with the line of the policy, `why` is the same as data (a decision, or a standing).

    `instead` are the decisions of gpol at that moment that Kueue did not make, `early` the workloads about which Kueue decided only later
    what gpol had decided by then: there the two may have parted.
    """

    would: Literal["admit", "preempt", "wait"]
    text: str
    why: Mapping[str, Any]
    flavors: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    victims: tuple[str, ...] = ()
    instead: tuple[GpolDecision, ...] = ()
    early: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class KueueDifference:
    """A difference about a workload; for a preemption it is the one for whom others go, where Kueue names it.

    `time` is when Kueue did it or, where it did nothing, when gpol would have; microseconds. `left_out` counts the workloads that gpol
    could not represent at that moment: what they hold is missing. `event` is the fact of the journal that takes what Kueue did as it is.
    """

    kind: DifferenceKind
    workload: str
    uid: str
    time: int
    kueue: KueueSide
    gpol: GpolSide
    left_out: int = 0
    journal: str = ""
    event: int = 0

    @property
    def text(self) -> str:
        """One line."""
        return f"{self._kueue}; gpol would {self._gpol}"

    def as_json(self) -> str:
        """One line of a file of differences."""
        kueue, gpol = self.kueue, self.gpol
        said = {
            "v": VERSION,
            "time": format_time(self.time),
            "kind": self.kind,
            "workload": self.workload,
            "uid": self.uid,
            "kueue": {
                "did": kueue.did,
                "reason": kueue.reason,
                "message": kueue.message,
                "queue": kueue.queue,
                "flavors": {name: dict(kueue.flavors[name]) for name in kueue.flavors},
                "victims": list(kueue.victims),
                "preemptor": kueue.preemptor,
            },
            "gpol": {
                "would": gpol.would,
                "flavors": {name: dict(gpol.flavors[name]) for name in gpol.flavors},
                "victims": list(gpol.victims),
                "text": gpol.text,
                "why": gpol.why,
                "instead": [_decision(each) for each in gpol.instead],
                "early": list(gpol.early),
            },
            "text": self.text,
            "left_out": self.left_out,
            "journal": self.journal,
            "event": self.event,
        }
        return json.dumps(said, ensure_ascii=False, separators=(",", ":"))

    @property
    def _kueue(self) -> str:
        kueue, says = self.kueue, f" ({self.kueue.reason})" if self.kueue.reason else ""
        match kueue.did:
            case "admitted":
                return f"Kueue has admitted {self.workload} to {kueue.queue}{flavors_told(kueue.flavors)}"
            case "preempted":
                return f"Kueue has preempted {_named(kueue.victims)} for {kueue.preemptor or 'somebody'}{says}"
            case _:
                return f"Kueue lets {self.workload} wait{says}"

    @property
    def _gpol(self) -> str:
        gpol = self.gpol
        match gpol.would:
            case "admit":
                what = f"admit {self.workload}{flavors_told(gpol.flavors)}"
            case "preempt":
                what = f"preempt {_named(gpol.victims)} for {self._gpols_preemptor}"
            case _:
                what = "not"
        return f"{what}: {gpol.text}"

    @property
    def _gpols_preemptor(self) -> str:
        found = (each.beneficiary for each in self.gpol.instead if isinstance(each, WorkloadEvicted) and each.beneficiary is not None)
        return next(found, self.workload) if self.kind == "other preemptor" else self.workload


def flavors_of(given: Sequence[Assignment] | Sequence[Placement]) -> dict[str, dict[str, str]]:
    """The flavors of each pod set by resource."""
    return {each.pod_set: {resource: each.flavors[resource] for resource in sorted(each.flavors)} for each in given}


def flavors_told(flavors: Mapping[str, Mapping[str, str]]) -> str:
    """Flavors in words."""
    said = [f"{pod_set}: {', '.join(f'{by[key]} for {key}' for key in by)}" for pod_set, by in flavors.items() if by]
    return f" ({'; '.join(said)})" if said else ""


def decision_data(decision: GpolDecision) -> dict[str, Any]:
    """A decision as data."""
    data: dict[str, Any] = json.loads(decision.payload())
    return data


def _decision(decision: GpolDecision) -> dict[str, Any]:
    return {"text": told(decision), **decision_data(decision)}


def _named(workloads: Sequence[str]) -> str:
    shown = ", ".join(workloads[:_LONGEST])
    return shown + (f" and {len(workloads) - _LONGEST} more" if len(workloads) > _LONGEST else "")
