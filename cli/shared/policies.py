"""Policies that a command reads: checked, and their diagnostics shown."""

import os
import sys
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from .output import Format, complain_text, counted, refuse, say_text, shown, shown_json
from .progress import progress
from .reading import file_name, read_bytes

if TYPE_CHECKING:
    from ...dsl.analysis.checker import Checked
    from ...dsl.diagnostics import Diagnostic
    from ...engine.policy_graph import PolicyGraph


def show_diagnostics(diagnostics: Iterable["Diagnostic"], texts: dict[str, str], form: Format, default_text: str = "") -> None:
    """Print diagnostics, each as its own block or line."""
    for diagnostic in diagnostics:
        say_text(rendered(diagnostic, texts.get(diagnostic.file, default_text), form, color=form is Format.human and use_color()))
        if form is Format.human:
            say_text("")


def rendered(diagnostic: "Diagnostic", text: str, form: Format, color: bool = False) -> str:
    """A diagnostic as text; what the file is called comes from outside, and is escaped like any name."""
    from ...dsl.rendering import render

    if form is Format.json:
        return shown_json(render(diagnostic, text, form.value))
    return render(replace(diagnostic, file=shown(diagnostic.file)), text, form.value, color=color)


def checked_policy(path: str, form: Format, decides: bool = True) -> "Checked":
    """A policy that has no errors; else its diagnostics are shown on stderr and the command ends.

    With `decides` the command is to decide by it, and one that no core decides by is refused.
    """
    from ...dsl.analysis.checker import check
    from ...dsl.diagnostics import PolicyError
    from ...dsl.syntax.items import decode

    name = file_name(path)
    try:
        data = read_bytes(path)
        with progress(f"checking {name}", None):
            checked = check(decode(data, name), name)
    except PolicyError as error:
        for diagnostic in error.diagnostics:
            complain_text(rendered(diagnostic, error.text, form))
        refuse(f"`{path}` cannot be used")
    for diagnostic in checked.errors:
        complain_text(rendered(diagnostic, checked.texts.get(diagnostic.file, ""), form))
    if checked.errors:
        refuse(f"`{path}` has {counted(len(checked.errors), 'error')}")
    if checked.graph is None:
        refuse(f"`{path}` is a profile; give a policy that uses it")
    if decides:
        refuse_undecided(checked.graph)
    return checked


def refuse_undecided(graph: "PolicyGraph") -> None:
    """End the command where no core decides by a policy."""
    from ...engine.policy.undecided import why_undecided

    undecided = why_undecided(graph)
    if undecided is not None:
        refuse(undecided)


def names_apart(paths: Sequence[str]) -> list[str]:
    """What to call the policies of several files: by the file's name, those of files with the same name by their paths."""
    names = [file_name(path) for path in paths]
    files = Counter(names)
    return [path if files[name] > 1 else name for path, name in zip(paths, names, strict=True)]


def refuse_twins(names: Sequence[str], digests: Sequence[str]) -> None:
    """End the command where two policies mean the same, as `4` and `4000m` do: it would play one history twice."""
    first: dict[str, str] = {}
    for name, digest in zip(names, digests, strict=True):
        other = first.get(digest)
        if other == name:
            refuse(f"`{other}` is given twice; give it once")
        if other is not None:
            refuse(f"`{other}` and `{name}` are the same policy; leave one of them out")
        first[digest] = name


def use_color() -> bool:
    """Whether stdout is a terminal that wants colour."""
    return sys.stdout.isatty() and "NO_COLOR" not in os.environ
