"""Policies that cannot be meant: `gpol check` warns of each, and gives an example that shows it."""

import json
from pathlib import Path

import pytest
from gpol.cli.main import run_command

HEAD = 'policy "p" { }\nflavor a100 { gpu 8 }\nflavor h100 { gpu 8 }\n'
OWN = 'policy "p" { preempt by own, reclaim-owned, fair-share, make-room }\nflavor a100 { gpu 8 }\n'
TWO = "queue q { owns 4 gpu on a100 }\nqueue r { owns 4 gpu on a100 }\n"
ONE_FLAVOR = 'policy "p" { }\nflavor a100 { gpu 8 }\nqueue q { owns 4 gpu }\nqueue r { owns 4 gpu }\n'

NONSENSE = {
    "owns and guarantees everything": (
        'policy "p" { }\nflavor a100 { gpu 8 }\ncohort all {\n'
        "  queue rich {\n    owns 8 gpu\n    guarantees 8 gpu\n  }\n  queue poor { owns nothing }\n}\n",
        "poor",
        "1 gpu on a100 in queue `poor` waits for ever",
    ),
    "lends nothing": (
        'policy "p" { }\nflavor a100 { gpu 8 }\nqueue rich {\n  owns 8 gpu\n  lends nothing\n}\nqueue poor { }\n',
        "poor",
        "all 8 gpu on a100 are kept by others",
    ),
    "quota on a flavor that only excludes": (
        HEAD + "queue q {\n  owns 4 gpu on a100\n  owns 8 gpu on h100\n  only a100\n}\n",
        "owns 8 gpu on h100",
        "8 gpu in queue `q` never runs on h100",
    ),
    "borrowing limit on a flavor that only excludes": (
        HEAD + "queue q {\n  owns 4 gpu on a100\n  borrows up to 8 gpu on h100\n  only a100\n}\n",
        "borrows up to 8 gpu on h100",
        "never runs on h100",
    ),
    "more than 8 and less than 4": (
        ONE_FLAVOR + 'deny d { where workload.gpu > 8 and workload.gpu < 4 } because "x"\n',
        "d",
        "with `workload.gpu` 9 gpu only the first holds",
    ),
    "two users at once": (
        ONE_FLAVOR + 'deny d { where workload.user = "a*" and workload.user = "b*" } because "x"\n',
        "d",
        "never hold together",
    ),
    "a priority that is both lower and higher": (
        OWN + TWO.replace(" on a100", "") + "preempt own {\n  evict from any queue\n"
        "  where victim.priority < workload.priority and workload.priority < victim.priority\n}\n",
        "own",
        "never hold together",
    ),
    "denies that deny everything": (
        ONE_FLAVOR + 'deny big { where workload.gpu > 4 } because "x"\ndeny small { where workload.gpu <= 4 } because "y"\n',
        "small",
        "one with `workload.gpu` 5 gpu is denied by `big` and one with `workload.gpu` 4 gpu is denied by `small`",
    ),
    "what is not denied is held": (
        ONE_FLAVOR + 'deny some { where workload.user = "a*" } because "x"\nhold others { where not workload.user = "a*" } because "y"\n',
        "others",
        "is held by `others`",
    ),
    "a protection that always holds": (
        ONE_FLAVOR + "protect p { where victim.running >= 0s }\n",
        "p",
        "even with `victim.running` 0s",
    ),
    "two protections that together always hold": (
        ONE_FLAVOR + "protect p { where victim.running < 1h }\nprotect r { where victim.running >= 30m }\n",
        "r",
        None,
    ),
    "a deny rule that always holds": (
        ONE_FLAVOR + 'deny d for q { where workload.gpu >= 0 } because "x"\n',
        "d",
        "even with `workload.gpu` 0 gpu",
    ),
    "overlapping patterns": (
        HEAD + 'queue q { for namespace "x*" }\nqueue r { for namespace "x-*" }\n',
        'for namespace "x*"',
        'namespace "x-x" that names no queue matches both and is rejected',
    ),
    "a queue for everything beside others": (
        HEAD + 'queue q { for namespace "*" }\nqueue r { for namespace "nlp" and user "ada" }\n',
        'for namespace "*"',
        'namespace "nlp" and user "ada"',
    ),
    "turns by time": (
        OWN
        + TWO.replace(" on a100", "")
        + "preempt own {\n  evict from any queue\n  where workload.waiting >= 1d and victim.running >= 2h\n}\n",
        "own",
        "queues `q` and `r`, each evicts the other 1d after it was evicted itself",
    ),
    "turns of who runs too short": (
        OWN + TWO.replace(" on a100", "") + "preempt own {\n  evict from any queue\n  where victim.running < 10m\n}\n",
        "own",
        "each may evict the other",
    ),
    "turns by one of two ways": (
        OWN
        + TWO.replace(" on a100", "")
        + "preempt own {\n  evict from any queue\n  where victim.priority < workload.priority or victim.running >= 1h\n}\n",
        "own",
        "each evicts the other 1h after",
    ),
    "names that look alike": (
        HEAD + 'queue nlp { owns 4 gpu on a100 }\nqueue "nl\u0440" { owns 4 gpu on a100 }\n',
        '"nl\u0440"',
        "U+0440 (cyrillic small letter er)",
    ),
    "a test that expects nothing": (
        ONE_FLAVOR + 'test "t" {\n  at 0s submit w by q { 4 gpu }\n}\n',
        '"t"',
        "passes where no workload is ever admitted",
    ),
}
"""A policy, what the warning marks, and a piece of its example."""


@pytest.mark.parametrize("name", sorted(NONSENSE))
def test_nonsense_is_told_with_an_example(name, tmp_path: Path, capsys):
    """One warning, at the place, with an example; the policy can be used all the same."""
    text, marked, example = NONSENSE[name]
    path = tmp_path / "p.gpol"
    path.write_text(text)

    assert run_command(["check", str(path), "--format", "json"]) == 0

    *found, summary = map(json.loads, capsys.readouterr().out.splitlines())
    assert summary["digest"] is not None
    assert [each["severity"] for each in found] == ["warning"], found
    assert text[found[0]["span"]["start"] : found[0]["span"]["end"]] == marked
    assert example is None or example in " ".join(note["message"] for note in found[0]["notes"])


SOUND = {
    "a queue may borrow what another lends": HEAD + "queue rich { owns 8 gpu on a100 }\nqueue poor { owns nothing }\n",
    "names in another alphabet": HEAD + 'queue "наука" { owns 4 gpu on a100 }\nqueue "Zürich" { owns 4 gpu on a100 }\n',
    "4 GPUs are left": ONE_FLAVOR + 'deny big { where workload.gpu > 4 } because "x"\ndeny small { where workload.gpu < 4 } because "y"\n',
    "a closed queue": ONE_FLAVOR + 'deny closed for q because "moved to r"\nhold all because "racks move"\n',
    "a queue closed by its name": ONE_FLAVOR + 'deny closed { where workload.queue = q } because "moved to r"\n',
    "patterns that exclude each other": HEAD + 'queue q { for namespace "x-*" }\nqueue r { for namespace "x1-*" }\n',
    "conditions on different things": HEAD + 'queue q { for namespace "x-*" }\nqueue r { for user "ada" }\n',
    "who waits for a day evicts who runs for less": OWN
    + TWO.replace(" on a100", "")
    + "preempt own {\n  evict from any queue\n  where workload.waiting >= 1d and victim.running < 2h\n}\n",
    "protected while the rule would fire": OWN
    + TWO.replace(" on a100", "")
    + "preempt own {\n  evict from any queue\n  where victim.running < 10m\n}\nprotect young { where victim.running < 10m }\n",
    "turns within cohorts that never meet": OWN
    + "cohort c { queue q { owns 4 gpu } }\ncohort d { queue r { owns 4 gpu } }\n"
    + "preempt own { evict from any queue, in the same cohort }\n",
}
"""Policies that look alike and are sound."""


@pytest.mark.parametrize("name", sorted(SOUND))
def test_sound_policies_are_left_alone(name, tmp_path: Path, capsys):
    """No false alarm."""
    path = tmp_path / "p.gpol"
    path.write_text(SOUND[name])
    assert run_command(["check", str(path), "--format", "json"]) == 0
    assert len(capsys.readouterr().out.splitlines()) == 1


def test_shipped_policies_and_examples_are_sound(root: Path, capsys):
    """None of the policies that come with the program has a warning, but for those of another system, which may not come to rest."""
    paths = [str(path) for folder in ("policies", "examples") for path in sorted((root / folder).rglob("*.gpol"))]
    of_others = [path for path in paths if "/kueue-" in path]
    assert len(paths) - len(of_others) > 6
    assert run_command(["check", *(path for path in paths if path not in of_others)]) == 0
    assert "warning" not in capsys.readouterr().out
    assert run_command(["check", *of_others]) == 0
    warned = capsys.readouterr().out
    assert warned.count("warning[") == warned.count("warning[GP057]") == len(of_others)


def test_many_queues_with_patterns_are_compared_fast(tmp_path: Path, capsys):
    """Patterns of a thousand queues are not compared each with each."""
    queues = "".join(f'queue q{number} {{ for namespace "team{number}-*" and kind "j*" }}\n' for number in range(1_000))
    path = tmp_path / "p.gpol"
    path.write_text(HEAD + queues)
    assert run_command(["check", str(path)]) == 0
    assert "warning" not in capsys.readouterr().out
