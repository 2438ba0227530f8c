"""simulate: jobs in, figures and journals out, and jobs without an end."""

import hashlib
import json
import os
from collections.abc import Callable
from pathlib import Path
from threading import Thread
from typing import Any

import pytest
from gpol.engine.events import AnyEvent
from gpol.journal.journal import Journal
from policy_texts import IN_RACKS, TURNS

Gpol = Callable[..., Any]
SUBMITTED = {"kind": "WorkloadSubmitted", "time": 1, "workload": "a", "queue": "owner", "pod_sets": [{"requests": {"gpu": "4"}}]}


def _queue(done: Any, name: str) -> dict[str, Any]:
    return next(record for record in done.records if record.get("queue") == name)


@pytest.mark.parametrize(("on_evict", "hours"), [("restart", 17.333333), ("resume", 16)])
def test_simulate(gpol: Gpol, lab: Path, on_evict: str, hours: float) -> None:
    """The guest runs ten minutes, yields to the owner, and then runs its two hours anew (17 1/3 GPU-hours) or what is left (16)."""
    done = gpol("simulate", "lab.gpol", "jobs.csv", "--on-evict", on_evict, "--format", "json")

    guest, owner = _queue(done, "guest"), _queue(done, "owner")
    assert done.code == 0
    assert (guest["submitted"], guest["admitted"], guest["evicted"], guest["finished"], guest["rejected"]) == (2, 2, 1, 1, 1)
    assert (guest["gpu_hours"], owner["gpu_hours"]) == (hours, 8.0)
    assert owner["longest_owner_wait_us"] == 300_000_000


def test_nodes_are_there_from_the_start(gpol: Gpol, tmp_path: Path) -> None:
    """Each is a fact before the first job, at its moment; pods stand on them, and a decision is the same again."""
    (tmp_path / "p.gpol").write_text(IN_RACKS)
    (tmp_path / "jobs.csv").write_text("workload,submitted,duration,queue,pods,gpu,within\na,10m,1h,q,2,8,rack\nb,11m,1h,q,3,8,rack\n")
    (tmp_path / "nodes.csv").write_text("node,gpu,label:model,label:rack\nn1,8,h100,r1\nn2,8,h100,r2\nn3,8,h100,r2\n")
    done = gpol("simulate", "p.gpol", "jobs.csv", "--nodes", "nodes.csv", "--journal", "j.db")

    assert done.code == 0
    with Journal.open(tmp_path / "j.db") as journal:
        events = [recorded.event for recorded in journal.events()]
    assert [event.kind for event in events[:5]] == ["PolicyActivated", "SimulationStarted", "NodeAdded", "NodeAdded", "NodeAdded"]
    assert {event.time for event in events[:6]} == {600_000_000}
    admitted = next(event for event in events if event.kind == "WorkloadAdmitted")
    assert [place.domain for place in admitted.assignments[0].places] == [("n2",), ("n3",)]
    assert "b of q can never run: there are no places on h100 for main: room for 2 of 3 pods within one rack" in done.out
    assert gpol("replay", "j.db").code == 0


def test_nodes_of_no_flavor(gpol: Gpol, tmp_path: Path) -> None:
    """A misspelled label is told while the file is read, and at the end beside the job that finds no node."""
    (tmp_path / "p.gpol").write_text(IN_RACKS)
    (tmp_path / "jobs.csv").write_text("workload,submitted,duration,queue,gpu\na,0s,1h,q,1\n")
    (tmp_path / "nodes.csv").write_text("node,gpu,label:modell,label:rack\nn1,8,h100,r1\nn2,8,h100,r2\n")
    done = gpol("simulate", "p.gpol", "jobs.csv", "--nodes", "nodes.csv")

    assert done.code == 0
    said = "2 of 2 nodes are of no flavor and will serve nobody: n1, n2; where they should serve one, give them the labels of its"
    assert said in done.err
    assert 'which has what its nodes have, and no node is of it: 2 nodes lack label model = "h100"; correct the labels' in done.out
    (tmp_path / "nodes.csv").write_text("node,gpu,label:model,label:rack\nn1,8,h100,r1\n")
    assert "of no flavor" not in gpol("simulate", "p.gpol", "jobs.csv", "--nodes", "nodes.csv").err


def test_nodes_in_no_domain(gpol: Gpol, tmp_path: Path) -> None:
    """They are noted with the label that lacks, by every command that knows the nodes, and are on the page; their GPUs are stranded."""
    (tmp_path / "p.gpol").write_text(IN_RACKS)
    (tmp_path / "jobs.csv").write_text("workload,submitted,duration,queue,gpu\na,0s,1h,q,1\n")
    (tmp_path / "nodes.csv").write_text("node,gpu,label:model,label:rack\nn1,8,h100,\nn2,8,h100,r1\n")
    note = "note: node n1 of h100 has no label `rack` (level rack): it counts for what exists, and no pod gets a place there; add the label"
    done = gpol("simulate", "p.gpol", "jobs.csv", "--nodes", "nodes.csv", "--journal", "j.db", "--report", "page.html", "--format", "json")

    assert done.err.splitlines()[0] == note
    [nodes] = [record for record in done.records if record["kind"] == "nodes"]
    assert (nodes["nodes"], nodes["gpu_hours_existed"], nodes["stranded_gpu_hours"]) == (2, 16, 8)
    page = (tmp_path / "page.html").read_text()
    assert "<td class='l'>n1</td><td class='l'>has no label `rack` (level rack)</td>" in page
    assert "nobody: it is in no domain" in page
    exported = gpol("export", "state", "j.db")
    assert note in exported.err
    assert [row["lacks_label"] for row in map(json.loads, exported.out.splitlines()) if row["record"] == "place"] == ["rack", None]
    shown = gpol("state", "j.db", "--nodes", "--format", "plain").out
    assert "n1\th100\t0 of 8 gpu\tnobody: has no label `rack` (level rack)\t-" in shown
    assert gpol("export", "facts", "j.db", "-o", "facts.jsonl").code == 0
    assert note in gpol("run", "p.gpol", "facts.jsonl", "--as-recorded").err


def test_what_gpus_are_stranded_for(gpol: Gpol, tmp_path: Path) -> None:
    """A job of one GPU would take any; judged by pods of eight, seven GPUs beside it are stranded for its hour."""
    (tmp_path / "p.gpol").write_text(IN_RACKS)
    (tmp_path / "jobs.csv").write_text("workload,submitted,duration,queue,gpu\na,0s,1h,q,1\n")
    (tmp_path / "nodes.csv").write_text("node,gpu,label:model,label:rack\nn1,8,h100,r1\nn2,8,h100,r1\n")
    asked = ("simulate", "p.gpol", "jobs.csv", "--nodes", "nodes.csv")
    stranded = []
    for options in ((), ("--stranded-for", "8 gpu")):
        done = gpol(*asked, *options, "--format", "json", "--report", "page.html", "--force")
        [nodes] = [record for record in done.records if record["kind"] == "nodes"]
        stranded.append((nodes["stranded_gpu_hours"], nodes["most_stranded_gpu_milli"]))
    assert stranded == [(0, 0), (7, 7000)]
    assert "no pod of 8 gpu would have fitted there" in (tmp_path / "page.html").read_text()

    done = gpol(*asked, "--stranded-for", "0 gpu")
    assert (done.code, done.err) == (3, "gpol: --stranded-for: a pod that asks for 0 gpu fits everywhere; leave gpu out\n")
    (tmp_path / "p.gpol").write_text(IN_RACKS.replace("  placed in fabric\n", ""))
    done = gpol(*asked, "--stranded-for", "8 gpu")
    assert done.code == 3
    assert "--stranded-for: no flavor of the policy gives pods places" in done.err


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("node,gpu\nn1,lots\n", "nodes.csv:2: column `gpu`"),
        (None, "`nodes.csv` cannot be read"),
    ],
)
def test_nodes_that_cannot_be_read(gpol: Gpol, tmp_path: Path, text: str | None, said: str) -> None:
    """They are told, and nothing is played."""
    (tmp_path / "p.gpol").write_text(IN_RACKS)
    (tmp_path / "jobs.csv").write_text("workload,submitted,duration\na,0s,1h\n")
    if text is not None:
        (tmp_path / "nodes.csv").write_text(text)
    done = gpol("simulate", "p.gpol", "jobs.csv", "--nodes", "nodes.csv", "--journal", "j.db")

    assert done.code == 3
    assert said in done.err
    assert not (tmp_path / "j.db").exists()


def test_rejected_jobs_are_pointed_out(gpol: Gpol, lab: Path) -> None:
    """A job that is rejected does not vanish among those that ended: the sum says so, and where to ask why."""
    done = gpol("simulate", "lab.gpol", "jobs.csv")

    assert done.out.endswith(
        "\n1 workload never ran: 1 rejected\n  big rejected: Denied by too-big (lab.gpol:14), too big\n"
        "  `gpol log PATH --kind WorkloadRejected` says more, once there is a journal\n"
    )


def test_rejected_jobs_are_found_in_the_journal(gpol: Gpol, lab: Path) -> None:
    """Where a journal was written, the command that says why can be used as it is printed."""
    (lab / "big.jsonl").write_text(json.dumps({**SUBMITTED, "queue": "guest", "pod_sets": [{"requests": {"gpu": "9"}}]}) + "\n")
    simulated = gpol("simulate", "lab.gpol", "jobs.csv", "--journal", "my lab.db")
    played = gpol("run", "lab.gpol", "big.jsonl", "--journal", "j.db")

    assert "\n  `gpol log 'my lab.db' --kind WorkloadRejected` says more\n" in simulated.out
    assert played.out.endswith("\n  `gpol log j.db --kind WorkloadRejected` says more\n")


def test_simulate_reads_json_lines(gpol: Gpol, lab: Path) -> None:
    """A name that ends in .jsonl is read as JSON lines with durations; --trace says so for any name."""
    line = {key: value for key, value in SUBMITTED.items() if key != "kind"} | {"duration": "1h"}
    for name in ("jobs.jsonl", "jobs.txt"):
        (lab / name).write_text(json.dumps(line) + "\n")

    first = gpol("simulate", "lab.gpol", "jobs.jsonl", "--format", "json")
    assert (first.code, _queue(first, "owner")["gpu_hours"]) == (0, 4.0)
    assert gpol("simulate", "lab.gpol", "jobs.txt", "--trace", "jsonl", "--format", "json") == first


def test_simulate_names_journal_and_report(gpol: Gpol, lab: Path) -> None:
    """The journal's head is told as verify prints it; the report is written."""
    done = gpol("simulate", "lab.gpol", "jobs.csv", "--journal", "j.db", "--report", "r.html", "--format", "json")

    journal, report = done.records[-2:]
    assert report == {"v": 1, "kind": "report", "path": "r.html"}
    assert (lab / "r.html").read_text().startswith("<!doctype html>")
    assert gpol("verify", "j.db", "--head", f"{journal['seq']}:{journal['chain']}").code == 0


def test_an_existing_journal_is_not_written_over(gpol: Gpol, journal: str, lab: Path) -> None:
    """A journal that is there already is refused, exit code 3, and stays as it is."""
    before = gpol("log", journal).out
    done = gpol("simulate", "lab.gpol", "jobs.csv", "--journal", journal)

    assert (done.code, done.out) == (3, "")
    assert done.err == "gpol: `lab.db` is already there; choose another name, or remove it if nobody needs it\n"
    assert gpol("log", journal).out == before


@pytest.mark.usefixtures("few_turns")
def test_workloads_that_take_turns_end_a_simulation(gpol: Gpol, lab: Path) -> None:
    """Jobs that evict each other each minute and start anew never end: rule, line and remedy are told, exit code 3, in a whole journal."""
    (lab / "turns.gpol").write_text(TURNS)
    (lab / "turns.csv").write_text("workload,submitted,duration,queue,gpu\na,0s,1h,owner,4\nb,30s,1h,owner,4\nc,31s,1h,owner,4\n")
    done = gpol("simulate", "turns.gpol", "turns.csv", "--journal", "j.db")

    assert (done.code, done.out) == (3, "")
    assert done.err.startswith("gpol: time alone evicted `")
    assert "` by turn (turns.gpol:9): the policy lets workloads take turns; let the rule's guard rank the two" in done.err
    assert gpol("replay", "j.db").code == gpol("verify", "j.db").code == 0


def test_jobs_that_take_turns_and_go_on_where_they_were_end(gpol: Gpol, lab: Path) -> None:
    """With `resume` each turn does some of the work: three jobs of an hour on half the cluster each end after an hour and a half."""
    (lab / "turns.gpol").write_text(TURNS)
    (lab / "turns.csv").write_text("workload,submitted,duration,queue,gpu\na,0s,1h,owner,4\nb,30s,1h,owner,4\nc,31s,1h,owner,4\n")
    done = gpol("simulate", "turns.gpol", "turns.csv", "--on-evict", "resume", "--format", "json")

    assert (done.code, _queue(done, "owner")["finished"], _queue(done, "owner")["gpu_hours"]) == (0, 3, 12.0)


def _settings(path: str) -> tuple[int, AnyEvent]:
    with Journal.open(path) as journal:
        [recorded] = journal.of_kinds(("SimulationStarted",))
        return recorded.seq, recorded.event


@pytest.mark.parametrize(
    ("options", "on_evict"), [((), "restart"), (("--on-evict", "restart"), "restart"), (("--on-evict", "resume"), "resume")]
)
def test_the_settings_are_recorded(gpol: Gpol, lab: Path, options: tuple[str, ...], on_evict: str) -> None:
    """The second event of a simulation says what becomes of evicted jobs, and from which bytes its jobs came."""
    (lab / "in").mkdir()
    (lab / "in" / "jobs.csv").write_bytes((lab / "jobs.csv").read_bytes().replace(b"\n", b"\r\n") + b"\r\n")
    gpol("simulate", "lab.gpol", "in/jobs.csv", "--journal", "j.db", *options)
    seq, event = _settings("j.db")

    digest = hashlib.sha256((lab / "in" / "jobs.csv").read_bytes()).hexdigest()
    assert seq == 2
    assert event.model_dump() == {
        "kind": "SimulationStarted",
        "v": 1,
        "time": 1_772_438_400_000_000,
        "on_evict": on_evict,
        "source": "jobs.csv",
        "source_digest": f"sha256:{digest}",
    }
    assert f"SimulationStarted  jobs.csv evicted jobs {on_evict}, sha256:{digest}\n" in gpol("log", "j.db").out
    assert gpol("replay", "j.db").code == 0


@pytest.mark.parametrize("form", ["csv", "jsonl", "philly"])
def test_every_form_has_a_digest(gpol: Gpol, lab: Path, form: str) -> None:
    """Whatever the form, the digest is over all bytes of the file."""
    line = {key: value for key, value in SUBMITTED.items() if key != "kind"} | {"duration": "1h"}
    philly = "timestamp,duration,num_gpus,gpu_time,cluster\n2017-10-09 07:01:55,66.0,1,66.0,owner\n"
    texts = {"csv": (lab / "jobs.csv").read_text(), "jsonl": f"\n{json.dumps(line)}\n\n", "philly": philly}
    (lab / "jobs").write_text(texts[form])
    assert gpol("simulate", "lab.gpol", "jobs", "--trace", form, "--journal", "j.db").code == 0

    assert _settings("j.db")[1].model_dump()["source_digest"] == f"sha256:{hashlib.sha256(texts[form].encode()).hexdigest()}"


def test_jobs_from_a_pipe(gpol: Gpol, lab: Path) -> None:
    """A file that can be read once only is played, and its digest is that of what came through."""
    os.mkfifo(lab / "pipe")
    writer = Thread(target=lambda: (lab / "pipe").write_bytes((lab / "jobs.csv").read_bytes()))
    writer.start()
    done = gpol("simulate", "lab.gpol", "pipe", "--trace", "csv", "--journal", "j.db")
    writer.join()

    assert done.code == 0
    digest = hashlib.sha256((lab / "jobs.csv").read_bytes()).hexdigest()
    assert _settings("j.db")[1].model_dump()["source_digest"] == f"sha256:{digest}"


def test_a_name_that_no_event_can_hold(gpol: Gpol, lab: Path) -> None:
    """A file whose name is too long to be recorded is refused, and no journal is made."""
    name = 250 * "x" + ".csv"
    (lab / name).write_bytes((lab / "jobs.csv").read_bytes())
    done = gpol("simulate", "lab.gpol", name, "--journal", "j.db")

    assert done.code == 3
    assert "the name of the file has 254 characters, and at most 253 are recorded; rename it" in done.err
    assert not (lab / "j.db").exists()


def test_exported_facts_have_the_settings(gpol: Gpol, lab: Path) -> None:
    """The settings are a fact like any other: a run of exported facts ends in the same chain."""
    gpol("simulate", "lab.gpol", "jobs.csv", "--on-evict", "resume", "--journal", "j.db")
    (lab / "again").mkdir()
    exported = gpol("export", "facts", "j.db", "-o", "again/facts.jsonl", "-p", "again/lab.gpol")
    gpol("run", "again/lab.gpol", "again/facts.jsonl", "--as-recorded", "--journal", "again/j.db")

    assert exported.err == ""
    assert gpol("verify", "again/j.db").out == gpol("verify", "j.db").out


def test_who_waits_for_places(gpol: Gpol, tmp_path: Path) -> None:
    """Of one that waits still, what is told at the end says why it has no places."""
    (tmp_path / "p.gpol").write_text(IN_RACKS)
    of_rack = [{"kind": "NodeAdded", "time": 1, "node": f"n{each}", "labels": {"model": "h100", "rack": f"r{each}"}} for each in (1, 2)]
    facts = [
        *({**node, "capacity": {"gpu": "8"}} for node in of_rack),
        {**SUBMITTED, "queue": "q", "pod_sets": [{"requests": {"gpu": "8"}, "count": 2, "within": "rack"}]},
        {**SUBMITTED, "workload": "b", "queue": "q"},
        {**SUBMITTED, "workload": "c", "queue": "q", "pod_sets": [{"requests": {"gpu": "5"}}]},
        {**SUBMITTED, "workload": "d", "queue": "q", "pod_sets": [{"requests": {"gpu": "3"}, "count": 2, "within": "host"}]},
    ]
    (tmp_path / "facts.jsonl").write_text("".join(json.dumps(fact) + "\n" for fact in facts))
    done = gpol("run", "p.gpol", "facts.jsonl")

    said = "d of q waiting: TopologyPlacementFailed, no places on h100 for main: room for 1 of 2 pods within one host; closest is n1"
    assert said in done.out
