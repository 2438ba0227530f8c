"""compile: what a checked policy means, as JSON for other programs."""

import json

import click

from ..outputs.file_kinds import COMPILED
from ..shared.files import Target, write_files
from ..shared.options import PLACE, force, policy_file, with_format
from ..shared.output import GOOD, Format, complain_text, say, say_json, say_text, shown_json, use_streams
from ..shared.policies import checked_policy, rendered
from ..shared.progress import progress
from ..speed.garbage import seldom_collecting


@click.command("compile")
@policy_file
@click.option("-o", "--out", metavar="PATH", type=PLACE, help="write into this file; else print")
@force
@with_format
def compile_(policy: str, out: str | None, force: bool, form: Format) -> int:
    """Print the meaning of a policy as JSON: its tree, quotas, rules and settings, profiles merged in; - is standard input."""
    from ...adapters.published.policy_graph_json import policy_graph_json

    target = Target("-o", out, COMPILED, force).check(printed=True) if out is not None else None
    with seldom_collecting():
        checked = checked_policy(policy, form, decides=False)
        graph = checked.graph
        assert graph is not None
        for warning in checked.diagnostics:
            complain_text(rendered(warning, checked.texts.get(warning.file, ""), form))
        with progress("writing the policy graph", None):
            compiled = policy_graph_json(graph)
    if target is None:
        use_streams(utf8=True)
        say_text(shown_json(json.dumps(compiled, ensure_ascii=False, indent=None if form is Format.json else 2)))
        return GOOD
    write_files([(target, json.dumps(compiled, ensure_ascii=False, indent=2) + "\n")])
    if form is Format.json:
        say_json("compile", path=out, digest=graph.digest)
    else:
        say(f"compiled {policy} to {out}, {graph.digest}")
    return GOOD
