"""Policies that a command reads: checked, and their diagnostics shown."""

import os
import sys
from collections.abc import Iterable
from typing import TYPE_CHECKING

from .output import Format, complain_text, counted, refuse, say_text
from .reading import file_name, read_bytes

if TYPE_CHECKING:
    from ...dsl.analysis.checker import Checked
    from ...dsl.diagnostics import Diagnostic


def show_diagnostics(diagnostics: Iterable["Diagnostic"], texts: dict[str, str], form: Format, default_text: str = "") -> None:
    """Print diagnostics, each as its own block or line."""
    from ...dsl.rendering import render

    for diagnostic in diagnostics:
        say_text(render(diagnostic, texts.get(diagnostic.file, default_text), form.value, color=form is Format.human and use_color()))
        if form is Format.human:
            say_text("")


def checked_policy(path: str, form: Format) -> "Checked":
    """A policy that has no errors; else its diagnostics are shown on stderr and the command ends."""
    from ...dsl.analysis.checker import check
    from ...dsl.diagnostics import PolicyError
    from ...dsl.rendering import render
    from ...dsl.syntax.items import decode

    name = file_name(path)
    try:
        checked = check(decode(read_bytes(path), name), name)
    except PolicyError as error:
        for diagnostic in error.diagnostics:
            complain_text(render(diagnostic, error.text, form.value))
        refuse(f"`{path}` cannot be used")
    for diagnostic in checked.errors:
        complain_text(render(diagnostic, checked.texts.get(diagnostic.file, ""), form.value))
    if checked.errors:
        refuse(f"`{path}` has {counted(len(checked.errors), 'error')}")
    if checked.graph is None:
        refuse(f"`{path}` is a profile; give a policy that uses it")
    return checked


def use_color() -> bool:
    """Whether stdout is a terminal that wants colour."""
    return sys.stdout.isatty() and "NO_COLOR" not in os.environ
