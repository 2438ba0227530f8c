"""What a Workload on a cluster says at one moment: the one thing that gpol's facts and writes follow from."""

import json
from collections.abc import Mapping
from dataclasses import dataclass

from ....engine.event_parts import CheckState
from ....engine.nodes.domains import DomainPath
from ...kubernetes.api import Plain
from ...kubernetes.plain_parts import part_of, rows_of
from ..problems import Findings
from ..read.fields import Fields
from ..read.objects import KueueWorkload
from ..read.topology.refused_places import refuse_places
from ..read.workloads import workload as read_workload
from .place_selectors import read_place
from .protocol import DECIDED, DECISION, FLAVORS, PLACE, SLICE_REPLACED, WORKLOAD_UID, Mark


@dataclass(frozen=True, slots=True)
class Observed:
    """A Workload as it is.

    `asked` is what it asks for; None where gpol cannot decide about it, for the reason in `problem`. `check` is the state of gpol's check,
    empty where the workload has none, and `message` what it says. `evicted` is Kueue's reason to stop it, empty where it does not. `mark`
    is the decision that was carried out last, and `marked` the condition that says so. `flavors` are those with which it runs, by pod set
    and resource, `places` where its pods stand, by pod set, of those that have a place.
    """

    uid: str
    asked: KueueWorkload | None
    problem: str
    cluster_queue: str
    check: CheckState | str
    message: str
    is_active: bool
    is_finished: bool
    is_replaced: bool
    is_being_deleted: bool
    has_quota: bool
    is_admitted: bool
    evicted: str
    mark: Mark | None
    marked: Plain
    flavors: Mapping[str, Mapping[str, str]]
    places: Mapping[str, DomainPath]

    @property
    def asks(self) -> bool:
        """Whether it waits for gpol's decision: Kueue has reserved quota for it, and nothing of it runs."""
        waits = self.check == "Pending" and self.has_quota and not self.is_admitted and not self.evicted
        return waits and self.is_active and not self.is_finished and not self.is_being_deleted

    @property
    def runs(self) -> bool:
        """Whether it runs, or starts to by gpol's answer, and nobody has told it to stop.

        Kueue lets one run on that was admitted, though its check says Pending since, or is gone.
        """
        goes_on = self.check == "Ready" or (self.is_admitted and self.check in ("Pending", ""))
        return goes_on and self.has_quota and not self.evicted and not self.is_finished

    @property
    def is_answered(self) -> bool:
        """Whether it runs, or starts to, as gpol's check says Ready: by a decision of gpol, or by somebody's hand."""
        return self.check == "Ready" and self.runs

    @property
    def has_stale_answer(self) -> bool:
        """Whether gpol's answer stands though Kueue has taken the quota back, or stops it: it would count for the next reservation."""
        return self.check in ("Ready", "Retry", "Rejected") and (not self.has_quota or bool(self.evicted)) and not self.is_finished

    @property
    def may_run(self) -> bool:
        """Whether pods of it may run: gpol's check says so, or Kueue has not taken back yet what it gave."""
        return not self.is_finished and (self.runs or self.is_admitted or (self.has_quota and bool(self.evicted)))


def observe(plain: Plain, check: str) -> Observed:
    """Read a Workload, in which gpol's check has this name."""
    found = Findings()
    metadata, spec, status = part_of(plain, "metadata"), part_of(plain, "spec"), part_of(plain, "status")
    namespace, name = str(metadata.get("namespace", "")), str(metadata.get("name", ""))
    found.begin("Workload", f"{namespace}/{name}", "")
    true = {each.get("type"): each for each in rows_of(status, "conditions") if each.get("status") == "True"}
    answer = next((each for each in rows_of(status, "admissionChecks") if each.get("name") == check), {})
    marked = next((each for each in rows_of(status, "conditions") if each.get("type") == DECIDED), {})
    asked = read_workload(namespace, name, "", Fields(plain, "", found))
    refuse_places(asked, found)
    problem = str(found.problems[0]) if found.problems else _reserved(f"{namespace}/{name}", spec)
    return Observed(
        uid=str(metadata.get("uid", "")),
        asked=None if problem else asked,
        problem=problem,
        cluster_queue=str(part_of(status, "admission").get("clusterQueue", "")),
        check=str(answer.get("state", "")),
        message=str(answer.get("message", "")),
        is_active=spec.get("active") is not False,
        is_finished="Finished" in true,
        is_replaced=true.get("Finished", {}).get("reason") == SLICE_REPLACED,
        is_being_deleted=bool(metadata.get("deletionTimestamp")),
        has_quota="QuotaReserved" in true,
        is_admitted="Admitted" in true,
        evicted=str(true["Evicted"].get("reason") or "Evicted") if "Evicted" in true else "",
        mark=Mark.read(str(marked.get("reason", ""))),
        marked=marked,
        flavors={str(each.get("name", "")): _flavors(each) for each in rows_of(answer, "podSetUpdates")},
        places={str(each.get("name", "")): place for each in rows_of(answer, "podSetUpdates") if (place := _place(each))},
    )


def _reserved(key: str, spec: Plain) -> str:
    """What a pod template says that gpol has to say; empty where it says nothing of the kind. Kueue finishes a workload for good whose
    template differs from what its checks say."""
    for pods in rows_of(spec, "podSets"):
        metadata = part_of(part_of(pods, "template"), "metadata")
        for field, names in (("labels", (WORKLOAD_UID,)), ("annotations", (DECISION, FLAVORS, PLACE))):
            for name in names:
                if name in part_of(metadata, field):
                    return f"{key}: its pod template has `{name}` among its {field}, which gpol writes; remove it from the job"
    return ""


def _flavors(update: Plain) -> dict[str, str]:
    """The flavor of each resource of a pod set, as gpol has written it into its annotations."""
    try:
        said = json.loads(str(part_of(update, "annotations").get(FLAVORS, "{}")))
    except (ValueError, RecursionError):
        said = {}
    return {str(resource): str(said[resource]) for resource in sorted(said)} if isinstance(said, dict) else {}


def _place(update: Plain) -> DomainPath:
    """Where the pods of a pod set stand, as gpol has written it into its annotations."""
    return read_place(str(part_of(update, "annotations").get(PLACE, "")))
