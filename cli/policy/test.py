"""test: the test blocks of policies."""

import click

from ..shared.options import policy_files, with_format
from ..shared.output import GOOD, INVALID, NO, Format, RefusalError, complain, say, say_json
from ..shared.policies import checked_policy
from ..shared.progress import progress
from ..shared.reading import name_in_messages


@click.command()
@policy_files
@with_format
def test(files: tuple[str, ...], form: Format) -> int:
    """Run the test blocks of policies; name the reason that differed."""
    results = []
    worst = GOOD
    for path in files:  # one with errors does not stop the others
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
    from ...sim.drive.policy import Policy
    from ...sim.drive.policy_tests import run_test

    checked = checked_policy(path, form)
    policy = Policy.of(checked)
    name = name_in_messages(path)
    results, passed = [], []
    with progress(f"testing {name}", len(checked.tests)) as tick:
        for number, test in enumerate(checked.tests):
            tick(number)
            results.append(run_test(policy, test))
    for result in results:
        passed.append(not result.failures)
        if form is Format.json:
            failures = [{"line": each.line, "expected": each.expected, "found": each.found} for each in result.failures]
            say_json("test", file=name, name=result.name, line=result.line, passed=not failures, failures=failures)
            continue
        say(f"{'FAIL' if result.failures else 'ok  '} {name}:{result.line}: {result.name}")
        for each in result.failures:
            say(f"       {name}:{each.line}: expected {each.expected}; {each.found}")
    return passed
