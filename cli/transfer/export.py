"""export: the group of commands that make other forms of journals and policies."""

import click

from ..shared.lazy_group import LazyGroup

FORMS = {
    "jsonl": "export_events:jsonl",
    "parquet": "export_events:parquet",
    "facts": "export_facts:facts",
    "state": "export_state:state",
    "kueue": "export_kueue:kueue",
    "volcano": "export_volcano:volcano",
}
"""Each form that something is exported to: its module, and what its command is called there."""


@click.group(cls=LazyGroup, package=__package__, places=FORMS)
def export() -> None:
    """Make other forms: a journal's events for databases, its inputs, the state at a moment, another system's objects."""
