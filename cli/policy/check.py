"""check: what is wrong with policies."""

import click

from ..shared.options import policy_files, with_format
from ..shared.output import GOOD, INVALID, Format, RefusalError, complain, counted, say, say_json
from ..shared.policies import show_diagnostics
from ..shared.progress import progress
from ..shared.reading import name_in_messages, read_bytes
from ..speed.garbage import seldom_collecting


@click.command()
@policy_files
@with_format
def check(files: tuple[str, ...], form: Format) -> int:
    """Check syntax, names, types, units and contradictions; all errors at once."""
    from ...dsl.diagnostics import PolicyError

    worst = GOOD
    for path in files:  # one that cannot be read does not stop the others
        try:
            worst = max(worst, _check(path, form))
        except PolicyError as error:
            show_diagnostics(error.diagnostics, {name_in_messages(path): error.text}, form)
            worst = INVALID
        except RefusalError as refusal:
            complain(f"gpol: {refusal}")
            worst = INVALID
    return worst


def _check(path: str, form: Format) -> int:
    """Say what is wrong with one file, or how much it declares."""
    from ...dsl.analysis.checker import check
    from ...dsl.syntax.items import decode

    name = name_in_messages(path)
    data = read_bytes(path)
    with seldom_collecting(), progress(f"checking {name}", None):
        checked = check(decode(data, name), name)
    show_diagnostics(checked.diagnostics, dict(checked.texts), form)
    warnings = len(checked.diagnostics) - len(checked.errors)
    graph = checked.graph
    if form is Format.json:
        digest = graph.digest if graph is not None else None
        say_json("checked", file=name, errors=len(checked.errors), warnings=warnings, digest=digest)
    elif checked.errors:
        say(f"{name}: {counted(len(checked.errors), 'error')}")
    else:
        things = ((graph.queues, "queue"), (graph.flavors, "flavor"), (checked.tests, "test")) if graph else ()
        what = ", ".join(counted(len(each), noun) for each, noun in things) or "a profile"
        noted = f", {counted(warnings, 'warning')}" if warnings else ""
        say(f"{name}: good ({what}{noted})")
    return INVALID if checked.errors else GOOD
