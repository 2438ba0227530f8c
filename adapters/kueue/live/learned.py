"""What gpol learns from a Workload as it is: the facts that lie between what the core knows of it and what it is.

Facts follow from the two states alone, and never from the events of a watch: several changes at once are as good as each by itself, a
change that was seen twice is one, and after a restart nothing is needed but the journal and the cluster.

A workload that Kueue stops by itself, or that it takes its quota from, is evicted by the operator `kueue`, and held until Kueue has
reserved quota for it again. One that gpol evicts is held in the same way: until then it could not take another decision.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, Literal, NamedTuple

from ....engine.event_parts import PlacedPods, Placement
from ....engine.facts import Fact, OperatorAction, WorkloadAdopted, WorkloadSubmitted, WorkloadUpdated
from ....engine.intake.routing import matching_queues
from ....engine.policy_graph import PolicyGraph
from ....engine.workload import NOWHERE, Workload
from ...kubernetes.nodes import NodeFact
from ...kubernetes.resource_names import in_policy_names
from ...live.learned_facts import Learned, finished, gone, is_let_in_otherwise
from ..import_.facts import Moment, facts
from ..policy_names import kueue_name
from ..problems import Findings
from ..read.objects import KueueLocalQueue, KueueWorkload, Objects
from .observed import Observed
from .place_selectors import asking_as_it_has_to, asks_as_it_has_to, can_be_said, cannot_be_placed, lacks_places, place_again
from .protocol import Mark

_ONE = Fraction(1)

_ASTRAY = (
    "runs, and nobody knows on which nodes: it holds quota and no node, and pods of others that are sent to its nodes wait there until it "
    "ends; stop it once, and it gets places when it is let run again"
)

KUEUE = "kueue"
"""The operator that evicts, holds and releases workloads where Kueue does."""


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What else decides where a workload belongs: the policy, the labels of its namespace (None: the namespace was not seen yet), what
    resources of the policy are called in the cluster, where that is another name, the queues by what their ClusterQueues are called,
    the nodes as the journal has them, and whether the workload may ask anew: once in a look, whatever comes of it."""

    graph: PolicyGraph
    labels: Mapping[str, str] | None
    names: Mapping[str, str]
    queues: Mapping[str, str]
    nodes: Mapping[str, NodeFact]
    may_ask_anew: bool = True

    def requests(self, asked: Mapping[str, int]) -> dict[str, int]:
        """What one pod asks for, by the policy's names of resources."""
        return in_policy_names(asked, self.graph, self.names)


class SliceStanding(NamedTuple):
    """Of a slice of an elastic job: whose place it takes that still runs (empty: nobody), and whether a later one goes on with its pods."""

    replaces: str
    has_later: bool


ALONE = SliceStanding("", False)
"""A workload that is no slice, or the only one."""


def learn(
    observed: Observed, known: Workload | None, decided: Mark | None, around: Surroundings, now: int, slices: SliceStanding = ALONE
) -> Learned:
    """The next facts about a workload that is there; there may be more once these were decided. None: all is known.

    `known` is what the core knows under its name, and `decided` the event of the journal that says what is to become of it: None where
    there is none, as it waits for the first decision, runs as it was adopted, or was let run in a life that is over in the journal.
    """
    if known is not None and known.fact.uid != observed.uid:
        return Learned(gone(known, now))
    if observed.is_finished:
        goes_on = observed.is_replaced and slices.has_later and known is not None and known.admitted is not None
        return Learned(() if goes_on else tuple(finished(known, now)))
    if known is None:
        return _new(observed, decided, around, now, slices.replaces)
    if known.admitted is not None:
        return _of_running(observed, known, decided, around, now)
    if known.held_by_owner:
        return _adoption(observed, known, around, now)
    if _may_ask_anew(observed, around) and not asks_as_it_has_to(around.graph, known.fact):
        return _asked_anew(observed, known, around, now)
    return Learned(tuple(_of_waiting(observed, known, around, now)))


# --- one that is new ------------------------------------------------------------------------------------------------


def _new(observed: Observed, decided: Mark | None, around: Surroundings, now: int, replaces: str) -> Learned:
    """A workload that the core does not know: it asks, or it runs by a decision of another journal, or of a life that is over in this one,
    and is adopted next. One that runs, and that no queue of the policy takes, is left alone: to submit it would turn it away.

    One that was turned away asks again only once that was carried out: Kueue has deactivated it then, and its owner activated it. One whose
    place another slice of its job has taken runs until Kueue has finished it.
    """
    is_running = observed.is_answered and decided is None
    if is_running and observed.mark is None and not observed.flavors:  # somebody else has written Ready: it is stopped
        return Learned()
    if not is_running and not (observed.asks and (decided is None or was_carried_out(observed, decided))):
        return Learned()
    if observed.asked is None:
        return Learned(problem=observed.problem)
    if around.labels is None:  # it is looked at again as soon as its namespace is seen
        return Learned()
    submitted = _submission(replace(observed.asked, replaces=replaces), observed.cluster_queue, around, now)
    if isinstance(submitted, str):
        return Learned(problem=submitted)
    if is_running and (astray := _astray(submitted, observed.asked.queue, observed.cluster_queue, around.graph)):
        return Learned(problem=f"{submitted.workload}: runs already, and {astray}; it is left alone, and counts for nothing until it ends")
    return Learned((submitted.model_copy(update={"hold": is_running}),))


def _astray(submitted: WorkloadSubmitted, local_queue: str, cluster_queue: str, graph: PolicyGraph) -> str:
    """Why a workload belongs to no queue of the policy, and what to do; empty where it belongs to one."""
    found = matching_queues(graph, submitted)
    if len(found) == 1:
        return ""
    if found:
        names = ", ".join(f"`{graph.nodes[node].name}`" for node in found)
        return f"belongs to several queues of the policy ({names}); let only one of them be for it"
    names = f"ClusterQueue `{cluster_queue}`, its LocalQueue `{submitted.namespace}/{local_queue}`"
    return f"no queue of the policy is for it: not by its {names} or a `for` rule; give the policy such a queue"


def was_carried_out(observed: Observed, decided: Mark) -> bool:
    """Whether a decision has left its mark, or a later one has."""
    return observed.mark is not None and observed.mark.journal == decided.journal and observed.mark.seq >= decided.seq


def _submission(asked: KueueWorkload, cluster_queue: str, around: Surroundings, now: int) -> WorkloadSubmitted | str:
    """The submission of a workload; or why there can be none. Kueue has reserved quota for all pods: there cannot be fewer any more."""
    if wrong := cannot_be_placed(asked, around.graph):
        return f"{asked.key}: {wrong}"
    local = KueueLocalQueue(asked.namespace, asked.queue, "", cluster_queue, weight=_ONE, stop="None")
    plain = replace(
        asked,
        pod_sets=tuple(replace(pods, min_count=None, requests=around.requests(pods.requests)) for pods in asked.pod_sets),
        admission=None,
        held="",
        backs_off_until=None,
        requeued=None,
        timed_out=False,
        checks={},
        reclaimable={},
        finished=False,
        created=None if asked.created is None else min(asked.created, now),
    )
    namespaces = {asked.namespace: dict(around.labels or {})}
    found = Findings()
    objects = Objects(local_queues=[local], workloads=[plain], namespaces=namespaces)
    made = facts(objects, Moment(now, in_cycles=around.graph.settings.defers), found)
    if found.problems:
        return str(found.problems[0])
    submitted = next((fact for fact in made if isinstance(fact, WorkloadSubmitted)), None)
    if submitted is None:
        return f"{asked.key}: has no pods; give it at least one"
    submitted = asking_as_it_has_to(around.graph, submitted)
    by_local_queue = submitted.local_queue is not None and submitted.local_queue in around.graph.doors.by_local_queue
    if by_local_queue:
        return submitted.model_copy(update={"queue": None})
    queue = around.queues.get(cluster_queue)
    entry = submitted.local_queue if queue is not None else None  # None: the match rules of the policy decide
    return submitted.model_copy(update={"queue": queue, "local_queue": entry})


def queues_by_cluster_queue(graph: PolicyGraph) -> dict[str, str]:
    """The queues of a policy by what their ClusterQueues are called."""
    return {kueue_name(name): name for name in graph.doors.named}


def _adoption(observed: Observed, known: Workload, around: Surroundings, now: int) -> Learned:
    """What a workload holds that ran already when it was submitted: its pods, on the flavors and in the places that their annotations say.

    With that it has lost a node where it stands and that is not there, so nothing more is said of it.
    """
    graph = around.graph
    if not observed.may_run:
        action: Literal["hold", "release"] = "release" if observed.asks else "hold"
        is_told = action == "hold" and known.held_by_operator == KUEUE
        note = "it has stopped meanwhile"
        acted = OperatorAction(time=now, by=KUEUE, action=action, workload=known.name, note=note)
        return Learned() if is_told else Learned((acted,))
    placements = []
    for pods, left in known.pod_sets():
        flavors = dict(observed.flavors.get(pods.name, {}))
        usage = {resource: amount * left for resource, amount in pods.requests.items() if resource in flavors}
        if len(usage) < sum(resource not in graph.ignored for resource in pods.requests) or known.queue == NOWHERE:
            cause = "runs by no decision that counts in this journal, and its pods do not say on which flavors"
            return Learned(problem=f"{known.name}: {cause}; it is left alone, and counts for nothing until it ends")
        domain = place_again(observed.places.get(pods.name, ()), flavors, graph) if left else ()
        places = (PlacedPods(domain=domain, pods=left),) if domain else ()
        placements.append(Placement(pod_set=pods.name, count=left, flavors=flavors, usage=usage, places=places))
    queue = graph.nodes[known.queue].name
    return Learned((WorkloadAdopted(time=now, workload=known.name, queue=queue, since=now, placements=tuple(placements)),))


# --- one that is known ----------------------------------------------------------------------------------------------


def _of_running(observed: Observed, known: Workload, decided: Mark | None, around: Surroundings, now: int) -> Learned:
    """The core has let it run. Either that was carried out, and it runs on; or it is still to be, and the workload still waits for it.

    What was decided and cannot be said to it any more, as its node is gone or cordoned, or the policy is another one since, is asked anew.
    """
    if decided is None or was_carried_out(observed, decided):
        runs_on, why = observed.runs, observed.evicted or _why_stopped(observed)
    elif _may_ask_anew(observed, around) and not can_be_said(known.assignments, around.graph, around.nodes):
        return _asked_anew(observed, known, around, now)
    else:
        runs_on, why = observed.asks, _why_not(observed)
    if not runs_on:
        return Learned((OperatorAction(time=now, by=KUEUE, action="evict", workload=known.name, note=why),))
    told = f"{known.name}: {_ASTRAY}" if observed.runs and lacks_places(known, around.graph) else ""
    return Learned(tuple(_updates(observed, known, now)), told)


def _why_stopped(observed: Observed) -> str:
    return f"its admission check says {observed.check}" if observed.has_quota else "Kueue has taken its quota back"


def _of_waiting(observed: Observed, known: Workload, around: Surroundings, now: int) -> Iterator[Fact]:
    """It waits: held for as long as Kueue has no quota reserved for it, or has not stopped it yet. It asks anew where the labels of its
    namespace have changed so that its queue admits it, or does so no more."""
    is_held = known.held_by_operator == KUEUE
    if observed.asks and not is_held and around.labels is not None and is_let_in_otherwise(around.graph, known, around.labels):
        yield from _asked_anew(observed, known, around, now).facts
        return
    if not observed.asks and not is_held:
        yield OperatorAction(time=now, by=KUEUE, action="hold", workload=known.name, note=_why_not(observed))
    yield from _updates(observed, known, now)
    if observed.asks and is_held:
        yield OperatorAction(time=now, by=KUEUE, action="release", workload=known.name, note="Kueue has reserved quota for it again")


def _may_ask_anew(observed: Observed, around: Surroundings) -> bool:
    """Whether a workload that waits for an answer may ask for the same again."""
    return observed.asks and around.labels is not None and around.may_ask_anew


def _asked_anew(observed: Observed, known: Workload, around: Surroundings, now: int) -> Learned:
    """A workload that waits asks for the same again. What was decided about it before stays as it is."""
    asked = observed.asked
    if asked is None:
        return Learned(problem=observed.problem)
    again = _submission(replace(asked, replaces=known.fact.replaces or ""), observed.cluster_queue, around, now)
    return Learned(gone(known, now), again) if isinstance(again, str) else Learned((*gone(known, now), again))


def _why_not(observed: Observed) -> str:
    """Why a workload does not wait for a decision of gpol."""
    if not observed.is_active:
        return "it is not active"
    if observed.evicted:
        return f"Kueue stops it: {observed.evicted}"
    if not observed.has_quota:
        return "Kueue has no quota reserved for it"
    if observed.runs:
        return "it runs by an earlier decision" if observed.mark is not None else "it runs by no decision that it shows"
    return f"its admission check says {observed.check or 'nothing'}"


def _updates(observed: Observed, known: Workload, now: int) -> Iterator[Fact]:
    """What it asks for has changed: its priority, pods that are done."""
    asked = observed.asked
    if asked is None:
        return
    said: dict[str, Any] = {}
    if asked.priority != known.asked_priority:
        said["priority"] = asked.priority
    counts = {pod_set.name: pod_set.count - left for pod_set, left in known.pod_sets()}
    done = {
        name: asked.reclaimable[name] for name in asked.reclaimable if asked.reclaimable[name] > counts.get(name, asked.reclaimable[name])
    }
    if done:
        said["reclaimable"] = done
    if said:
        yield WorkloadUpdated(time=now, workload=known.name, **said)
