"""export volcano: a policy, as Volcano's objects; or what a cluster needs so that gpol works there."""

from collections import Counter
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

import click

from ..outputs.file_kinds import FileKind, marked
from ..shared.files import Target, write_files
from ..shared.options import PLACE, force, policy_file, with_format
from ..shared.output import GOOD, Format, complain, refuse, say, say_json, say_text
from ..shared.policies import checked_policy
from ..shared.progress import progress
from ..shared.reading import name_in_messages
from .kueue_files import as_data, check_targets, complain_of

if TYPE_CHECKING:
    from ...adapters.volcano.export.export_to_volcano import VolcanoExport
    from ...engine.nodes.inventory import Inventory
    from ...engine.policy_graph import PolicyGraph

_COMMAND = "export volcano"


def _is_unchanged(path: Path) -> bool:
    """Whether a file is as this command made it, and nobody has changed it since."""
    before, _, last = path.read_text(encoding="utf-8", errors="replace").removesuffix("\n").rpartition("\n")
    return f"{before}\n{last}\n" == marked(f"{before}\n", _COMMAND)


VOLCANO_OBJECTS = FileKind("an export of Volcano's objects", _is_unchanged)


@click.command()
@policy_file
@click.option("-o", "--out", metavar="PATH", type=PLACE, help="write the objects into this file; else they are printed")
@force
@click.option("--json", "as_json", is_flag=True, help="as one List in JSON; else as YAML documents")
@click.option("--gpu", metavar="NAME", help="what the resource gpu is called in the cluster; else nvidia.com/gpu")
@click.option("--sum-flavors", is_flag=True, help="sum up the quotas of several flavors of a resource, which Volcano cannot tell apart")
@click.option(
    "--nodes",
    metavar="PATH",
    type=PLACE,
    help="the nodes, for the HyperNodes of placed flavors: a CSV file, or facts; - is standard input",
)
@click.option(
    "--live", is_flag=True, help="what a cluster needs for `gpol serve`, in place of what Volcano needs to decide as the policy says"
)
@click.option("--way", type=click.Choice(["decide", "guard"]), help="live: gpol decides (the default), or guards quotas")
@click.option("--namespace", metavar="NAME", help="live: the namespace of gpol itself; else gpol-system")
@click.option("--reviews", is_flag=True, help="live: let gpol find out who calls its HTTP interface, and what they may do")
@click.option("--may-delete", is_flag=True, help="live: let gpol delete what it applied and the policy no longer has")
@with_format
def volcano(
    policy: str,
    out: str | None,
    force: bool,
    as_json: bool,
    gpu: str | None,
    sum_flavors: bool,
    nodes: str | None,
    live: bool,
    way: str | None,
    namespace: str | None,
    reviews: bool,
    may_delete: bool,
    form: Format,
) -> int:
    """Export a policy to Volcano's objects, for `kubectl apply`; what they cannot express is refused, or noted on stderr."""
    from ...adapters.volcano.export.export_to_volcano import ExportRefused, json_list, yaml_documents
    from ..run.node_notes import tell_without_place

    said = {"--way": way, "--namespace": namespace, "--reviews": reviews, "--may-delete": may_delete}
    _check_options(live, way == "guard", {name for name, value in said.items() if value or value == ""}, gpu, sum_flavors, nodes)
    targets = [Target("-o", out, VOLCANO_OBJECTS, force)] if out is not None else []
    check_targets((policy, *(() if nodes is None else (nodes,))), targets)
    checked = checked_policy(policy, form)
    assert checked.graph is not None  # a profile was refused
    if gpu is not None and all(slot.resource != "gpu" for slot in checked.graph.slots):
        refuse("--gpu: the policy counts no resource of the name gpu; leave the option out")
    if sum_flavors and len({slot.resource for slot in checked.graph.slots}) == len(checked.graph.slots):
        refuse("--sum-flavors: no resource has several flavors; leave the option out")
    there = None if nodes is None else _nodes(nodes, checked.graph)
    if there is not None:
        tell_without_place(checked.graph, there)
    try:
        with progress("making objects", None):
            exported = _export(checked.graph, live, gpu, sum_flavors, there, way, namespace, reviews, may_delete)
            text = json_list(exported.objects) if as_json else marked(yaml_documents(exported.objects), _COMMAND)
    except ExportRefused as error:
        complain_of(error)
        refuse("nothing was exported")
    if out is None:
        say_text(text.rstrip("\n"))
    else:
        write_files((target, text) for target in targets)
    if out is not None and form is Format.json:
        say_json("export", path=out, objects=len(exported.objects), notes=as_data(exported.notes))
        return GOOD
    for note in exported.notes:
        complain(f"note: {note}")
    if out is not None:
        kinds = Counter(str(item["kind"]) for item in exported.objects)
        say(f"exported {', '.join(f'{number} {kind}' for kind, number in kinds.items())} to {out}")
    return GOOD


def _check_options(live: bool, guards: bool, said: set[str], gpu: str | None, sum_flavors: bool, nodes: str | None) -> None:
    """Refuse options that have no effect together."""
    if said and not live:
        refuse(f"{min(said)}: has an effect only with --live; add it, or leave the option out")
    without_effect = {"--gpu": gpu is not None, "--nodes": nodes is not None, "--sum-flavors": sum_flavors}
    if live and any(without_effect.values()):
        refuse(f"{next(name for name, is_said in without_effect.items() if is_said)}: has no effect with --live; leave the option out")
    if "--may-delete" in said and not guards:
        refuse("--may-delete: has no effect with --way decide; leave the option out")


def _nodes(path: str, graph: "PolicyGraph") -> "Inventory":
    """The nodes of a CSV file, or those that are there after facts."""
    from ...adapters.node_rows import read_nodes
    from ...adapters.volcano.export.hyper_node_objects import has_domains, nodes_after
    from ...sim.drive.job import InputError
    from ..run.fact_lines import given_facts, open_facts

    if not any(has_domains(graph, flavor) for flavor in graph.flavors):
        refuse("--nodes: no flavor is placed in a topology with a level above nodes; leave the option out")
    try:
        if path.endswith(".csv"):
            return nodes_after(read_nodes(Path(path), graph), graph)
        with ExitStack() as stack, progress("reading nodes", None):
            return nodes_after(given_facts(path, open_facts(path, stack)), graph)
    except InputError as error:
        refuse(f"--nodes: {error}")
    except ValueError as error:
        refuse(f"--nodes: `{name_in_messages(path)}`: {error}; give all facts about nodes, from the first one on")
    except OSError as error:
        refuse(f"--nodes: `{path}` cannot be read: {error.strerror}; check the name and your rights")


def _export(
    graph: "PolicyGraph",
    live: bool,
    gpu: str | None,
    sum_flavors: bool,
    nodes: "Inventory | None",
    way: str | None,
    namespace: str | None,
    reviews: bool,
    may_delete: bool,
) -> "VolcanoExport":
    from ...adapters.volcano.export.export_to_volcano import GPU, export_to_volcano
    from ...adapters.volcano.export.live_for_volcano import VolcanoLiveChoices, export_live_for_volcano

    if not live:
        return export_to_volcano(graph, gpu if gpu is not None else GPU, sum_flavors, nodes)
    choices = VolcanoLiveChoices(
        way="guard" if way == "guard" else "decide",
        namespace="gpol-system" if namespace is None else namespace,
        reviews=reviews,
        deletes=may_delete,
    )
    return export_live_for_volcano(graph, choices)
