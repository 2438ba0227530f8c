"""run: facts in, decisions, figures and journals out, and every kind of input that is refused."""

import gzip
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from gpol.engine.facts import WorkloadSubmitted
from policy_texts import TURNS

Gpol = Callable[..., Any]
WriteFacts = Callable[..., str]
SUBMITTED = {"kind": "WorkloadSubmitted", "time": 1, "workload": "a", "queue": "owner", "pod_sets": [{"requests": {"gpu": "4"}}]}


def _queue(done: Any, name: str) -> dict[str, Any]:
    return next(record for record in done.records if record.get("queue") == name)


def test_run_sums_up_by_queue(gpol: Gpol, facts: WriteFacts) -> None:
    """A guest that uses all 8 GPUs for an hour borrowed 8 GPU-hours; times may be RFC 3339 or microseconds."""
    done = gpol("run", "lab.gpol", facts(), "--format", "json")

    guest = _queue(done, "guest")
    assert done.code == 0
    assert (guest["submitted"], guest["admitted"], guest["finished"]) == (1, 1, 1)
    assert (guest["gpu_hours"], guest["borrowed_gpu_hours"], guest["share_of_gpu_hours"]) == (8.0, 8.0, 1.0)
    assert _queue(done, "owner")["lent_gpu_hours"] == 8.0
    start, end = 1_772_438_400_000_000, 1_772_442_000_000_000
    assert done.records[-1] == {"v": 1, "kind": "run", "facts": 3, "decisions": 1, "start": start, "end": end, "skipped": 0}


def test_run_in_plain_and_human(gpol: Gpol, facts: WriteFacts) -> None:
    """Plain is tab-separated, human a table; both end in the sum."""
    plain, human = gpol("run", "lab.gpol", facts(), "--format", "plain"), gpol("run", "lab.gpol", facts())

    header, guest, _, owners, last = plain.out.splitlines()
    assert header.split("\t")[:3] == ["queue", "owns", "submitted"]
    assert guest.split("\t")[:4] == ["guest", "0", "1", "1"]
    assert owners == "longest wait for what the workload's queue owns and does not use: 0s"
    assert last == "3 facts, 1 decision over 1h; 8.0 GPU-hours"
    assert "│ guest" in human.out
    assert human.out.endswith(last + "\n")


def test_run_writes_decisions(gpol: Gpol, facts: WriteFacts, lab: Path) -> None:
    """`--out` has each decision on a line with its seq: the policy is 1, the submission 2, its admission 3."""
    assert gpol("run", "lab.gpol", facts(), "--out", "out.jsonl").code == 0

    [decision] = [json.loads(line) for line in (lab / "out.jsonl").read_text().splitlines()]
    assert (decision["seq"], decision["kind"], decision["cause"], decision["workload"]) == (3, "WorkloadAdmitted", 2, "g")


def test_decisions_stay_where_the_journal_is_refused(gpol: Gpol, facts: WriteFacts, journal: str, lab: Path) -> None:
    """A run that does not begin, since its journal is there already, leaves the decisions of an earlier run as they are."""
    earlier = '{"seq":2,"kind":"WorkloadAdmitted","v":1,"time":1}\n'
    (lab / "out.jsonl").write_text(earlier)
    played = ("run", "lab.gpol", facts(), "--out", "out.jsonl")

    assert gpol(*played, "--journal", journal).code == 3
    assert (lab / "out.jsonl").read_text() == earlier
    assert gpol(*played).code == 0
    assert (lab / "out.jsonl").read_text().startswith('{"seq":3,')


def test_run_keeps_a_journal_that_replays(gpol: Gpol, facts: WriteFacts) -> None:
    """`--journal` keeps what happened, so that it replays and verifies."""
    assert gpol("run", "lab.gpol", facts(), "--journal", "j.db").code == 0

    assert gpol("replay", "j.db").out == "same: 3 facts decided again, 1 decision, all identical\n"
    assert gpol("verify", "j.db").code == 0


def test_run_reads_standard_input_and_gzip(gpol: Gpol, facts: WriteFacts, lab: Path) -> None:
    """`-` is standard input, `.gz` is unpacked; both decide as the plain file does."""
    data = (lab / facts()).read_bytes()
    (lab / "f.jsonl.gz").write_bytes(gzip.compress(data))
    plain = gpol("run", "lab.gpol", "facts.jsonl", "--format", "json")

    assert gpol("run", "lab.gpol", "-", "--format", "json", stdin=data) == plain
    assert gpol("run", "lab.gpol", "f.jsonl.gz", "--format", "json") == plain


def test_a_table_is_never_cut_off(gpol: Gpol, facts: WriteFacts, lab: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A long name widens the table where it goes into a file; on a narrow terminal each queue is a block of its own."""
    name = "q" * 200
    (lab / "lab.gpol").write_text((lab / "lab.gpol").read_text().replace("queue owner", f"queue {name}").replace("by owner", f"by {name}"))
    monkeypatch.setenv("COLUMNS", "20")
    wide = gpol("run", "lab.gpol", facts())
    monkeypatch.setattr(type(sys.stdout), "isatty", lambda stream: True)
    narrow = gpol("run", "lab.gpol", "facts.jsonl")

    assert f"│ {name} │" in wide.out
    assert f"\n{name}\n  owns: 8\n  submitted: 0\n" in narrow.out
    assert "…" not in wide.out + narrow.out


def test_run_of_nothing(gpol: Gpol, lab: Path) -> None:
    """An empty file is no fact, which is told, and no mistake."""
    (lab / "facts.jsonl").write_text("\n\n")
    done = gpol("run", "lab.gpol", "facts.jsonl", "--format", "json")

    assert (done.code, done.err) == (0, "gpol: no fact was played: facts.jsonl has none\n")
    assert done.records == [{"v": 1, "kind": "run", "facts": 0, "decisions": 0, "start": None, "end": 0, "skipped": 0}]


ACTIVATED = {"kind": "PolicyActivated", "time": 2, "file": "x.gpol"}
USING = 'policy "p" { use my.own }\nflavor a { gpu 8 }\nqueue q { owns 8 gpu }\n'
OWN = {"name": "my.own", "text": 'profile "my.own" {\n  order workloads by priority desc, submitted asc\n}\n'}
ODD = {"name": "my.own", "text": 'profile "my.own" {\n  nonsense\n}\n'}

BAD = [
    ({"kind": "WorkloadFinished", "time": 0, "workload": "a"}, "time"),
    ({"kind": "WorkloadFinished", "time": 2, "workload": "zed"}, "`zed`"),
    ({**SUBMITTED, "workload": "b", "color": "red"}, "color"),
    ({"kind": "WorkloadFinished", "time": 2}, "workload: Field required"),
    ({**SUBMITTED, "workload": "b", "time": "2026-03-02T08:00:00"}, "no zone"),
    ({"kind": "Nonsense", "time": 2}, "Nonsense"),
    ({"kind": "PolicyActivated", "time": 2, "file": "x", "text": "", "digest": "sha256:" + "0" * 64}, "PolicyActivated: x:1:1: error"),
    ({**ACTIVATED, "file": 5}, "PolicyActivated: `file` has to be the name of a file"),
    ({**ACTIVATED, "language": True, "text": USING}, "language: Input should be 1"),
    ({**ACTIVATED, "text": USING, "profiles": [ODD]}, "PolicyActivated: my/own.gpol:2:3: error GP007: `nonsense` starts no statement"),
    ({**ACTIVATED, "text": USING, "profiles": [OWN, {**OWN, "name": "another"}]}, "the policy does not use the profile `another`"),
    ({**ACTIVATED, "text": USING.replace("use my.own", ""), "profiles": [OWN]}, "help: add its text to the profiles that are given"),
    ({**ACTIVATED, "text": USING.replace("use", "# \u202e\nuse"), "profiles": [OWN]}, "x.gpol:1:16: error GP001"),
    ({**ACTIVATED, "text": USING, "profiles": [{**OWN, "text": OWN["text"] + "\r"}]}, "my/own.gpol:4:1: error GP001"),
    ({**ACTIVATED, "file": "a\u0000b"}, "no file can have the name"),
    ({**ACTIVATED, "file": "a" * 500}, f"`{'a' * 300}` cannot be read: File name too long"),
    ({**ACTIVATED, "text": USING + "# \ud800"}, "the line has half of a character, such as"),
    ('{"kind": "PolicyActivated", "time": ' + "9" * 5_000 + "}", "has too long a number"),
    ('{"kind": "PolicyActivated", }', "the line is not JSON: Expecting property name enclosed in double quotes at character 29"),
    (r'{"kind": "PolicyActivate\u0064", "time": 2}', "PolicyActivated: `text` is missing"),
    ('{"kind": ', "the line is not JSON: Expecting value at character 9"),
    ("[]", ""),
    (json.dumps(SUBMITTED)[:-1] + ', "workload": "b"}', "`workload` is there twice; keep one"),
    ('{"kind": "WorkloadFinished", "time": 2, "time": 3, "workload": "a"}', "`time` is there twice; keep one"),
    ('{"kind": "WorkloadFinished", "workload": ' + "[" * 100_000 + "]" * 100_000 + ', "time": 2, "workload": "a"}', ""),
    ("x" * 1_000_001, "longer than 1,000,000 bytes"),
]


@pytest.mark.parametrize(("line", "part"), BAD)
def test_a_bad_line_ends_the_run(gpol: Gpol, facts: WriteFacts, line: object, part: str) -> None:
    """A line that is no possible fact is named with its number; nothing from it on is applied, exit code 3."""
    done = gpol("run", "lab.gpol", facts(SUBMITTED, line, {**SUBMITTED, "workload": "c", "time": 3}), "--format", "json")

    assert done.code == 3
    assert "facts.jsonl:2: " in done.err
    assert part in done.err
    assert "nothing from this line on was applied" in done.err
    assert _queue(done, "owner")["submitted"] == 1


@pytest.mark.parametrize(("line", "part"), BAD)
def test_a_bad_line_may_be_skipped(gpol: Gpol, facts: WriteFacts, line: object, part: str) -> None:
    """With `--skip-invalid` it is listed, all others are applied, exit code 0."""
    done = gpol("run", "lab.gpol", facts(SUBMITTED, line, {**SUBMITTED, "workload": "c", "time": 3}), "--skip-invalid")

    assert done.code == 0
    assert done.err.startswith("skipped facts.jsonl:2: ")
    assert part in done.err
    assert done.out.endswith("3 facts, 2 decisions over 0s; 0.0 GPU-hours\n1 line was skipped\n")


SOON = "2026-03-02T08:01:00Z"
LATE = "2026-03-02T09:00:00Z"
GUEST = {**SUBMITTED, "time": "2026-03-02T08:00:00Z", "workload": "g", "queue": "guest", "pod_sets": [{"requests": {"gpu": "8"}}]}
OWNER = {**SUBMITTED, "time": SOON, "workload": "o"}


def _ended(workload: str, time: str = LATE) -> dict[str, str]:
    return {"kind": "WorkloadFinished", "time": time, "workload": workload}


@pytest.mark.parametrize("workload", ["zed", "p"])
def test_a_refused_line_leaves_nothing_behind(gpol: Gpol, facts: WriteFacts, workload: str) -> None:
    """A fact that can't have happened does not even let time pass: the guest, whose protection ends before it, is not evicted."""
    waiting = {**OWNER, "workload": "p", "pod_sets": [{"requests": {"gpu": "8"}}]}
    done = gpol("run", "lab.gpol", facts(GUEST, OWNER, waiting, _ended(workload)), "--journal", "j.db")
    kinds = [each["event"]["kind"] for each in gpol("log", "j.db", "--format", "json").records]

    assert done.code == 3
    assert "facts.jsonl:4: " in done.err
    assert "nothing from this line on was applied" in done.err
    assert kinds == ["PolicyActivated", "WorkloadSubmitted", "WorkloadAdmitted", "WorkloadSubmitted", "WorkloadSubmitted"]


def test_a_fact_that_time_makes_possible_is_played(gpol: Gpol, facts: WriteFacts) -> None:
    """The owner waits when its end is read, and runs by then, since the guest's protection ends on the way."""
    done = gpol("run", "lab.gpol", facts(GUEST, OWNER, _ended("o")), "--format", "json")

    assert (done.code, done.err) == (0, "")
    assert (_queue(done, "owner")["finished"], _queue(done, "guest")["evicted"]) == (1, 1)


def test_facts_as_recorded_are_played_alone(gpol: Gpol, facts: WriteFacts) -> None:
    """Without the moment at which its protection ends the guest runs on, and the owner's end is impossible; given as a fact, it decides."""
    moment = {"kind": "TimeAdvanced", "time": "2026-03-02T08:10:00Z"}
    alone = gpol("run", "lab.gpol", facts(GUEST, OWNER, _ended("o")), "--as-recorded", "--format", "json")
    given = gpol("run", "lab.gpol", facts(GUEST, OWNER, moment, _ended("o")), "--as-recorded", "--format", "json")

    assert alone.code == 3
    assert "facts.jsonl:3: " in alone.err
    assert (_queue(alone, "owner")["finished"], _queue(alone, "guest")["evicted"]) == (0, 0)
    assert given.code == 0
    assert (_queue(given, "owner")["finished"], _queue(given, "guest")["evicted"]) == (1, 1)
    assert [each["facts"] for each in given.records if each["kind"] == "run"] == [5]  # the policy's, and these four


def test_a_fact_that_time_overtakes_is_refused_and_the_truth_told(gpol: Gpol, facts: WriteFacts) -> None:
    """The guest is evicted on the way to its end: that stands, so the message doesn't claim that nothing was applied."""
    played = ("run", "lab.gpol", facts(GUEST, OWNER, _ended("g")), "--format", "json")
    ended, skipped = gpol(*played), gpol(*played, "--skip-invalid")

    told = "what time alone decided on the way to it, up to 2026-03-02T08:10:00Z, was applied, and nothing of the fact itself"
    assert (ended.code, skipped.code) == (3, 0)
    assert told in ended.err
    assert told in skipped.err
    assert "nothing from this line on" not in ended.err + skipped.err
    assert [_queue(done, "guest")["evicted"] for done in (ended, skipped)] == [1, 1]


def test_a_refused_first_line_does_not_activate_the_policy(gpol: Gpol, facts: WriteFacts) -> None:
    """A first line far ahead in time that is refused does not set the clock: what follows is played, and the journal starts there."""
    far = _ended("zed", "9999-01-01T00:00:00Z")
    done = gpol("run", "lab.gpol", facts(far, GUEST), "--skip-invalid", "--journal", "j.db", "--format", "json")

    assert done.code == 0
    assert (done.records[-1]["facts"], done.records[-1]["skipped"]) == (2, 1)
    assert {each["event"]["time"] for each in gpol("log", "j.db", "--format", "json").records} == {1_772_438_400_000_000}
    assert gpol("run", "lab.gpol", facts(far), "--format", "json").records[-1]["facts"] == 0


@pytest.mark.usefixtures("few_turns")
def test_workloads_that_take_turns_end_a_run(gpol: Gpol, facts: WriteFacts, lab: Path) -> None:
    """A fact a thousand years ahead, under a policy that lets workloads take turns: line, rule and remedy are told, exit code 3."""
    (lab / "turns.gpol").write_text(TURNS)
    three = [{**SUBMITTED, "workload": name, "time": second * 1_000_000} for name, second in (("a", 0), ("b", 30), ("c", 31))]
    late = {"kind": "TimeAdvanced", "time": "3026-01-01T00:00:00Z"}
    done = gpol("run", "turns.gpol", facts(*three, late), "--skip-invalid", "--journal", "j.db")

    assert done.code == 3
    assert "facts.jsonl:4: on the way to this line time alone evicted `" in done.err
    assert " by turn (turns.gpol:9): the policy lets workloads take turns; let the rule's guard rank the two" in done.err
    assert gpol("replay", "j.db").code == 0


def test_bytes_that_are_no_text_are_a_bad_line(gpol: Gpol, lab: Path) -> None:
    """A line that is not UTF-8 is named, exit code 3. Blanks before it count."""
    done = gpol("run", "lab.gpol", "-", stdin=b'\n  {"kind": "\xff"}\n')

    assert done.code == 3
    assert "stdin:2: the line is not UTF-8: byte 13 of the line is 0xff" in done.err


def test_a_file_that_is_no_gzip(gpol: Gpol, lab: Path) -> None:
    """What only looks packed is told, exit code 3."""
    (lab / "f.gz").write_bytes(b"plain")
    done = gpol("run", "lab.gpol", "f.gz")

    assert done.code == 3
    assert "f.gz:1: the file cannot be read on" in done.err


@pytest.mark.parametrize(
    ("arguments", "code", "part"),
    [
        (("run", "no.gpol", "facts.jsonl"), 3, "`no.gpol` cannot be read"),
        (("run", "-", "-"), 3, "standard input is either the policy or the facts"),
        (("run", "lab.gpol", "no.jsonl"), 3, "`no.jsonl` cannot be read"),
        (("run", "lab.gpol", "facts.jsonl", "--out", "no/out.jsonl"), 1, "`no/out.jsonl` cannot be written: No such file or directory"),
        (("run", "lab.gpol", "facts.jsonl", "--journal", "lab.gpol"), 3, "lab.gpol"),
        (("run", "lab.gpol", "facts.jsonl", "--out", "-"), 3, "--out: `-` is no name for a file; name one"),
        (("run", "lab.gpol", "facts.jsonl", "--out", "./facts.jsonl"), 3, "--out: `./facts.jsonl` is a file which the same command needs"),
        (("run", "lab.gpol", "facts.jsonl", "--out", "j", "--journal", "j"), 3, "--out: `j` is a file which the same command needs"),
        (("simulate", "lab.gpol", "jobs.csv", "--report", "jobs.csv"), 3, "--report: `jobs.csv` is a file which the same command needs"),
        (
            ("simulate", "lab.gpol", "jobs.csv", "--report", "j", "--journal", "j"),
            3,
            "--report: `j` is a file which the same command needs",
        ),
        (
            ("run", "lab.gpol", "facts.jsonl", "--out", "j", "--journal", "sqlite:///j"),
            3,
            "--out: `j` is a file which the same command needs",
        ),
        (
            ("run", "lab.gpol", "facts.jsonl", "--out", "j-wal", "--journal", "j"),
            3,
            "--out: `j-wal` is a file which the same command needs",
        ),
        (
            ("run", "lab.gpol", "facts.jsonl", "--out", "k", "--journal", "j", "--checkpoints", "c", "--key", "k"),
            3,
            "--out: `k` is a file which the same command needs",
        ),
        (("simulate", "lab.gpol", "jobs.csv", "--report", "."), 3, "`.` is a folder"),
        (("simulate", "lab.gpol", "no.csv"), 3, "`no.csv` cannot be read"),
        (("simulate", "lab.gpol", "jobs.csv", "--seed", "1"), 3, "nothing in a simulation is random"),
        (("simulate", "lab.gpol", "jobs.csv", "--trace", "swf"), 3, "--trace is one of csv, jsonl, philly, not `swf`"),
        (("simulate", "lab.gpol", "jobs.csv", "--on-evict", "pause"), 3, "--on-evict is restart or resume, not `pause`"),
        (("simulate", "lab.gpol", "jobs.csv", "--report", "no/r.html"), 3, "folder of `no/r.html` does not exist"),
        (("simulate", "lab.gpol", "facts.jsonl"), 3, "facts.jsonl:1: duration: missing"),
    ],
)
def test_what_cannot_be_done_is_told(gpol: Gpol, facts: WriteFacts, arguments: tuple[str, ...], code: int, part: str) -> None:
    """Files that are not there and options that mean nothing are told in one message on stderr."""
    facts()
    assert gpol("key", "new", "acme.example/lab", "-o", "k").code == 0
    done = gpol(*arguments)

    assert (done.code, done.out) == (code, "")
    assert part in done.err


def test_a_leader_that_asks_for_other_places_is_refused_where_it_comes_in(gpol: Gpol, facts: WriteFacts) -> None:
    """Its line is refused, also after a recorded one like it; what was recorded before is played, and its journal replays."""
    lead = {"name": "lead", "group": "g", "requests": {"gpu": "1"}, "within": "rack"}
    work = {"name": "work", "group": "g", "count": 2, "requests": {"gpu": "1"}}
    led = WorkloadSubmitted.model_validate({**SUBMITTED, "pod_sets": [lead, work]}).payload().decode()
    ended = gpol("run", "lab.gpol", facts(led))
    assert ended.code == 3
    assert "facts.jsonl:1: pod set `lead` leads `work`" in ended.err
    assert "let the leader ask for the same as its workers, or for nothing" in ended.err

    assert gpol("run", "lab.gpol", facts(led), "--as-recorded", "--journal", "j.db").code == 0
    assert gpol("replay", "j.db").code == 0
    assert '"kind":"WorkloadSubmitted"' in gpol("log", "j.db", "--format", "json").out
    assert gpol("run", "lab.gpol", facts(led)).code == 3
