"""export kueue: a policy, as Kueue's objects; or what a cluster needs so that gpol works there."""

from collections import Counter
from typing import TYPE_CHECKING

import click

from ..outputs.file_kinds import OBJECTS, marked
from ..shared.files import Target, write_files
from ..shared.options import PLACE, force, policy_file, with_format
from ..shared.output import GOOD, Format, complain, refuse, say, say_json, say_text
from ..shared.policies import checked_policy
from ..shared.progress import progress
from .kueue_files import as_data, check_targets, complain_of

if TYPE_CHECKING:
    from ...adapters.kueue.export.export_policy import Exported
    from ...engine.policy_graph import PolicyGraph


@click.command()
@policy_file
@click.option("-o", "--out", metavar="PATH", type=PLACE, help="write the objects into this file; else they are printed")
@force
@click.option("--json", "as_json", is_flag=True, help="as one List in JSON; else as YAML documents")
@click.option("--gpu", metavar="NAME", help="what the resource gpu is called in the cluster; else nvidia.com/gpu")
@click.option(
    "--live", is_flag=True, help="what a cluster needs for `gpol serve`, in place of what Kueue needs to decide as the policy says"
)
@click.option("--way", type=click.Choice(["decide", "guard"]), help="live: gpol decides (the default), or guards quotas")
@click.option("--namespace", metavar="NAME", help="live: the namespace of gpol itself; else gpol-system")
@click.option("--check", metavar="NAME", help="live: the name of gpol's AdmissionCheck; else gpol")
@click.option("--cover", metavar="RESOURCE", multiple=True, help="live: one more resource that pods may ask for; several times")
@click.option("--reviews", is_flag=True, help="live: let gpol find out who calls its HTTP interface, and what they may do")
@click.option("--may-delete", is_flag=True, help="live: let gpol delete what it applied and the policy no longer has")
@with_format
def kueue(
    policy: str,
    out: str | None,
    force: bool,
    as_json: bool,
    gpu: str | None,
    live: bool,
    way: str | None,
    namespace: str | None,
    check: str | None,
    cover: tuple[str, ...],
    reviews: bool,
    may_delete: bool,
    form: Format,
) -> int:
    """Export a policy to Kueue's objects, for `kubectl apply`; what they cannot express is refused, or noted on stderr."""
    from ...adapters.kueue.export.export_policy import ExportRefused, json_list, yaml_documents

    said = {"--way": way, "--namespace": namespace, "--check": check, "--cover": cover, "--reviews": reviews, "--may-delete": may_delete}
    _check_options(live, way == "guard", {name for name, value in said.items() if value or value == ""})
    targets = [Target("-o", out, OBJECTS, force)] if out is not None else []
    check_targets((policy,), targets)
    checked = checked_policy(policy, form)
    assert checked.graph is not None  # a profile was refused
    if gpu is not None and all(slot.resource != "gpu" for slot in checked.graph.slots):
        refuse("--gpu: the policy counts no resource of the name gpu; leave the option out")
    try:
        with progress("making objects", None):
            exported = _export(checked.graph, live, gpu, way, namespace, check, cover, reviews, may_delete)
            text = json_list(exported.objects) if as_json else marked(yaml_documents(exported.objects), "export kueue")
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


def _check_options(live: bool, guards: bool, said: set[str]) -> None:
    """Refuse options that have no effect together."""
    if said and not live:
        refuse(f"{min(said)}: has an effect only with --live; add it, or leave the option out")
    without = {"--check", "--cover"} if guards else {"--may-delete"}
    if lost := said & without:
        refuse(f"{min(lost)}: has no effect with --way {'guard' if guards else 'decide'}; leave the option out")


def _export(
    graph: "PolicyGraph",
    live: bool,
    gpu: str | None,
    way: str | None,
    namespace: str | None,
    check: str | None,
    cover: tuple[str, ...],
    reviews: bool,
    may_delete: bool,
) -> "Exported":
    from ...adapters.kueue.export.export_policy import GPU, export
    from ...adapters.kueue.export.live.live_objects import CHECK, NAMESPACE, LiveChoices, export_live

    resource = GPU if gpu is None else gpu
    if not live:
        return export(graph, resource)
    choices = LiveChoices(
        way="guard" if way == "guard" else "decide",
        check=CHECK if check is None else check,
        namespace=NAMESPACE if namespace is None else namespace,
        gpu=resource,
        cover=cover,
        reviews=reviews,
        deletes=may_delete,
    )
    return export_live(graph, choices)
