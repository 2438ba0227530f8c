"""What is told of mistakes that newcomers make: each with its place and with what to write, for users of Kueue, YARN and Slurm."""

import json
from pathlib import Path

import pytest
from gpol.cli.main import run_command

HEAD = 'policy "p" { }\nflavor h100 { gpu 100 }\n'
QUEUE = HEAD + "queue q { owns 8 gpu }\n"

MISTAKES = [
    # numbers
    (HEAD + "queue q { weight 1234567890123456789012345 }\n", "1234567890123456789012345", "fewer digits"),
    (HEAD + f"queue q {{ owns {'9' * 4_000} gpu }}\n", "9" * 4_000, "write a shorter one"),
    (HEAD + "priority high 1e3\n", "1e3", "a whole number from -2147483648 to 2147483647"),
    # times
    (QUEUE + 'deny r { where time > 20:00 } because "x"\n', "20:00", "rules compare durations"),
    (QUEUE + "protect r { where victim.running < 00:10:00 }\n", "00:10:00", "write `10m`"),
    (QUEUE + "protect r { where victim.admitted < 2026-02-30T25:00:00Z }\n", "2026-02-30T25:00:00Z", "rules compare durations"),
    (QUEUE + "protect r { where victim.running < 10 minutes }\n", "10 minutes", "write `10m`"),
    (QUEUE + "protect r { where victim.running < 10min }\n", "10min", "write `10m`"),
    # items of other systems
    (HEAD + "clusterQueue q { owns 8 gpu }\n", "clusterQueue", "write `queue NAME"),
    (HEAD + "partition q { owns 8 gpu }\n", "partition", "write `queue NAME"),
    (HEAD + "qos high { priority 5 }\n", "qos", "write `priority NAME 100`"),
    (HEAD + "resourceFlavor a { gpu 8 }\n", "resourceFlavor", "write `flavor NAME"),
    (HEAD + 'include "x.gpol"\n', "include", "a policy is one file"),
    ("apiVersion: kueue.x-k8s.io/v1beta1\n" + HEAD, "apiVersion", "`gpol import kueue FILE`"),
    (HEAD + "// comment\n", "//", "a comment starts with `#`"),
    (HEAD + "-- comment\n", "--", "a comment starts with `#`"),
    ("{}\n" + HEAD, "{", 'start the file with `policy "name" { }`'),
    ("<allocations>\n" + HEAD, "<", "this looks like XML"),
    # statements of other systems
    (HEAD + "queue q {\n  nominalQuota 8\n}\n", "nominalQuota", "write `owns 8 gpu`"),
    (HEAD + "queue q {\n  borrowingLimit 8 gpu\n}\n", "borrowingLimit", "`borrows up to 8 gpu`"),
    (HEAD + "queue q {\n  max-resources 8 gpu\n}\n", "max-resources", "`borrows up to 8 gpu`"),
    (HEAD + "queue q {\n  minShare 8 gpu\n}\n", "minShare", "`guarantees 8 gpu`"),
    (HEAD + "queue q {\n  parent root\n}\n", "parent", "into the block of its parent"),
    (HEAD + "queue q {\n  users ada\n}\n", "users", 'write `for user "ada"`'),
    (HEAD + "queue q { borrows 8 gpu }\n", "8", "write `borrows up to 8 gpu`"),
    (HEAD + "queue q { borrows at most 8 gpu }\n", "at", "write `borrows up to 8 gpu`"),
    (HEAD + "queue q { lends 8 gpu }\n", "8", "write `lends up to 8 gpu`"),
    (HEAD + 'queue q { for users "ada" }\n', "users", "write `for user`"),
    (HEAD + 'queue q { for user "ada" or user "bob" }\n', "or", 'write a second line: `for user "bob"`'),
    (HEAD + "queue q {\n  priority high\n}\n", "high", "`default priority high`"),
    (HEAD + 'queue q {\n  owns 8 "nvidia.com/gpu"\n}\n', '"nvidia.com/gpu"', "declare others"),
    # guards of other languages
    (QUEUE + 'deny r { where gpu > 8 } because "x"\n', "gpu", "write `workload.gpu`"),
    (QUEUE + 'deny r { where job.gpu > 8 } because "x"\n', "job.gpu", "write `workload.gpu`"),
    (QUEUE + 'deny r { workload.gpu > 8 } because "x"\n', "workload.gpu", "`where workload.gpu ...`"),
    (QUEUE + 'deny r { if workload.gpu > 8 } because "x"\n', "if", "write `where`"),
    (QUEUE + 'deny r { where 8 < workload.gpu } because "x"\n', "8", "write `workload.gpu > 8`"),
    (QUEUE + 'deny r { where workload.user in ("a", "b") } because "x"\n', "in", "one comparison for each value"),
    (QUEUE + 'deny r { where workload.user like "a%" } because "x"\n', "like", "a pattern with `*` and `?`"),
    (QUEUE + 'deny r { where workload.gpu is 8 } because "x"\n', "is", "write `=`"),
    (QUEUE + 'deny r { where workload.gpu > 2 * 4 } because "x"\n', "*", "compare one field with a value"),
    (QUEUE + 'deny r { where workload.running > 8h } because "x"\n', "workload.running", "judges a submission"),
    (QUEUE + "deny r { where workload.gpu > 8 } because too big\n", "too big", 'write `"too big"`'),
    # tests
    (QUEUE + 'test "t" { submit w by q { 8 gpu } }\n', "submit", "`at 0s submit ...`"),
    (QUEUE + 'test "t" { at 0s submit w to q { 8 gpu } }\n', "to", "write `by`"),
    (QUEUE + 'test "t" {\n  at 0s submit w by q { 8 gpu }\n  expect w running\n}\n', "running", "write `admitted`"),
    # characters that look like others
    (HEAD + "queue q { owns 8 g\u0440u }\n", "g\u0440u", "write `gpu` in plain letters"),
    (HEAD + "queue q { owns \uff18 gpu }\n", "\uff18", "write `8` in plain letters and digits"),
    (HEAD + "queue q { owns\u00a08 gpu }\n", "\u00a0", "write a plain space"),
]


@pytest.mark.parametrize(("text", "marked", "piece"), MISTAKES, ids=[f"{number}" for number in range(len(MISTAKES))])
def test_a_mistake_is_told_with_what_to_write(text, marked, piece, tmp_path: Path, capsys):
    """One error, on the piece of text that is wrong, and advice that can be followed."""
    path = tmp_path / "p.gpol"
    path.write_text(text)
    assert run_command(["check", str(path), "--format", "json"]) == 3
    *found, _ = map(json.loads, capsys.readouterr().out.splitlines())
    told = [(text[each["span"]["start"] : each["span"]["end"]], each["help"]) for each in found]
    assert [each for each in told if each[0] == marked and piece in each[1]], told
    assert all(len(each["message"]) < 300 for each in found)


@pytest.mark.parametrize(
    "data",
    [HEAD.encode() + b"# " + b"x" * 2_000_000, HEAD.encode() + b"\n" * 100_000],
)
def test_too_long_a_policy_is_not_to_be_split(data, tmp_path: Path, capsys):
    """A policy is one file, so the advice is to make it shorter."""
    path = tmp_path / "p.gpol"
    path.write_bytes(data)
    assert run_command(["check", str(path)]) == 3
    told = capsys.readouterr().out
    assert "GP002" in told
    assert "split" not in told
    assert "leave out comments" in told


def test_a_policy_of_many_lines_is_read(tmp_path: Path, capsys):
    """30,000 lines, most of them comments, are no reason to refuse a policy."""
    path = tmp_path / "p.gpol"
    path.write_text(QUEUE + "# a line\n" * 30_000)
    assert run_command(["check", str(path)]) == 0
    assert "good" in capsys.readouterr().out


def test_statements_in_column_one_are_formatted(tmp_path: Path, capsys):
    """Braces say what stands where, so `fmt` indents it; `check` says so and nothing else."""
    path = tmp_path / "p.gpol"
    path.write_text(HEAD + 'cohort c {\nqueue q {\nowns 8 gpu\n# whose\nfor user "ada"\n}\n}\n')
    assert run_command(["check", str(path), "--format", "json"]) == 3
    *found, _ = map(json.loads, capsys.readouterr().out.splitlines())
    assert {each["code"] for each in found} == {"GP005"}
    assert all("`gpol fmt`" in each["help"] for each in found)

    assert run_command(["fmt", str(path)]) == 0

    formatted = HEAD.replace("}\nf", "}\n\nf") + '\ncohort c {\n  queue q {\n    owns 8 gpu\n    # whose\n    for user "ada"\n  }\n}\n'
    assert path.read_text() == formatted
    assert run_command(["check", str(path)]) == 0


@pytest.mark.parametrize("body", ["queue q {\nowns 8 gpu\n", "queue q {\nowns 8 gpu\n}\n}\n"])
def test_where_braces_are_missing_nothing_is_indented(body, tmp_path: Path):
    """Where a block is not closed, or closed twice, nobody knows what stands where: the file stays as it is."""
    path = tmp_path / "p.gpol"
    path.write_text(HEAD + body)
    assert run_command(["fmt", str(path)]) == 3
    assert path.read_text() == HEAD + body


def test_a_folder_is_told_as_one(tmp_path: Path, capsys):
    """Not as a file whose rights are to be checked."""
    assert run_command(["fmt", "--check", str(tmp_path)]) == 3
    assert f"`{tmp_path}` is a folder; name the files in it" in capsys.readouterr().err


def test_compiling_tells_warnings(tmp_path: Path, capsys):
    """On stderr; the compiled policy on stdout is as it is."""
    path = tmp_path / "p.gpol"
    path.write_text(QUEUE + "queue r {\n  owns nothing\n  borrows nothing\n}\n")
    assert run_command(["compile", str(path)]) == 0
    printed = capsys.readouterr()
    assert "GP053" in printed.err
    assert json.loads(printed.out)["kind"] == "policy-graph"
