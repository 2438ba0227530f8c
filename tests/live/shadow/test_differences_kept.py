"""Where a difference is kept: a line in a file that is appended to, and an event of the journal."""

import json
from pathlib import Path

import pytest
from commands import Gpol
from gpol.adapters.kueue.live.shadow.difference_file import DifferenceFile
from gpol.engine.facts import OperatorAction
from gpol.journal.journal import Journal
from modelled_kueue import ModelledKueue
from planted_faults import FaultKind, Planted, faults_of
from recorded_kueue import own_history, recorded_histories
from shadow_bench import HistoryPlayer, ShadowBench


def test_a_difference_stands_in_the_file_and_in_the_journal(tmp_path: Path) -> None:
    """The line has both reasons, and names the event that says the same; a line that was cut off before stays by itself."""
    case = own_history()
    fault = next(each for each in faults_of(case["in"], "own", most=1000) if each.kind == "victim" and each.workload == "ns/s2")
    bench = ShadowBench(tmp_path, case["in"])
    bench.file.write_text('{"cut off')
    (difference,) = HistoryPlayer(bench, ModelledKueue(case["in"], Planted(fault))).play(case["in"]["steps"])
    bench.close()
    cut_off, line = bench.file.read_text(encoding="utf-8").splitlines()
    assert cut_off == '{"cut off'
    told = json.loads(line)
    assert (told["kind"], told["workload"], told["text"]) == ("other victims", "ns/s2", difference.text)
    assert (told["kueue"]["victims"], told["kueue"]["reason"]) == ([fault.victim], "InCohortReclamation")
    assert told["gpol"]["victims"] == [fault.right]
    assert "speech (kueue.gpol:" in told["gpol"]["text"]
    with Journal.open(str(bench.journal), readonly=True) as journal:
        event = journal.at(told["event"]).event
    assert isinstance(event, OperatorAction)
    assert (event.workload, event.note) == (fault.victim, difference.text)


def test_what_cannot_be_written_is_kept_and_named(tmp_path: Path) -> None:
    """It is written with the next ones, as soon as that can be."""
    case = own_history()
    fault = next(each for each in faults_of(case["in"], "own", most=1000) if each.kind == "flavor")
    bench = ShadowBench(tmp_path, case["in"])
    player = HistoryPlayer(bench, ModelledKueue(case["in"], Planted(fault)))
    file = DifferenceFile(tmp_path / "absent" / "differences.jsonl")
    bench.shadow.file = file
    player.play(case["in"]["steps"])
    assert file.waiting == 1
    assert bench.shadow.problem == f"differences cannot be written to `{file.path}`: No such file or directory; 1 wait in memory"
    file.path.parent.mkdir()
    bench.look()
    bench.close()
    assert (file.waiting, bench.shadow.problem) == (0, "")
    assert len(file.path.read_text().splitlines()) == 1


OTHERS = [("7", "omission"), ("183", "admission"), ("229", "victim")]


@pytest.mark.parametrize(("name", "kind"), [("251", "flavor"), *(pytest.param(*each, marks=pytest.mark.slow) for each in OTHERS)])
def test_a_journal_with_a_difference_is_in_order(name: str, kind: FaultKind, tmp_path: Path, gpol: Gpol, shared: Path) -> None:
    """Its chain is whole, and its facts decide again what it has: gpol's own decisions, and none about what was taken as it is."""
    case = recorded_histories(shared)[name]
    fault = next(each for each in faults_of(case["in"], name) if each.kind == kind)
    bench = ShadowBench(tmp_path, case["in"])
    (difference,) = HistoryPlayer(bench, ModelledKueue(case["in"], Planted(fault))).play(case["in"]["steps"])
    explained = bench.shadow.explained
    bench.close()
    for command in ("verify", "replay", "fsck"):
        done = gpol(command, str(bench.journal))
        assert done.code == 0, (command, done.out, done.err)
    [record] = [record for record in gpol("log", str(bench.journal), "--format", "json").records if record["seq"] == difference.event]
    assert record["event"]["note"] == difference.text
    assert explained > 0
