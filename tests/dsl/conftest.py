"""Shortcuts for tests of the checker: a small sound policy to add to, and what is found in a text."""

from collections.abc import Callable

import pytest
from gpol.dsl.analysis.checker import check
from gpol.dsl.diagnostics import Diagnostic

BASE = """policy "p" { }
resource license
flavor h100 { gpu 100 }
flavor a100 {
  gpu 50
  cpu 400
}
priority production 1000 { never evicted }
priority batch 100
cohort research {
  queue nlp { owns 40 gpu on h100 }
  queue vision { owns 10 gpu on h100 }
}
queue serving { owns 8 gpu on a100 }
"""


class Finding:
    """A diagnostic with the text that it marks."""

    def __init__(self, diagnostic: Diagnostic, text: str) -> None:
        self.diagnostic = diagnostic
        self.code, self.message, self.label = diagnostic.code, diagnostic.message, diagnostic.label
        self.help, self.file, self.severity = diagnostic.help, diagnostic.file, diagnostic.severity
        self.marked = text[diagnostic.span.start : diagnostic.span.end]
        self.line = text.count("\n", 0, diagnostic.span.start) + 1
        self.notes = [note.message for note in diagnostic.notes]

    def __repr__(self) -> str:
        return f"{self.code} line {self.line} {self.marked!r}: {self.message} ({self.label}); help: {self.help}"


@pytest.fixture
def base() -> str:
    """A policy without a flaw: two flavors, two priorities, a cohort of two queues and a queue beside it."""
    return BASE


@pytest.fixture
def find() -> Callable[[str], list[Finding]]:
    """Checks a whole text and gives what is found, in order."""

    def run(text: str) -> list[Finding]:
        checked = check(text, "p.gpol")
        return [Finding(diagnostic, checked.texts[diagnostic.file]) for diagnostic in checked.diagnostics]

    return run


@pytest.fixture
def find_one(find: Callable[[str], list[Finding]]) -> Callable[[str], Finding]:
    """Checks the base policy with more text behind it, in which exactly one thing is found."""

    def run(addition: str) -> Finding:
        findings = find(BASE + addition)
        assert len(findings) == 1, findings
        return findings[0]

    return run
