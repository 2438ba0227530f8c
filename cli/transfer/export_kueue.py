"""export kueue: a policy, as Kueue's objects."""

from collections import Counter

import click

from ..outputs.file_kinds import OBJECTS, marked
from ..shared.files import Target, write_files
from ..shared.options import PLACE, force, policy_file, with_format
from ..shared.output import GOOD, Format, complain, refuse, say, say_json, say_text
from ..shared.policies import checked_policy
from ..shared.progress import progress
from .kueue_files import as_data, check_targets, complain_of


@click.command()
@policy_file
@click.option("-o", "--out", metavar="PATH", type=PLACE, help="write the objects into this file; else they are printed")
@force
@click.option("--json", "as_json", is_flag=True, help="as one List in JSON; else as YAML documents")
@click.option("--gpu", metavar="NAME", help="what the resource gpu is called in the cluster; else nvidia.com/gpu")
@with_format
def kueue(policy: str, out: str | None, force: bool, as_json: bool, gpu: str | None, form: Format) -> int:
    """Export a policy to Kueue's objects, for `kubectl apply`; what they cannot express is refused, or noted on stderr."""
    from ...adapters.kueue.export.export_policy import GPU, ExportRefused, export, json_list, yaml_documents

    targets = [Target("-o", out, OBJECTS, force)] if out is not None else []
    check_targets((policy,), targets)
    checked = checked_policy(policy, form)
    assert checked.graph is not None  # a profile was refused
    if gpu is not None and all(slot.resource != "gpu" for slot in checked.graph.slots):
        refuse("--gpu: the policy counts no resource of the name gpu; leave the option out")
    try:
        with progress("making objects", None):
            exported = export(checked.graph, gpu if gpu is not None else GPU)
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
