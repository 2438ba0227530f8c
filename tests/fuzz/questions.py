"""Everything about a core that can be asked, as one value to compare: its state as it is read, and what would be."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from gpol.engine.cores import Core, Probe
from gpol.engine.explain.pending import standing
from gpol.engine.policy_graph import PolicyGraph
from gpol.engine.workload import Workload

MOST_EXPLAINED = 3
"""So many workloads are explained."""

MOST_NOMINATED = 6
"""So many waiting workloads are nominated for the answers, as that costs most."""


def answers(core: Core) -> list[tuple[str, Any]]:
    """Questions with their answers; two cores in the same state have the same ones."""
    graph = core.graph
    return [] if graph is None else [*_state(core, graph), *_probe(core, graph), *_standings(core)]


# Keys of lines and shapes are a core's own affair; what comes of them is asked of lines.


def _state(core: Core, graph: PolicyGraph) -> Iterator[tuple[str, Any]]:
    view = core.view
    yield "numbers", (core.seq, core.time, view.submissions, view.cause)
    yield "names", list(view.names())
    yield "workloads", [replace(each, shape="", place=() if each.in_line else None) for each in view.workloads()]
    yield "machines", list(view.machine_flavors())
    for slot in range(len(graph.slots)):
        yield f"capacity of slot {slot}", view.capacity(slot)
        for node in range(len(graph.nodes)):
            yield f"use of slot {slot} by node {node}", (view.used(node, slot), view.owned(node, slot))
    for queue in graph.queues:
        for local in queue.local_queues:
            yield f"consumed by {local.name}", dict(view.consumed(local.name))


def _probe(core: Core, graph: PolicyGraph) -> Iterator[tuple[str, Any]]:
    probe = core.probe
    for node in range(len(graph.nodes)):
        yield f"share of node {node}", probe.share(node)
        yield f"owned by node {node}", [probe.owned(node, slot) for slot in range(len(graph.slots))]
    for queue in (queue.node for queue in graph.queues):
        yield f"line of queue {queue}", list(probe.line(queue))
        yield f"head of queue {queue}", probe.head(queue)
        yield f"inactive queue {queue}", probe.is_inactive(queue)
        slots = range(len(graph.slots))
        yield f"room of queue {queue}", [(probe.available(queue, slot), probe.most(queue, slot)) for slot in slots]
    if not graph.settings.defers:
        yield "reservations", list(probe.reservations())
    waiting = [workload for workload in core.view.workloads() if workload.admitted is None and workload.queue >= 0]
    for workload in waiting:
        yield f"holds of {workload.name}", list(probe.holds(workload.name))
        yield f"superiors of {workload.name}", sorted(probe.superiors(workload.name))
        yield f"usage of {workload.name}", probe.usage_of(workload.name)
    running = [workload for workload in core.view.workloads() if workload.admitted is not None]
    for workload in [workload for workload in waiting if workload.in_line][:MOST_NOMINATED]:
        yield from _nomination(probe, workload)
        yield from _victims(probe, workload, running)


def _nomination(probe: Probe, workload: Workload) -> Iterator[tuple[str, Any]]:
    nomination = probe.nominate(workload.name)
    yield f"nomination of {workload.name}", nomination
    yield f"limit of {workload.name}", (probe.binding_limit(nomination))


def _victims(probe: Probe, workload: Workload, running: list[Workload]) -> Iterator[tuple[str, Any]]:
    """Who may go for a workload, and whether it would fit were it to ask for what each of them has."""
    names = [each.name for each in running]
    for policy in ("lower", "lower-or-newer", "any", "nothing"):
        yield f"{workload.name} may evict: {policy}", [name for name in names if probe.may_evict(workload.name, name, policy)]
    for each in running[:MOST_NOMINATED]:
        about = f"what {each.name} has, for {workload.name}"
        yield f"fits: {about}", (probe.fits(workload.queue, each.usage), probe.limit(workload.queue, each.usage))


def _standings(core: Core) -> Iterator[tuple[str, Any]]:
    """Why workloads wait and what would admit them: telling that asks a core nearly everything there is to ask."""
    for workload in sorted(core.view.workloads(), key=lambda each: (not each.in_line, each.number))[:MOST_EXPLAINED]:
        yield f"standing of {workload.name}", standing(core, workload.name)
