"""export kueue: a policy, as Kueue's objects."""

from collections import Counter

import click

from ..shared.files import write_new
from ..shared.options import PLACE, policy_file, with_format
from ..shared.output import GOOD, Format, complain, refuse, say, say_json, say_text
from ..shared.policies import checked_policy
from .kueue_files import as_data, check_targets, complain_of


@click.command()
@policy_file
@click.option("-o", "--out", metavar="PATH", type=PLACE, help="write the objects into this new file; else they are printed")
@click.option("--json", "as_json", is_flag=True, help="as one List in JSON; else as YAML documents")
@click.option("--gpu", metavar="NAME", help="what the resource gpu is called in the cluster; else nvidia.com/gpu")
@with_format
def kueue(policy: str, out: str | None, as_json: bool, gpu: str | None, form: Format) -> int:
    """Export a policy to Kueue's objects, for `kubectl apply`; what they cannot express is refused, or noted on stderr."""
    from ...adapters.kueue.export.export_policy import GPU, ExportRefused, export, json_list, yaml_documents

    targets = {"-o": out} if out is not None else {}
    check_targets((policy,), targets)
    checked = checked_policy(policy, form)
    assert checked.graph is not None  # a profile was refused
    if gpu is not None and all(slot.resource != "gpu" for slot in checked.graph.slots):
        refuse("--gpu: the policy counts no resource of the name gpu; leave the option out")
    try:
        exported = export(checked.graph, gpu if gpu is not None else GPU)
    except ExportRefused as error:
        complain_of(error)
        refuse("nothing was exported")
    text = (json_list if as_json else yaml_documents)(exported.objects)
    if out is None:
        say_text(text.rstrip("\n"))
    else:
        write_new({out: text})
    if out is not None and form is Format.json:
        say_json("export", path=out, objects=len(exported.objects), notes=as_data(exported.notes))
        return GOOD
    for note in exported.notes:
        complain(f"note: {note}")
    if out is not None:
        kinds = Counter(str(item["kind"]) for item in exported.objects)
        say(f"exported {', '.join(f'{number} {kind}' for kind, number in kinds.items())} to {out}")
    return GOOD
