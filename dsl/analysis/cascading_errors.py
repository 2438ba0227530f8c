"""Removes cascading errors: diagnostics that only follow from another error that is reported too.

An item that does not parse is missing from the tree, so its names look unknown wherever they are used. Its words are still known, though:
an unknown name that occurs in the text of a broken item is not reported again. A flavor with an error of its own is treated the same way,
because its capacity is not certain.
"""

import re
from collections.abc import Iterable

from ..diagnostics import Diagnostic
from ..syntax import tree
from ..syntax.parser import Parsed
from ..syntax.tree import Span

_WORDS = re.compile(r'"((?:\\.|[^"\\\n])*)"|([A-Za-z0-9_-]+)')
BROUGHT = "but its profile brings"
"""Says that the profile is for another mode of deciding; what else is wrong with what it brings follows from that."""

_OF_ITS_PROFILE = ("GP032", "GP038", "GP044", "GP045", "GP046")
"""Of the policy itself: what a profile of its own mode would have said."""

_SUBJECTS = {"workload", "victim", "asc", "desc"}
"""Words that any field or key may have around the name that is unknown."""


def without_cascading_errors(parsed: Parsed, found: Iterable[Diagnostic], profile_known: bool) -> list[Diagnostic]:
    """The diagnostics that do not follow from others.

    `profile_known` is false if the policy's profile cannot be used; then unknown rules, which it might define, are not reported.
    """
    if not parsed.text:
        return list(found)  # a tree that a program made: nothing is missing from it
    if any(diagnostic.code == "GP002" for diagnostic in parsed.diagnostics):
        return []  # the file was not read to its end: whatever is missing may stand there
    found = list(found)
    if any(diagnostic.code == "GP037" and BROUGHT in diagnostic.message for diagnostic in found):
        found = [each for each in found if each.file == parsed.file and each.code not in _OF_ITS_PROFILE]
    faulty = _faulty_flavors(parsed, found)
    unparsed = _unparsed_words(parsed)
    uncertain: set[str] = set().union(*(_split(parsed.text[span.start : span.end]) for span in faulty))

    def follows(diagnostic: Diagnostic) -> bool:
        match diagnostic.code:
            case "GP020" if not profile_known and " rule `" in diagnostic.message:
                return True
            case "GP020":
                words = _words(parsed, diagnostic)
                return bool(words & unparsed) or (not _within(diagnostic, faulty, parsed) and bool(words & uncertain))
            case "GP034" if diagnostic.message.startswith("no flavor of the policy "):
                return bool(faulty) or "flavor" in unparsed
            case "GP026":
                return bool(faulty) or "flavor" in unparsed
            case "GP028":
                return bool(unparsed & {"policy", "profile"})
            case "GP032":
                return not profile_known or "preempt" in unparsed
            case "GP037" | "GP038" | "GP039":  # how the policy decides is not known
                return not profile_known or bool(unparsed & {"policy", "profile"})
            case "GP044" | "GP045" | "GP046":  # nor is what its passes, rules and flavors are
                return not profile_known or bool(unparsed & {"policy", "profile", "preempt", "flavor"})
            case _:
                return False

    return [diagnostic for diagnostic in found if not follows(diagnostic)]


def _unparsed_words(parsed: Parsed) -> set[str]:
    """Every word of the items that did not parse; empty where all did."""
    if not parsed.diagnostics:
        return set()
    known = sorted([*(item.span for item in parsed.tree.items), *parsed.comments], key=lambda span: span.start)
    rest, at = [], 0
    for span in known:
        rest.append(parsed.text[at : span.start])
        at = max(at, span.end)
    return _split(" ".join([*rest, parsed.text[at:]]))


def _faulty_flavors(parsed: Parsed, found: list[Diagnostic]) -> list[Span]:
    """The flavors that have an error of their own."""
    flavors = [item.span for item in parsed.tree.items if isinstance(item, tree.FlavorItem)]
    return [span for span in flavors if any(_within(diagnostic, [span], parsed) for diagnostic in found)]


def _within(diagnostic: Diagnostic, spans: list[Span], parsed: Parsed) -> bool:
    place = diagnostic.span
    return diagnostic.file == parsed.file and any(span.start <= place.start and place.end <= span.end for span in spans)


def _words(parsed: Parsed, diagnostic: Diagnostic) -> set[str]:
    """The names that a diagnostic of this file is about."""
    return _split(parsed.text[diagnostic.span.start : diagnostic.span.end]) - _SUBJECTS if diagnostic.file == parsed.file else set()


def _split(text: str) -> set[str]:
    return {quoted or bare for quoted, bare in _WORDS.findall(text)}
