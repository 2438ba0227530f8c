"""What `log`, `explain` and their like say: amounts, names that do not occur, moments, characters that nobody sees, and Ctrl-C."""

import json
import re
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from commands import Gpol

POLICY = """policy "lab" {
  use gpol.fair
}

flavor a100 { gpu 8 }

cohort all {
  queue owner { owns 8 gpu }
  queue guest { owns nothing }
}
"""


@pytest.fixture(autouse=True)
def _policy(gpol: Gpol) -> None:
    """The policy is in the folder."""
    Path("lab.gpol").write_text(POLICY)


def play(gpol: Gpol, *facts: dict[str, Any], journal: str = "j.db") -> None:
    """Run facts into a journal."""
    Path("facts.jsonl").write_text("".join(f"{json.dumps(fact)}\n" for fact in facts))
    assert gpol("run", "lab.gpol", "facts.jsonl", "--journal", journal)[0] == 0


def submitted(at: str, workload: str, queue: str = "guest", gpu: str = "8", **said: Any) -> dict[str, Any]:
    """A submission at a time of one day."""
    time = f"2026-03-02T{at}:00Z"
    return {
        "kind": "WorkloadSubmitted",
        "time": time,
        "workload": workload,
        "queue": queue,
        "pod_sets": [{"requests": {"gpu": gpu}}],
        **said,
    }


@pytest.fixture
def day(gpol: Gpol) -> None:
    """A guest that runs from 08:00, gives way to the owner at 08:30, and waits."""
    play(gpol, submitted("08:00", "g", user="ada", namespace="labs"), submitted("08:30", "o", "owner", user="ada", namespace="labs"))


# --- log --------------------------------------------------------------------------------------------------------------


@pytest.mark.usefixtures("day")
def test_log_shows_amounts_and_flavors(gpol: Gpol) -> None:
    """What is asked for, given, borrowed and given back stands on the line."""
    lines = gpol("log", "j.db")[1].splitlines()
    assert "WorkloadSubmitted  g in guest (8 gpu)" in lines[1]
    assert "WorkloadAdmitted   g in guest (8 gpu of a100, all borrowed) FitsBorrowing" in lines[2]
    assert "WorkloadEvicted    g in guest for o (8 gpu of a100) Preempted" in lines[4]


def test_log_shows_pods_and_machines(gpol: Gpol) -> None:
    """Pods are counted, and a machine says what it has."""
    pods = {**submitted("08:00", "p"), "pod_sets": [{"count": 4, "requests": {"gpu": "2"}, "flavors": ["a100"]}]}
    play(gpol, pods, {"kind": "NodeAdded", "time": "2026-03-02T09:00:00Z", "node": "n1", "labels": {}, "capacity": {"gpu": 4000}})
    out = gpol("log", "j.db")[1]
    assert "p in guest (4 x 2 gpu on a100)" in out
    assert "NodeAdded          n1 (4 gpu)" in out


@pytest.mark.usefixtures("day")
@pytest.mark.parametrize(
    ("option", "name", "told"),
    [
        ("--queue", "ownr", "--queue: no queue `ownr` occurs in the journal; did you mean owner?"),
        ("--workload", "zzz", "--workload: no workload `zzz` occurs in the journal; there are `g`, `o`"),
        ("--user", "adda", "--user: no user `adda` occurs in the journal; did you mean ada?"),
        ("--namespace", "lab", "--namespace: no namespace `lab` occurs in the journal; did you mean labs?"),
        ("--reason", "Prempted", "--reason: no decision for the reason `Prempted` occurs in the journal; did you mean Preempted?"),
        ("--rule", "reclaim-own", "--rule: no decision by a rule or line `reclaim-own` occurs in the journal; did you mean reclaim-owned?"),
    ],
)
def test_a_name_that_does_not_occur(gpol: Gpol, option: str, name: str, told: str) -> None:
    """It is said that it occurs nowhere, with what was probably meant, exit code 3; by exports as well, which write nothing then."""
    assert gpol("log", "j.db", option, name) == (3, "", f"gpol: {told}\n")
    assert gpol("export", "jsonl", "j.db", "-o", "out.jsonl", option, name) == (3, "", f"gpol: {told}\n")
    assert not Path("out.jsonl").exists()


@pytest.mark.usefixtures("day")
def test_a_name_that_occurs_without_such_events(gpol: Gpol) -> None:
    """Where only the filters together leave nothing, that is no mistake; nor is a queue of the policy to which nobody came."""
    assert gpol("log", "j.db", "--queue", "guest", "--kind", "WorkloadRejected") == (0, "", "gpol: no event is selected\n")
    assert gpol("log", "j.db", "--queue", "nosuch")[0] == 3
    assert gpol("log", "j.db", "--rule", "make-room") == (0, "", "gpol: no event is selected\n")


@pytest.mark.usefixtures("day")
def test_explain_says_which_workload_was_meant(gpol: Gpol) -> None:
    """An unknown workload is told with the one that was probably meant."""
    play_more = submitted("08:00", "train-resnet-7", "guest", "1")
    Path("j.db").rename("old.db")
    play(gpol, play_more)
    assert gpol("explain", "j.db", "train-resnet-8")[2].endswith("; did you mean train-resnet-7?\n")


# --- moments ----------------------------------------------------------------------------------------------------------


@pytest.mark.usefixtures("day")
@pytest.mark.parametrize("at", ["2026-03-02T09:00:00Z", "09:00", "9:00:00"])
def test_explain_is_headed_by_the_time_that_was_asked_for(gpol: Gpol, at: str) -> None:
    """The heading has the time asked for, and says of which time the last event before it is."""
    play_end = {"kind": "WorkloadFinished", "time": "2026-03-02T10:00:00Z", "workload": "o"}
    Path("j.db").rename("old.db")
    play(gpol, submitted("08:00", "g"), submitted("08:30", "o", "owner"), play_end)
    code, out, err = gpol("explain", "j.db", "g", "--at", at)
    assert (code, err) == (0, "")
    assert out.startswith("g is pending at 2026-03-02T09:00:00Z (event 6, of 2026-03-02T08:30:00Z)\n")
    assert "after event 6, at 2026-03-02T08:30:00Z, as it still was at 2026-03-02T09:00:00Z\n" in gpol("state", "j.db", "--at", at)[1]


def test_moments_may_be_written_as_in_files_of_jobs(gpol: Gpol) -> None:
    """A CSV may count from 0s; so may `--at`, `--since` and `--until`."""
    Path("jobs.csv").write_text("workload,submitted,duration,queue,gpu\na,0s,1h30m,owner,8\nb,10m,1h,owner,8\n")
    gpol("simulate", "lab.gpol", "jobs.csv", "--journal", "s.db")
    assert gpol("explain", "s.db", "b", "--at", "1h")[1].startswith(
        "b is pending at 1970-01-01T01:00:00Z (event 5, of 1970-01-01T00:10:00Z)\n"
    )
    assert len(gpol("log", "s.db", "--since", "5m", "--until", "90m")[1].splitlines()) == 3


def test_a_time_of_day_that_came_twice(gpol: Gpol) -> None:
    """Where a journal goes over several days, the day has to be said."""
    play(gpol, submitted("08:00", "g"), {"kind": "WorkloadFinished", "time": "2026-03-04T10:00:00Z", "workload": "g"})
    code, out, err = gpol("explain", "j.db", "g", "--at", "09:00")
    assert (code, out) == (3, "")
    assert "09:00 (UTC) came several times between 2026-03-02T08:00:00Z, its first event, and 2026-03-04T10:00:00Z" in err


# --- what is told of one workload ------------------------------------------------------------------------------------------


def test_a_workload_that_comes_later(gpol: Gpol) -> None:
    """Of a workload that was not submitted yet it is said when it is."""
    play(gpol, submitted("08:00", "g"), submitted("08:30", "o", "owner"))
    told = "gpol: no workload `o` was submitted up to event 3; its first event is 4, at 2026-03-02T08:30:00Z\n"
    assert gpol("explain", "j.db", "o", "--at", "2") == (3, "", told)


def test_flavors_that_a_workload_does_not_ask_for(gpol: Gpol) -> None:
    """A flavor that is not on its list is told so: it does not select other nodes, it asks for another flavor."""
    Path("lab.gpol").write_text(
        POLICY.replace("flavor a100 { gpu 8 }", "flavor a100 { gpu 8 }\nflavor h100 { gpu 1 }").replace("8 gpu }", "8 gpu on a100 }")
    )
    asks = {**submitted("08:01", "w", "owner"), "pod_sets": [{"requests": {"gpu": "1"}, "flavors": ["h100"]}]}
    play(gpol, {**asks, "workload": "first"}, asks)
    out = gpol("explain", "j.db", "w")[1]
    assert "flavor a100 for main (gpu): NoMatchingFlavor, it asks for h100\n" in out
    assert "selects other nodes" not in out


def test_what_waits_behind_a_hold(gpol: Gpol) -> None:
    """Of a held workload it is told what becomes of it once nothing holds it: here it would wait all the same, for that limit."""
    play(gpol, submitted("08:00", "a", "owner"), submitted("08:01", "w", "owner", hold=True))
    out = gpol("explain", "j.db", "w")[1]
    assert "  why: OnHold\n" in out
    assert "  as things stand: it would wait, even if nothing held it\n" in out
    assert "  limit: what exists at cluster: asks for 8 gpu on a100, 0 gpu available, 8 gpu more needed\n" in out


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ({"queue": "ownr"}, "rejected: NoMatchingQueue, the policy has no queue ownr\n"),
        ({"queue": None}, "rejected: NoMatchingQueue, it names no queue, and no `for` line of the policy chooses one\n"),
        ({"priority": "urgent"}, "rejected: UnknownPriority, the policy has no priority urgent\n"),
    ],
)
def test_why_it_was_rejected(gpol: Gpol, said: dict[str, Any], told: str) -> None:
    """`explain` says in words what was wrong, not only by a token."""
    play(gpol, {**submitted("08:00", "w", "owner"), **said})
    assert told in gpol("explain", "j.db", "w")[1]


def test_a_workload_that_asks_for_nothing(gpol: Gpol) -> None:
    """It is admitted at no charge, not on a flavor that is called nothing."""
    play(gpol, submitted("08:00", "w", "owner", "0"))
    assert "admitted to owner at no charge: FitsOwned" in gpol("explain", "j.db", "w")[1]
    assert "w in owner FitsOwned" in gpol("log", "j.db")[1]


def test_memory_has_its_unit(gpol: Gpol) -> None:
    """Memory that is no round number is told in bytes, not as a bare number."""
    Path("lab.gpol").write_text(POLICY.replace("{ gpu 8 }", "{\n  gpu 8\n  memory 64Gi\n}").replace("owns 8 gpu", "owns 8 gpu on a100"))
    play(gpol, {**submitted("08:00", "w", "owner"), "pod_sets": [{"requests": {"gpu": "1", "memory": 1_500_000_001}}]})
    assert "1500000001 bytes of memory" in gpol("explain", "j.db", "w")[1]
    assert "1500000001 bytes of memory" in gpol("log", "j.db")[1]


def test_the_remedy_for_a_resource_that_is_not_counted_helps(gpol: Gpol) -> None:
    """What `can never run` advises is right: with `ignore cpu` in the policy the workload runs."""
    asks = {**submitted("08:00", "w", "owner"), "pod_sets": [{"requests": {"gpu": "1", "cpu": "4"}}]}
    play(gpol, asks)
    assert "write `ignore cpu` in the policy" in gpol("explain", "j.db", "w")[1]
    Path("lab.gpol").write_text(POLICY.replace("use gpol.fair", "use gpol.fair\n  ignore cpu"))
    play(gpol, asks, journal="k.db")
    assert gpol("explain", "k.db", "w")[1].startswith("w is running at ")


# --- characters ---------------------------------------------------------------------------------------------------------

HIDDEN = "a\x1b[31m\x7f\x9b2J\u202eb\u200bc\u00add\u2066\u2060\ufeff\U000e0041"
_RAW = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\xad\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\U000e0000-\U000e0fff]")


@pytest.mark.parametrize("form", ["human", "plain", "json"])
def test_what_nobody_sees_is_escaped(gpol: Gpol, form: str) -> None:
    """Control characters, marks that turn text around and characters without width are never printed as they are, in no form."""
    pods = [{"name": HIDDEN, "requests": {"gpu": "1", HIDDEN: "2"}, "flavors": [HIDDEN]}]
    play(
        gpol,
        submitted("08:00", HIDDEN, "owner", user=HIDDEN),
        submitted("08:00", HIDDEN + "2", "owner", hold=True),
        {**submitted("08:00", "flavored", "owner"), "pod_sets": pods},
        submitted("08:00", "lost" + HIDDEN, HIDDEN),
    )
    Path(HIDDEN + ".gpol").write_text("policy")
    commands = [
        ("run", "lab.gpol", "facts.jsonl"),
        ("log", "j.db"),
        ("log", "j.db", "--queue", HIDDEN + "x"),
        ("explain", "j.db", HIDDEN),
        ("explain", "j.db", HIDDEN + "2"),
        ("explain", "j.db", "flavored"),
        ("explain", "j.db", "lost" + HIDDEN),
        ("explain", "j.db", "no" + HIDDEN),
        ("state", "j.db", "--workloads"),
        ("export", "jsonl", "j.db"),
        ("export", "facts", "j.db"),
        ("export", "state", "j.db"),
        ("check", HIDDEN + ".gpol"),
        ("run", HIDDEN + ".gpol", "facts.jsonl"),
        ("simulate", "lab.gpol", HIDDEN),
    ]
    raw = [
        (command[:2], found[0])
        for command in commands
        for found in _RAW.finditer("".join(gpol(*command, "--format", form)[1:]))
        if found[0] != "\t"
    ]
    assert raw == []


def test_json_says_the_same_with_escapes(gpol: Gpol) -> None:
    """A program that reads the JSON gets the name as it is; decisions that are written to a file have escapes as well."""
    play(gpol, submitted("08:00", HIDDEN, "owner"))
    gpol("run", "lab.gpol", "facts.jsonl", "--out", "out.jsonl")
    assert json.loads(gpol("log", "j.db", "--format", "json")[1].splitlines()[1])["event"]["workload"] == HIDDEN
    written = Path("out.jsonl").read_text()
    assert not _RAW.search(written)
    assert json.loads(written)["workload"] == HIDDEN


# --- names in messages --------------------------------------------------------------------------------------------------


def test_the_names_most_like_what_was_written_come_first(gpol: Gpol) -> None:
    """Of a long list of known names those come first that look like the unknown one, not those at the start of the alphabet."""
    queues = "".join(f"queue aaa{number:02} {{ owns nothing }}\n" for number in range(30))
    Path("many.gpol").write_text(
        f'policy "many" {{\n  use gpol.fair\n}}\nflavor a100 {{ gpu 8 }}\n{queues}queue research-vision {{ owns nothing }}\n'
        'hold h for vision-team because "moving"\n'
    )
    out = "".join(gpol("check", "many.gpol")[1:])
    assert "unknown" in out
    assert "known: `research-vision`, " in out or "did you mean `research-vision`?" in out


# --- Ctrl-C -------------------------------------------------------------------------------------------------------------

COMMAND = [
    sys.executable,
    "-c",
    "import signal; signal.signal(signal.SIGINT, signal.default_int_handler); from gpol.cli.main import main; main()",
]
"""The command; it heeds Ctrl-C even where the tests run in the background, with Ctrl-C ignored."""


@pytest.mark.parametrize("journal", [True, False])
@pytest.mark.skipif(sys.platform == "win32", reason="this system has no such signals")
def test_ctrl_c_says_what_was_kept(gpol: Gpol, tmp_path: Path, journal: bool) -> None:
    """A run that is stopped says which events its journal keeps and what to do with them, or that nothing was kept; exit code 130."""
    options = ["--journal", "j.db"] if journal else []
    command = [*COMMAND, "run", "lab.gpol", "-", "--out", "out.jsonl", *options]
    with subprocess.Popen(command, cwd=tmp_path, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as running:
        assert running.stdin is not None
        running.stdin.write(json.dumps(submitted("08:00", "a", "owner")).encode() + b"\n")
        running.stdin.write(json.dumps({"kind": "WorkloadFinished", "time": "2026-03-02T09:00:00Z", "workload": "a"}).encode() + b"\n")
        running.stdin.flush()
        for _ in range(3_000):
            if (tmp_path / "out.jsonl").exists() and (tmp_path / "out.jsonl").read_text().count("\n") == 1:
                break
            time.sleep(0.01)
        running.send_signal(signal.SIGINT)
        _, err = running.communicate()
    told = err.decode()
    assert running.returncode == 130
    if not journal:
        assert (
            told == "gpol: stopped; nothing was kept, as no journal was asked for; with --journal PATH what was played up to then is kept\n"
        )
        return
    kept = len(gpol("log", "j.db")[1].splitlines())
    assert told.startswith(f"gpol: stopped; the journal j.db keeps events 1 to {kept}, up to 2026-03-02T0")
    assert "`gpol state j.db` shows how things stood; no command plays on from there" in told
    assert gpol("replay", "j.db")[0] == 0
