"""impact follows what a simulation recorded of itself, and lets nobody contradict it."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Gpol = Callable[..., Any]

SETTINGS = (
    '{{"kind":"SimulationStarted","v":1,"time":{time},"on_evict":"{on_evict}","source":"jobs.csv","source_digest":"sha256:{digest}"}}\n'
)


@pytest.fixture(params=["restart", "resume"])
def on_evict(request: pytest.FixtureRequest, gpol: Gpol, lab: Path) -> str:
    """What becomes of evicted jobs in the simulation `lab.db`, in which one is evicted."""
    assert gpol("simulate", "lab.gpol", "jobs.csv", "--on-evict", request.param, "--journal", "lab.db").code == 0
    text = (lab / "lab.gpol").read_text()
    (lab / "short.gpol").write_text(text.replace("running < 10m", "running < 7m"))
    (lab / "long.gpol").write_text(text.replace("running < 10m", "running < 20m"))
    return str(request.param)


def test_the_same_policy_changes_nothing(gpol: Gpol, on_evict: str) -> None:
    """Nobody has to say what the journal records: without options, and with the recorded one, nothing changes."""
    told = gpol("impact", "lab.db", "lab.gpol")
    again = gpol("impact", "lab.db", "lab.gpol", "--on-evict", on_evict)
    [record, *_] = gpol("impact", "lab.db", "lab.gpol", "--format", "json").records

    assert (told.code, told.out) == (0, "closed-loop impact of lab.gpol on lab.db\nnothing changes: all 5 decisions are the same\n")
    assert again == told
    assert (record["on_evict"], record["on_evict_seq"]) == (on_evict, 2)


@pytest.mark.parametrize("policy", ["short.gpol", "long.gpol"])
def test_another_history_is_the_simulation_byte_for_byte(gpol: Gpol, lab: Path, on_evict: str, policy: str) -> None:
    """The other history that impact keeps has the chain of a simulation of the same jobs under the other policy, settings and all."""
    told = gpol("impact", "lab.db", policy, "--journal", "other.db", "--format", "plain")
    gpol("simulate", policy, "jobs.csv", "--on-evict", on_evict, "--journal", "simulated.db")

    assert told.code == 2
    assert gpol("verify", "other.db").out == gpol("verify", "simulated.db").out
    rule = {"restart": "an evicted run begins anew", "resume": "an evicted run goes on where it stopped"}[on_evict]
    assert f"counted from its admission; {rule}, as event 2 records.\n" in told.out


def test_what_is_recorded_is_not_contradicted(gpol: Gpol, lab: Path, on_evict: str) -> None:
    """Another setting than the recorded one is refused, alone and in a sweep, with the event that records it; nothing is made."""
    other = {"restart": "resume", "resume": "restart"}[on_evict]
    message = f"gpol: the journal records a simulation with on_evict {on_evict} (event 2), not {other}; leave --on-evict out\n"
    for arguments in (
        ("lab.gpol", "--journal", "other.db"),
        ("lab.gpol", "short.gpol"),
        ("lab.gpol", "--set", "protect.warm-up.victim.running=5m"),
    ):
        done = gpol("impact", "lab.db", *arguments, "--on-evict", other)

        assert (done.code, done.out, done.err) == (3, "", message)
    assert not (lab / "other.db").exists()


def test_a_sweep_follows_the_record(gpol: Gpol, on_evict: str) -> None:
    """Each policy of a sweep is played as the journal records, so that the recorded policy changes nothing."""
    done = gpol("impact", "lab.db", "lab.gpol", "short.gpol", "--jobs", "1", "--format", "json")
    recorded, same, other = done.records
    [alone, *_] = gpol("impact", "lab.db", "short.gpol", "--format", "json").records

    assert (same["changed"], same["total"]) == (0, recorded["total"])
    assert (other["changed"], other["worse"], other["better"]) == (alone["changed"], alone["worse"], alone["better"])


def test_an_open_loop_has_no_such_setting(gpol: Gpol, on_evict: str) -> None:
    """An open loop plays no runs: the settings change nothing there, and are refused as an option, whatever they say."""
    assert gpol("impact", "lab.db", "lab.gpol", "--open-loop").code == 0
    done = gpol("impact", "lab.db", "lab.gpol", "--open-loop", "--on-evict", on_evict)

    assert (done.code, done.err.startswith("gpol: --on-evict: an open loop plays no runs")) == (3, True)


@pytest.mark.parametrize("on_evict", ["restart", "resume"])
def test_without_a_record_the_option_decides(gpol: Gpol, journal: str, on_evict: str) -> None:
    """A journal that records no simulation is played as the option says, and the notes do not claim that the journal says so."""
    [record, *_] = gpol("impact", journal, "lab.gpol", "--on-evict", on_evict, "--format", "json").records

    assert (record["on_evict"], record["on_evict_seq"]) == (on_evict, None)


def test_two_simulations_in_one_journal(gpol: Gpol, lab: Path) -> None:
    """Of simulations of both kinds none can be played as the other; an open loop plays them all the same."""
    facts = "".join(SETTINGS.format(time=time, on_evict=kind, digest=64 * "0") for time, kind in ((1, "restart"), (2, "resume")))
    assert gpol("run", "lab.gpol", "-", "--journal", "j.db", stdin=facts.encode()).code == 0
    refused = [gpol("impact", "j.db", "lab.gpol", *options) for options in ((), ("--on-evict", "resume"))]

    message = (
        "gpol: the journal has a simulation with on_evict restart (event 2) and one with resume (event 3), and a closed loop plays one of "
        "the two; give one policy and --open-loop, which plays no runs\n"
    )
    assert [(done.code, done.err) for done in refused] == 2 * [(3, message)]
    assert gpol("impact", "j.db", "lab.gpol", "--open-loop").code == 0
