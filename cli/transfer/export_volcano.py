"""export volcano: a policy, as Volcano's objects."""

from collections import Counter
from pathlib import Path

import click

from ..outputs.file_kinds import FileKind, marked
from ..shared.files import Target, write_files
from ..shared.options import PLACE, force, policy_file, with_format
from ..shared.output import GOOD, Format, complain, refuse, say, say_json, say_text
from ..shared.policies import checked_policy
from ..shared.progress import progress
from .kueue_files import as_data, check_targets, complain_of

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
@with_format
def volcano(policy: str, out: str | None, force: bool, as_json: bool, gpu: str | None, sum_flavors: bool, form: Format) -> int:
    """Export a policy to Volcano's objects, for `kubectl apply`; what they cannot express is refused, or noted on stderr."""
    from ...adapters.volcano.export.export_to_volcano import GPU, ExportRefused, export_to_volcano, json_list, yaml_documents

    targets = [Target("-o", out, VOLCANO_OBJECTS, force)] if out is not None else []
    check_targets((policy,), targets)
    checked = checked_policy(policy, form)
    assert checked.graph is not None  # a profile was refused
    if gpu is not None and all(slot.resource != "gpu" for slot in checked.graph.slots):
        refuse("--gpu: the policy counts no resource of the name gpu; leave the option out")
    if sum_flavors and len({slot.resource for slot in checked.graph.slots}) == len(checked.graph.slots):
        refuse("--sum-flavors: no resource has several flavors; leave the option out")
    try:
        with progress("making objects", None):
            exported = export_to_volcano(checked.graph, gpu if gpu is not None else GPU, sum_flavors)
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
