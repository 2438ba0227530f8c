"""state: the cluster as it was at a moment of its journal."""

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

import click

from ...journal.errors import JournalError
from ..shared.journals import refuse_use, whole_part
from ..shared.moments import asked_time, find_moment, moment
from ..shared.options import journal_place, no_snapshot, pod_asking, with_format
from ..shared.output import GOOD, Format, refuse
from ..shared.progress import progress

if TYPE_CHECKING:
    from ...engine.event_parts import PodSet
    from ...engine.nodes.inventory import Machine
    from ...engine.policy_graph import PolicyGraph
    from ...sim.measure.cluster_figures import ClusterFigures, NodeFigures, WorkloadRow


@click.command()
@journal_place
@moment
@click.option("--queue", metavar="Q", help="this queue or cohort and what is below it, by flavor and resource")
@click.option("--workloads", is_flag=True, help="also the workloads that are not over")
@click.option("--nodes", is_flag=True, help="also the nodes of flavors that give pods places, with who stands there")
@click.option("--fits", metavar="AMOUNTS", help="also how many pods that each ask for so much find room, such as '8 gpu, 64 cpu'")
@no_snapshot
@with_format
def state(
    journal: str,
    at: str | None,
    queue: str | None,
    workloads: bool,
    nodes: bool,
    fits: str | None,
    no_snapshot: bool,
    form: Format,
) -> int:
    """Show the cluster as it was: the policy, what existed, who owned and used how much, who ran and who waited."""
    from ...compiled.core_to_ask import quickly
    from ...engine.questions.standing_room import places_of, room_for
    from ...journal.read.as_of import core_at
    from ...journal.recorded_policies import last_activation
    from ...sim.measure.cluster_figures import cluster_of, live_workloads
    from .state_output import print_json, print_places, print_room, print_tables

    shape = pod_asking("--fits", fits) if fits is not None else None
    try:
        with whole_part(journal) as part:
            read = part.journal
            with progress("going through events", read.head.seq) as tick:
                core = part.state(lambda: core_at(read, find_moment(read, at), snapshots=not no_snapshot, progress=tick))
                asked = part.state(lambda: asked_time(read, at))
            if core.graph is not None and (nodes or shape is not None):
                _check_placed(core.graph, "--nodes" if nodes else "--fits")
                _check_known(core.graph, core.view.machines(), shape)
            cluster = cluster_of(core)
            places = _below(cluster, queue)
            policy = last_activation(read, core.seq)
            live = list(_live(cluster, live_workloads(quickly(core), read, _queues(places, queue)))) if workloads else None
            if form is Format.json:
                print_json(cluster, policy, places, live)
            else:
                print_tables(cluster, policy, places, live, form, whole=queue is None, asked=asked)
            if core.graph is not None and (nodes or shape is not None):
                there = core.view.machines(), core.view.workloads()
                if nodes:
                    print_places(core.graph, places_of(core.graph, *there), form)
                if shape is not None:
                    print_room(core.graph, shape, list(room_for(core.graph, *there, shape)), form)
    except JournalError as error:
        refuse_use(error)
    return GOOD


def _below(cluster: "ClusterFigures", name: str | None) -> "list[NodeFigures]":
    """A place and all below it, without a name all there are. Ends the command for a name that is none."""
    if name is None:
        return list(cluster.places)
    start = next((number for number, place in enumerate(cluster.places) if place.name == name), None)
    if start is None:
        from ...dsl.syntax.names import closest, listed

        names = [place.name for place in cluster.places]
        near = closest(name, names)
        known = f"did you mean {near}?" if near else f"it had {listed(names, like=name)}"
        refuse(f"--queue: the policy had no queue or cohort `{name}` then; {known}")
    first, *rest = cluster.places[start:]
    end = next((number for number, place in enumerate(rest) if place.depth <= first.depth), len(rest))
    return [first, *rest[:end]]


def _check_placed(graph: "PolicyGraph", option: str) -> None:
    if all(flavor.topology < 0 for flavor in graph.flavors):
        refuse(f"{option}: no flavor of the policy gave pods places then; leave the option out, or let a flavor be `placed`")


def _check_known(graph: "PolicyGraph", machines: "Mapping[str, Machine]", shape: "PodSet | None") -> None:
    """End the command for a resource that no node has where pods get places: it is misspelled, or nothing fits anywhere."""
    from ...dsl.syntax.names import closest, listed
    from ...engine.event_parts import POD_COUNT

    nodes = [machines[name] for name in sorted(machines) if machines[name].flavor >= 0]
    placing = [each for each in nodes if graph.flavors[each.flavor].topology >= 0]
    having = sorted({resource for each in placing for resource, amount in each.capacity.items() if amount > 0} | {POD_COUNT})
    for resource in shape.requests if shape is not None and placing else ():
        if resource not in having:
            near = closest(resource, having)
            known = f"did you mean {near}?" if near else f"nodes have {listed(having, like=resource)}"
            refuse(f"--fits: no node on which pods get places had any {resource} then; {known}")


def _queues(places: "list[NodeFigures]", name: str | None) -> frozenset[str] | None:
    """The queues that workloads are wanted of; None: of all, and of no queue."""
    return None if name is None else frozenset(place.name for place in places if place.is_queue)


def _live(cluster: "ClusterFigures", workloads: "Iterator[WorkloadRow]") -> "Iterator[WorkloadRow]":
    total = cluster.in_no_queue + sum(place.running + place.waiting for place in cluster.places if place.is_queue)
    with progress("explaining", total) as tick:
        for number, workload in enumerate(workloads, start=1):
            tick(number)
            yield workload
