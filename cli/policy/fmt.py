"""fmt: policies in the one layout."""

from pathlib import Path

import click

from ..shared.files import replace_file
from ..shared.options import policy_files, with_format
from ..shared.output import GOOD, INVALID, NO, Format, RefusalError, complain, refuse, say, say_json, say_text, use_streams
from ..shared.policies import show_diagnostics
from ..shared.progress import progress
from ..shared.reading import name_in_messages, read_bytes
from ..speed.garbage import seldom_collecting


@click.command()
@policy_files
@click.option("--check", "only_check", is_flag=True, help="change nothing; exit 2 if something would change")
@click.option("--diff", is_flag=True, help="change nothing; show what would change; exit 2 if something would")
@with_format
def fmt(files: tuple[str, ...], only_check: bool, diff: bool, form: Format) -> int:
    """Format policy files."""
    from ...dsl.diagnostics import PolicyError

    worst = GOOD
    for path in files:  # one with errors, or that cannot be read or written, stays as it is and does not stop the others
        try:
            worst = max(worst, _format(path, only_check, diff, form))
        except PolicyError as error:
            show_diagnostics(error.diagnostics, {name_in_messages(path): error.text}, form)
            worst = INVALID
        except RefusalError as refusal:
            complain(f"gpol: {refusal}")
            worst = max(worst, refusal.code)
    return worst


def _format(path: str, only_check: bool, diff: bool, form: Format) -> int:
    """Format one file in place, or show what would change."""
    from ...dsl.print.formatter import format_text
    from ...dsl.syntax.items import decode

    name = name_in_messages(path)
    text = decode(read_bytes(path), name)
    with seldom_collecting(), progress(f"formatting {name}", None):
        formatted = format_text(text, name)
    changed = formatted != text
    change = _difference(text, formatted, name) if diff else ""
    if change and form is not Format.json:
        say_text(change.rstrip("\n"))
    if path == "-" and not only_check and not diff:
        use_streams(utf8=True)
        print(formatted, end="")
        return GOOD
    if changed and not only_check and not diff:
        if not Path(path).is_file():
            refuse(f"`{path}` is no plain file, so it cannot be replaced; use `gpol fmt -` in a pipe")
        replace_file(path, formatted)
    if form is Format.json:
        say_json("formatted", file=name, changed=changed, **({"diff": change} if diff else {}))
    elif changed and not diff:
        say(f"{name}: {'would change' if only_check else 'formatted'}")
    return NO if changed and (only_check or diff) else GOOD


def _difference(text: str, formatted: str, name: str) -> str:
    """What formatting changes, as a unified diff; empty for nothing."""
    from difflib import unified_diff

    return "".join(unified_diff(text.splitlines(True), formatted.splitlines(True), name, f"{name} (formatted)"))
