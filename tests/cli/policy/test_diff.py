"""Tests of `gpol diff`."""

import re
from pathlib import Path

import pytest

from gpol.dsl.analysis.checker import check  # isort: skip


@pytest.fixture
def other(lab: Path) -> str:
    """The lab's policy with a longer protection and a stricter rule."""
    text = (lab / "lab.gpol").read_text().replace("10m }", "20m }").replace("workload.gpu > 8", "workload.gpu > 4")
    (lab / "other.gpol").write_text(text)
    return "other.gpol"


def test_the_same_meaning_is_no_difference(gpol, lab) -> None:
    """Another layout and other comments: exit code 0, and it says so."""
    (lab / "spread.gpol").write_text("# why\n\n" + (lab / "lab.gpol").read_text())
    done = gpol("diff", "lab.gpol", "spread.gpol")
    assert (done.code, done.out) == (0, "no difference: the two policies mean the same\n")
    same = gpol("diff", "lab.gpol", "spread.gpol", "--format", "json")
    assert [(record["kind"], record.get("alone"), record.get("same")) for record in same.records] == [
        ("verdict", "equal", None),
        ("verdict", "equal", None),
        ("diff", None, True),
    ]


def test_differences_are_told_with_their_lines_and_a_workload(gpol, other) -> None:
    """By subject: what, how, from what to what, both lines, and a test that shows it; exit code 2."""
    done = gpol("diff", "lab.gpol", other)
    assert done.code == 2
    assert (
        "protect rule warm-up\n  where: larger, victim.running < 10m -> victim.running < 20m (old lab.gpol:12, new other.gpol:12)"
        in done.out
    )
    assert "  where: larger, workload.gpu > 8 gpu -> workload.gpu > 4 gpu (old lab.gpol:14, new other.gpol:14)" in done.out
    assert "w under the new policy: rejected: Denied by too-big (other.gpol:14)" in done.out
    assert "queue guest: alone in the cluster less may be admitted" in done.out
    assert done.out.endswith("2 differences, 2 workloads to show them\n")


def test_a_shown_test_can_be_pasted(gpol, lab, other) -> None:
    """The blocks of the output pass in the new policy, with what was the case in the old one as a comment."""
    lines = gpol("diff", "lab.gpol", other).out.splitlines()
    starts = [number for number, line in enumerate(lines) if line.startswith("    test ")]
    blocks = ["\n".join(line[4:] for line in lines[start : lines.index("    }", start) + 1]) for start in starts]
    assert len(blocks) == 2
    assert all("  # under the old policy: expect w " in block for block in blocks)
    text = (lab / other).read_text().partition("test ")[0]
    (lab / "pasted.gpol").write_text(text + "\n".join(blocks) + "\n")
    assert gpol("test", "pasted.gpol").out.endswith("2 passed, 0 failed\n")


def test_plain_is_a_line_for_each_difference(gpol, other) -> None:
    """Tab-separated, under a header; then a line for each queue."""
    lines = [line.split("\t") for line in gpol("diff", "lab.gpol", other, "--format", "plain").out.splitlines()]
    assert lines[0][:5] == ["subject", "about", "how", "old", "new"]
    assert [line[:3] for line in lines[1:3]] == [["protect rule warm-up", "where", "larger"], ["deny rule too-big", "where", "larger"]]
    assert lines[3:] == [["queue", "alone"], ["guest", "less"], ["owner", "equal"]]
    assert {len(line) for line in lines[:3]} == {10}


def test_json_has_everything(gpol, lab, other) -> None:
    """Each difference with places, the number of scenarios and its witness, whose tests pass; then verdicts and a summary."""
    done = gpol("diff", "lab.gpol", other, "--format", "json")
    protect, deny, guest, owner, summary = done.records
    assert done.code == 2
    assert (deny["subject_kind"], deny["subject"], deny["about"], deny["how"]) == ("deny rule", "too-big", "where", "larger")
    assert (deny["old_source"], deny["new_source"]) == ({"file": "lab.gpol", "line": 14}, {"file": "other.gpol", "line": 14})
    assert deny["tried"] >= 1
    assert (deny["witness"]["old"]["state"], deny["witness"]["new"]["state"]) == ("admitted", "rejected")
    assert deny["witness"]["new"]["why"]["rule"] == {"name": "too-big", "file": "other.gpol", "line": 14}
    for record in (protect, deny):
        for file, side in (("lab.gpol", "old_test"), (other, "new_test")):
            assert check((lab / file).read_text() + record["witness"][side], file).errors == ()
    assert [each["alone"] for each in (guest, owner)] == ["less", "equal"]
    assert summary == {"v": 1, "kind": "diff", "same": False, "changes": 2, "shown": 2}


def test_without_a_workload_it_says_how_many_were_tried(gpol, lab) -> None:
    """No search is endless, and its failure is told."""
    both = "queue owner {\n  owns 8 gpu on a100\n  owns 8 gpu on h100\n}\nqueue guest { owns nothing }\n"  # the guest alone can borrow
    for file, worth in (("one.gpol", "1"), ("other.gpol", "2")):
        flavors = f"flavor a100 {{ gpu 8 }}\nflavor h100 {{\n  gpu 8\n  worth {worth}\n}}\n"
        (lab / file).write_text(f'policy "p" {{ use gpol.fair }}\n{flavors}{both}')
    done = gpol("diff", "one.gpol", "other.gpol")
    assert done.code == 2
    assert "  worth: changed, 1 -> 2 (" in done.out
    assert re.search(r"^    no workload found that shows it \([0-9]+ scenarios tried\)$", done.out, re.MULTILINE)
    assert done.out.endswith("1 difference, 0 workloads to show it\n")


def test_why_no_test_can_show_it_is_told(gpol, lab) -> None:
    """What is known to decide nothing is not searched: the reason stands in place of a workload."""
    (lab / "other.gpol").write_text((lab / "lab.gpol").read_text().replace("gpu 8 }\n\ncohort", "\n  gpu 8\n  worth 2\n}\n\ncohort"))
    done = gpol("diff", "lab.gpol", "other.gpol")
    reason = "nothing is decided by it: no other flavor has a resource of a100, so that its worth cancels out of every share"
    assert done.code == 2
    assert done.out.splitlines()[1:] == [
        "  worth: changed, 1 -> 2 (old lab.gpol:5, new other.gpol:5)",
        f"    {reason}",
        "1 difference, 0 workloads to show it",
    ]
    [change, *_] = gpol("diff", "lab.gpol", "other.gpol", "--format", "json").records
    assert (change["about"], change["unshown"], change["tried"], change["witness"]) == ("worth", reason, None, None)


def test_what_is_alike_is_told_once(gpol, lab) -> None:
    """Queues of which the same is to be said share a heading and a workload; programs get each of them."""
    queues = [f"  queue q{number} {{ owns {amount} gpu on a100 }}\n" for number, amount in enumerate((2, 2, 1))]
    rest = ("  queue other { owns nothing }\n  queue idle { owns nothing }\n", "}\n")
    head = 'policy "p" { use gpol.fair }\nflavor a100 { gpu 8 }\ncohort all {\n'
    (lab / "a.gpol").write_text("".join([head, *queues, *rest]))
    (lab / "b.gpol").write_text("".join([head.replace("gpu 8", "gpu 9"), *(each.replace("owns 2", "owns 3") for each in queues), *rest]))
    lines = gpol("diff", "a.gpol", "b.gpol").out.splitlines()

    assert [line for line in lines if line.startswith("queue")] == [
        "queues q0, q1: alone in the cluster more may be admitted",
        "queues idle, other, q2: alone in the cluster more may be admitted",
    ]
    assert "  owns gpu on a100: larger for the queue, 2 -> 3 (q0: old a.gpol:4, new b.gpol:4)" in lines
    assert sum(line.startswith('    test "queue q') for line in lines) == 1
    assert lines[-1] == "3 differences, 2 workloads to show them; 1 more of differences that are alike"
    records = gpol("diff", "a.gpol", "b.gpol", "--format", "json").records
    assert [each["subject"] for each in records if each["kind"] == "change"] == ["a100", "q0", "q1"]
    assert all(each["witness"] for each in records if each["kind"] == "change")


def test_it_says_for_whom_it_is_larger(gpol, lab) -> None:
    """A queue that lends less has more for itself."""
    text = (lab / "lab.gpol").read_text()
    (lab / "keeps.gpol").write_text(text.replace("queue owner {", "queue owner {\n    lends up to 0 gpu on a100\n   ", 1))
    assert "  lends gpu on a100: larger for the queue, anything -> up to 0 (" in gpol("diff", "lab.gpol", "keeps.gpol").out


def test_a_broken_policy_is_refused(gpol, lab) -> None:
    """Whichever of the two it is: its diagnostics, nothing on stdout, exit code 3."""
    (lab / "broken.gpol").write_text('policy "p" { }\nflavor h100 { gpu x }\n')
    for files in (("lab.gpol", "broken.gpol"), ("broken.gpol", "lab.gpol"), ("lab.gpol", "nowhere.gpol")):
        done = gpol("diff", *files)
        assert (done.code, done.out) == (3, "")
        assert done.err
    done = gpol("diff", "-", "-")
    assert done.code == 3
    assert "only one of the two policies can be read from standard input" in done.err


def test_one_side_may_come_from_standard_input(gpol, lab, other) -> None:
    """`-` is standard input, for either side."""
    text = (lab / "lab.gpol").read_bytes()
    assert "old stdin:12" in gpol("diff", "-", other, stdin=text).out
    assert gpol("diff", "lab.gpol", "-", stdin=text).code == 0
