"""export facts: what a journal was made of."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

import click

from ..shared.files import check_new, real_path
from ..shared.options import PLACE, journal_place, with_format
from ..shared.output import Format, complain, refuse
from ..shared.reading import file_name
from .export_files import check_out, journal_to_export, tell_exported, write_lines

if TYPE_CHECKING:
    from ...adapters.export.inputs import Inputs


@click.command()
@journal_place
@click.option(
    "-o",
    "--out",
    metavar="PATH",
    type=PLACE,
    help="write the facts into this new file, one a line, packed if it ends in .gz; else print them",
)
@click.option("-p", "--policy", metavar="PATH", type=PLACE, help="write the policy's text into this new file")
@with_format
def facts(journal: str, out: str | None, policy: str | None, form: Format) -> int:
    """Export what a journal was made of, for `gpol run --as-recorded`."""
    from ...adapters.export.inputs import fact_lines, inputs_of

    check_out(out)
    if policy is not None:
        check_new("-p", policy, printed=False)
    if policy is not None and out is not None and real_path(policy) == real_path(out):
        refuse("-o and -p name the same file; choose two names")
    with journal_to_export(journal) as read:
        inputs = inputs_of(read)
        written = write_lines(out, fact_lines(read), {} if policy is None else {policy: inputs.policy.text})
    notes = [*inputs.notes, *_misnamed(inputs, policy)]
    for note in notes if form is not Format.json or out in (None, "-") else ():
        complain(f"note: {note}")
    return tell_exported(out, form, written, "fact", facts=written, policy=policy, file=inputs.policy.file, notes=notes)


def _misnamed(inputs: "Inputs", policy: str | None) -> Iterator[str]:
    """The name of its file is part of what is recorded of a policy."""
    if policy is not None and file_name(policy) != inputs.policy.file:
        yield f"the policy was recorded as `{inputs.policy.file}`; a run of a file of another name ends in another chain"
