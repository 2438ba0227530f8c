"""check, fmt and test: what policy authors do all day."""

import difflib
import os
import tempfile
from pathlib import Path

from ..dsl.diagnostics import PolicyError
from ..dsl.split import decode
from .output import GOOD, INVALID, NO, Format, checked_policy, complain, read_bytes, say, say_json, show_diagnostics


def _name(path: str) -> str:
    return "stdin" if path == "-" else path


def check_files(files: tuple[str, ...], form: Format) -> int:
    """Check files and say what is wrong with them, or how much they declare."""
    from ..dsl.checker import check

    worst = GOOD
    for path in files:
        data = read_bytes(path)
        try:
            checked = check(decode(data, _name(path)), _name(path))
        except PolicyError as error:
            show_diagnostics(error.diagnostics, {_name(path): error.text}, form)
            worst = INVALID
            continue
        show_diagnostics(checked.diagnostics, dict(checked.texts), form)
        if checked.errors:
            worst = INVALID
        warnings = len(checked.diagnostics) - len(checked.errors)
        graph = checked.graph
        if form is Format.json:
            digest = graph.digest if graph is not None else None
            say_json("checked", file=_name(path), errors=len(checked.errors), warnings=warnings, digest=digest)
        elif checked.errors:
            say(f"{_name(path)}: {len(checked.errors)} error{'s' * (len(checked.errors) > 1)}")
        else:
            what = f"{len(graph.queues)} queues, {len(graph.flavors)} flavors, {len(checked.tests)} tests" if graph else "a profile"
            noted = f", {warnings} warning{'s' * (warnings > 1)}" if warnings else ""
            say(f"{_name(path)}: good ({what}{noted})")
    return worst


def format_files(files: tuple[str, ...], only_check: bool, diff: bool, form: Format) -> int:
    """Format files in place, or show what would change. Files with errors stay as they are."""
    from ..dsl.formatter import format_text

    result = GOOD
    for path in files:
        data = read_bytes(path)
        try:
            text = decode(data, _name(path))
            formatted = format_text(text, _name(path))
        except PolicyError as error:
            show_diagnostics(error.diagnostics, {_name(path): error.text}, form)
            result = INVALID
            continue
        changed = formatted != text
        if diff and changed:
            lines = difflib.unified_diff(text.splitlines(True), formatted.splitlines(True), _name(path), f"{_name(path)} (formatted)")
            say("".join(lines).rstrip("\n"))
        if only_check or diff:
            result = max(result, NO) if changed else result
        elif path == "-":
            say(formatted.rstrip("\n"))
            continue
        elif changed:
            _write(Path(path), formatted)
        if form is Format.json:
            say_json("formatted", file=_name(path), changed=changed)
        elif changed and not diff:
            say(f"{path}: {'would change' if only_check else 'formatted'}")
    return result


def _write(path: Path, text: str) -> None:
    """Replace a file at once: a crash leaves the old one or the new one."""
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "w", encoding="utf-8", newline="\n") as file:
            file.write(text)
        os.chmod(temporary, path.stat().st_mode & 0o777)
        os.replace(temporary, path)
    except BaseException:
        os.unlink(temporary)
        raise


def test_files(files: tuple[str, ...], form: Format) -> int:
    """Run the test blocks of policies."""
    from ..sim.policy import Policy
    from ..sim.policytest import run_test

    passed = failed = 0
    for path in files:
        checked = checked_policy(path, form)
        policy = Policy.of(checked)
        for test in checked.tests:
            result = run_test(policy, test)
            passed, failed = passed + (not result.failures), failed + bool(result.failures)
            if form is Format.json:
                failures = [{"line": each.line, "expected": each.expected, "found": each.found} for each in result.failures]
                say_json("test", file=path, name=result.name, line=result.line, passed=not failures, failures=failures)
                continue
            say(f"{'FAIL' if result.failures else 'ok  '} {path}:{result.line}: {result.name}")
            for each in result.failures:
                say(f"       {path}:{each.line}: expected {each.expected}; {each.found}")
    if form is not Format.json:
        say(f"{passed} passed, {failed} failed")
    if not passed and not failed:
        complain('gpol: no test blocks; add `test "..." { ... }` to the policy')
    return NO if failed else GOOD
