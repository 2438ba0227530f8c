"""schema: the form of what gpol writes, for programs that read it."""

import json

import click

from ..shared.options import with_format
from ..shared.output import GOOD, Format, say_text, use_streams

FORMS = ("events", "policy-graph")
"""What has a schema: the events of a journal, and what `gpol compile` prints."""


@click.command()
@click.argument("of", metavar="events|policy-graph", type=click.Choice(FORMS))
@with_format
def schema(of: str, form: Format) -> int:
    """Print the JSON Schema of events, or of policy graphs."""
    if of == "events":
        from ...adapters.published.event_schema import event_schema as make
    else:
        from ...adapters.published.policy_graph_schema import policy_graph_schema as make
    use_streams(utf8=True)
    say_text(json.dumps(make(), ensure_ascii=False, indent=None if form is Format.json else 2))
    return GOOD
