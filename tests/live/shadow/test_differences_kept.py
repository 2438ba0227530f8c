"""Where a difference is kept: a line in a file that is appended to, and an event of the journal."""

import json
from pathlib import Path

from gpol.adapters.kueue.live.shadow.difference_file import DifferenceFile
from gpol.engine.facts import OperatorAction
from gpol.journal.journal import Journal
from modelled_kueue import ModelledKueue
from planted_faults import Planted, faults_of
from recorded_kueue import own_history
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
