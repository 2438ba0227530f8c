"""What a simulation is told on the command line: jobs, nodes, and what becomes of evicted jobs; what is wrong ends the command."""

from pathlib import Path
from typing import TYPE_CHECKING

from ..shared.output import complain, counted, refuse
from ..shared.reading import file_name

if TYPE_CHECKING:
    from ...engine.facts import NodeAdded
    from ...engine.policy_graph import PolicyGraph
    from ...sim.drive.driver import OnEvict
    from ...sim.drive.job import Job, JobSource


def on_evict_of(text: str) -> "OnEvict":
    """What `--on-evict` says."""
    if text not in ("restart", "resume"):
        refuse(f"--on-evict is restart or resume, not `{text}`")
    return "resume" if text == "resume" else "restart"


def check_trace(trace: str | None) -> None:
    """Refuse a form of files that there is not."""
    from ...adapters.traces import READERS

    if trace is not None and trace not in READERS:
        refuse(f"--trace is one of {', '.join(sorted(READERS))}, not `{trace}`")


def jobs_of(path: str, trace: str | None) -> "tuple[list[Job], JobSource]":
    """The jobs of a file in order of time, and the file."""
    from ...adapters.traces import read_source
    from ...engine.event_parts import MOST_NAME
    from ...sim.drive.job import InputError

    try:
        jobs, source = read_source(Path(path), trace)
    except InputError as error:
        refuse(str(error))
    except OSError as error:
        refuse(f"`{path}` cannot be read: {error.strerror}; check the name and your rights")
    name = file_name(path)
    if len(name) > MOST_NAME:
        refuse(f"`{path}`: the name of the file has {len(name)} characters, and at most {MOST_NAME} are recorded; rename it")
    return jobs, source._replace(name=name)


def refuse_beyond_policy(jobs: "list[Job]", graph: "PolicyGraph") -> None:
    """Refuse jobs that ask for something that the policy's way of deciding does not have, by the first of them."""
    from ...engine.errors import FactError
    from ...engine.intake.check import check_surplus
    from ...engine.policy.pass_demands import check_for_passes

    for job in () if graph.settings.has_surplus else jobs:
        try:
            check_surplus(graph, job.fact)
            check_for_passes(graph, job.fact)
        except FactError as error:
            refuse(str(error))


def nodes_of(path: str, graph: "PolicyGraph", policy: str = "") -> "list[NodeAdded]":
    """The nodes of a file under a policy, which is named where there are several. It is said which nodes serve nobody."""
    from ...adapters.node_rows import read_nodes
    from ...sim.drive.job import InputError

    under = f" ({policy})" if policy else ""
    try:
        nodes = read_nodes(Path(path), graph)
    except InputError as error:
        refuse(f"{error}{under}")
    except OSError as error:
        refuse(f"`{path}` cannot be read: {error.strerror}; check the name and your rights")
    _tell_of_no_flavor(graph, nodes, under)
    return nodes


def _tell_of_no_flavor(graph: "PolicyGraph", nodes: "list[NodeAdded]", under: str) -> None:
    """Say how many nodes serve nobody, with the first of them: a label or a column of theirs may be misspelled."""
    from ...engine.intake.capacity import flavors_of_node
    from ...sim.report.wording import names

    placed = [dict((*(flavor.nodes or ()), *flavor.labels)) for flavor in graph.flavors if flavor.topology >= 0]
    idle = [
        node.node
        for node in nodes
        if not flavors_of_node(graph, node.labels) and not any(labels.items() <= node.labels.items() for labels in placed)
    ]
    if idle:
        said = f"{len(idle):,} of {counted(len(nodes), 'node')} {'is' if len(idle) == 1 else 'are'} of no flavor and will serve nobody"
        complain(f"gpol: {said}: {names(idle)}; where they should serve one, give them the labels of its `from nodes where`{under}")
