"""compile: what a checked policy means, as JSON for other programs."""

import json

import click

from ..shared.files import check_new, write_new
from ..shared.options import PLACE, policy_file, with_format
from ..shared.output import GOOD, Format, say, say_json, say_text, use_streams
from ..shared.policies import checked_policy


@click.command("compile")
@policy_file
@click.option("-o", "--out", metavar="PATH", type=PLACE, help="write into this new file; else print")
@with_format
def compile_(policy: str, out: str | None, form: Format) -> int:
    """Print the meaning of a policy as JSON: its tree, quotas, rules and settings, profiles merged in; - is standard input."""
    from ...adapters.published.policy_graph_json import policy_graph_json

    if out is not None:
        check_new("-o", out)
    graph = checked_policy(policy, form).graph
    assert graph is not None
    compiled = policy_graph_json(graph)
    if out is None:
        use_streams(utf8=True)
        say_text(json.dumps(compiled, ensure_ascii=False, indent=None if form is Format.json else 2))
        return GOOD
    write_new({out: json.dumps(compiled, ensure_ascii=False, indent=2) + "\n"})
    if form is Format.json:
        say_json("compile", path=out, digest=graph.digest)
    else:
        say(f"compiled {policy} to {out}, {graph.digest}")
    return GOOD
