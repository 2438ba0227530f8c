"""export facts: what a journal was made of."""

from collections.abc import Iterator
from contextlib import nullcontext
from typing import TYPE_CHECKING

import click

from ..outputs.file_kinds import FACTS, POLICY
from ..shared.files import Target, real_path
from ..shared.options import PLACE, force, journal_place, with_format
from ..shared.output import Format, complain, refuse
from ..shared.progress import progress
from ..shared.reading import file_name
from .export_files import journal_to_export, lines_target, tell_exported, write_lines

if TYPE_CHECKING:
    from ...adapters.export.inputs import Inputs


@click.command()
@journal_place
@click.option(
    "-o",
    "--out",
    metavar="PATH",
    type=PLACE,
    help="write the facts into this file, one a line, packed if it ends in .gz; else print them",
)
@click.option("-p", "--policy", metavar="PATH", type=PLACE, help="write the policy's text into this new file")
@force
@with_format
def facts(journal: str, out: str | None, policy: str | None, force: bool, form: Format) -> int:
    """Export what a journal was made of, for `gpol run --as-recorded`."""
    from ...adapters.export.inputs import fact_lines, inputs_of

    target = lines_target(out, FACTS, force=force)
    policy_target = Target("-p", policy, POLICY, force).check() if policy is not None else None
    if policy is not None and out is not None and real_path(policy) == real_path(out):
        refuse("-o and -p name the same file; choose two names")
    with journal_to_export(journal) as part:
        with progress("looking through events", None):
            inputs = inputs_of(part.journal)
        lines = part.rows(lambda: fact_lines(part.journal))
        with progress("exporting", None) if out not in (None, "-") else nullcontext():
            written = write_lines(target, lines, [(policy_target, inputs.policy.text)] if policy_target is not None else ())
    notes = [*inputs.notes, *_misnamed(inputs, policy)]
    for note in notes if form is not Format.json or out in (None, "-") else ():
        complain(f"note: {note}")
    return tell_exported(out, form, written, "fact", facts=written, policy=policy, file=inputs.policy.file, notes=notes)


def _misnamed(inputs: "Inputs", policy: str | None) -> Iterator[str]:
    """The name of its file is part of what is recorded of a policy."""
    if policy is not None and file_name(policy) != inputs.policy.file:
        yield f"the policy was recorded as `{inputs.policy.file}`; a run of a file of another name ends in another chain"
