"""check, fmt and test: what policy authors do all day."""

from pathlib import Path

from ..dsl.diagnostics import PolicyError
from ..dsl.split import decode
from .files import replace_file
from .output import (
    GOOD,
    INVALID,
    NO,
    Format,
    RefusalError,
    checked_policy,
    complain,
    counted,
    read_bytes,
    refuse,
    say,
    say_json,
    say_text,
    show_diagnostics,
    use_streams,
)


def _name(path: str) -> str:
    return "stdin" if path == "-" else path


def check_files(files: tuple[str, ...], form: Format) -> int:
    """Check files and say what is wrong with them, or how much they declare. One that cannot be read does not stop the others."""
    worst = GOOD
    for path in files:
        try:
            worst = max(worst, _check(path, form))
        except PolicyError as error:
            show_diagnostics(error.diagnostics, {_name(path): error.text}, form)
            worst = INVALID
        except RefusalError as refusal:
            complain(f"gpol: {refusal}")
            worst = INVALID
    return worst


def _check(path: str, form: Format) -> int:
    from ..dsl.checker import check

    name = _name(path)
    checked = check(decode(read_bytes(path), name), name)
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


# --- fmt ------------------------------------------------------------------------------------------------------------


def format_files(files: tuple[str, ...], only_check: bool, diff: bool, form: Format) -> int:
    """Format files in place, or show what would change. Files with errors, or that cannot be read or written, stay as they are."""
    worst = GOOD
    for path in files:
        try:
            worst = max(worst, _format(path, only_check, diff, form))
        except PolicyError as error:
            show_diagnostics(error.diagnostics, {_name(path): error.text}, form)
            worst = INVALID
        except RefusalError as refusal:
            complain(f"gpol: {refusal}")
            worst = max(worst, refusal.code)
    return worst


def _format(path: str, only_check: bool, diff: bool, form: Format) -> int:
    from ..dsl.formatter import format_text

    name = _name(path)
    text = decode(read_bytes(path), name)
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


# --- test -----------------------------------------------------------------------------------------------------------


def test_files(files: tuple[str, ...], form: Format) -> int:
    """Run the test blocks of policies. One with errors does not stop the others."""
    results = []
    worst = GOOD
    for path in files:
        try:
            results += _test(path, form)
        except RefusalError as refusal:
            complain(f"gpol: {refusal}")
            worst = INVALID
    failed = results.count(False)
    if form is not Format.json and (results or worst is GOOD):
        say(f"{len(results) - failed} passed, {failed} failed")
    if not results and worst is GOOD:
        complain('gpol: no test blocks; add `test "..." { ... }` to the policy')
    return max(worst, NO if failed else GOOD)


def _test(path: str, form: Format) -> list[bool]:
    """Run the tests of one policy; say which passed."""
    from ..sim.policy import Policy
    from ..sim.policytest import run_test

    checked = checked_policy(path, form)
    policy = Policy.of(checked)
    passed = []
    for test in checked.tests:
        result = run_test(policy, test)
        passed.append(not result.failures)
        if form is Format.json:
            failures = [{"line": each.line, "expected": each.expected, "found": each.found} for each in result.failures]
            say_json("test", file=_name(path), name=result.name, line=result.line, passed=not failures, failures=failures)
            continue
        say(f"{'FAIL' if result.failures else 'ok  '} {_name(path)}:{result.line}: {result.name}")
        for each in result.failures:
            say(f"       {_name(path)}:{each.line}: expected {each.expected}; {each.found}")
    return passed
