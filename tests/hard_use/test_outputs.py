"""Outputs destroy nothing: what a command may write over, what it never does, and who may read what it writes."""

import os
import stat
import subprocess
import sys
from collections.abc import Iterator
from contextlib import chdir
from pathlib import Path

import pytest
from commands import Gpol
from gpol.cli.main import run_command

FACTS = '{"kind":"WorkloadSubmitted","time":1,"workload":"a","queue":"owner","pod_sets":[{"requests":{"gpu":"8"}}]}\n'

DUMP = """apiVersion: kueue.x-k8s.io/v1beta1
kind: ResourceFlavor
metadata: {name: f}
---
apiVersion: kueue.x-k8s.io/v1beta1
kind: ClusterQueue
metadata: {name: q}
spec:
  namespaceSelector: {}
  resourceGroups:
  - coveredResources: [nvidia.com/gpu]
    flavors:
    - name: f
      resources: [{name: nvidia.com/gpu, nominalQuota: 1}]
"""


@pytest.fixture(scope="module")
def made(folder: Path) -> Path:
    """A folder with a policy, jobs, facts, a dump, a journal `d.db`, a key `some.key` and a checkpoint of the journal."""
    with chdir(folder):
        for name, text in {"facts.jsonl": FACTS, "dump.yaml": DUMP, "notes.txt": "mine\n"}.items():
            Path(name).write_text(text)
        assert run_command(["simulate", "lab.gpol", "jobs.csv", "--journal", "d.db"]) == 0
        assert run_command(["key", "new", "acme.example/lab", "-o", "some.key"]) == 0
        assert run_command(["checkpoint", "d.db", "--key", "some.key", "-o", "d.checkpoint"]) == 0
    return folder


@pytest.fixture
def open_umask() -> Iterator[None]:
    """A user who lets everybody read what is new."""
    before = os.umask(0o022)
    yield
    os.umask(before)


OUTPUTS = {
    "report of simulate": ("simulate", "lab.gpol", "jobs.csv", "--report"),
    "report of impact": ("impact", "d.db", "lab.gpol", "--report"),
    "decisions": ("run", "lab.gpol", "facts.jsonl", "--out"),
    "compiled": ("compile", "lab.gpol", "-o"),
    "events": ("export", "jsonl", "d.db", "-o"),
    "state": ("export", "state", "d.db", "-o"),
    "facts": ("export", "facts", "d.db", "-o"),
    "objects": ("export", "kueue", "imported.gpol", "-o"),
    "import": ("import", "kueue", "dump.yaml", "-o"),
    "facts of an import": ("import", "kueue", "dump.yaml", "--facts"),
    "proof": ("prove", "d.db", "2", "--checkpoint", "d.checkpoint", "-o"),
}
"""A command for each kind of output, up to the name of the file."""


@pytest.mark.parametrize("kind", sorted(OUTPUTS))
def test_no_output_replaces_what_lasts(call: Gpol, kind: str) -> None:
    """A journal, a key, a checkpoint and a policy stay as they are, whatever the option and even with --force: exit code 3, and why."""
    assert call("import", "kueue", "dump.yaml", "-o", "imported.gpol")[0] == 0
    for policy in ("own.gpol", "policy-by-another-name"):
        Path(policy).write_text('queue mine { owns nothing }\nflavor "x" {')
    for name in ("d.db", "some.key", "some.pub", "d.checkpoint", "own.gpol", "policy-by-another-name"):
        before = Path(name).read_bytes()
        for force in ([], ["--force"]):
            code, _, told = call(*OUTPUTS[kind], name, *force)
            assert Path(name).read_bytes() == before
            assert (name, code) == (name, 3)
            assert f"`{name}`" in told


@pytest.mark.parametrize("kind", sorted(OUTPUTS))
def test_files_of_others_stay_unless_forced(call: Gpol, kind: str) -> None:
    """What gpol did not write is written over with --force alone. The message says so, and the exit code is 3."""
    assert call("import", "kueue", "dump.yaml", "-o", "imported.gpol")[0] == 0

    code, _, told = call(*OUTPUTS[kind], "notes.txt")
    assert (code, Path("notes.txt").read_text()) == (3, "mine\n")
    assert "`notes.txt` is there already" in told
    assert "--force" in told
    assert call(*OUTPUTS[kind], "notes.txt", "--force")[0] in (0, 2)
    assert Path("notes.txt").read_text() != "mine\n"


@pytest.mark.parametrize("kind", sorted(set(OUTPUTS) - {"facts", "facts of an import"}))
@pytest.mark.parametrize("suffix", ["", ".gz", ".parquet"])
def test_a_command_may_renew_its_own_output(call: Gpol, kind: str, suffix: str) -> None:
    """A second call writes over the file of the first; the output of another kind is refused."""
    assert call("import", "kueue", "dump.yaml", "-o", "imported.gpol")[0] == 0
    command, place = OUTPUTS[kind], f"out{suffix}"

    assert call(*command, place)[0] in (0, 2)
    first = Path(place).read_bytes()
    code, _, told = call(*command, place)
    assert (code in (0, 2), Path(place).read_bytes() == first) == (True, True), told
    other = "compiled" if kind != "compiled" else "report of simulate"
    assert call(*OUTPUTS[other], place)[0] == 3
    assert Path(place).read_bytes() == first


def test_events_in_parquet_may_be_renewed(call: Gpol) -> None:
    """Parquet files say in their metadata what they are: events are no state."""
    for _ in range(2):
        assert call("export", "parquet", "d.db", "-o", "e.parquet")[0] == 0
    code, _, told = call("export", "state", "d.db", "-o", "e.parquet")
    assert (code, "is not an export of a state in Parquet" in told) == (3, True)


def test_an_import_that_was_edited_stays(call: Gpol) -> None:
    """An imported policy that somebody has changed is a policy like any other."""
    assert call("import", "kueue", "dump.yaml", "-o", "mine.gpol")[0] == 0
    text = Path("mine.gpol").read_text().replace("owns 1", "owns 2")
    Path("mine.gpol").write_text(text)

    for force in ([], ["--force"]):
        code, _, told = call("import", "kueue", "dump.yaml", "-o", "mine.gpol", *force)
        assert (code, Path("mine.gpol").read_text()) == (3, text)
        assert "is a policy, which no output replaces" in told


def test_a_journal_that_names_the_marker_of_reports_stays(call: Gpol) -> None:
    """What a user wrote into a journal does not make it a report."""
    mark = "<!doctype html><html lang='en'><head><meta name='generator' content='gpol'>"
    Path("jobs.csv").write_text(Path("jobs.csv").read_text() + f'"{mark}",2026-03-02T08:06:00Z,1h,owner,8,tom\n')
    assert call("simulate", "lab.gpol", "jobs.csv", "--journal", "marked.db")[0] == 0
    before = Path("marked.db").read_bytes()

    assert call("simulate", "lab.gpol", "jobs.csv", "--report", "marked.db")[0] == 3
    assert Path("marked.db").read_bytes() == before


@pytest.mark.parametrize("suffix", ["-lock", "-wal", "-shm", "-journal"])
@pytest.mark.parametrize("is_there", [True, False])
def test_what_belongs_to_a_journal_stays(call: Gpol, suffix: str, is_there: bool) -> None:
    """The lock of a journal is empty, and still no file to be replaced; what has the name of a log SQLite would read, or remove."""
    name = f"d.db{suffix}"
    if is_there:
        Path(name).touch()
    else:
        Path(name).unlink(missing_ok=True)
    before = sorted(Path().iterdir()), Path(name).stat().st_ino if is_there else None

    for command in (("simulate", "lab.gpol", "jobs.csv", "--report", name), ("run", "lab.gpol", "facts.jsonl", "--journal", name)):
        code, _, told = call(*command)
        assert code == 3
        assert (sorted(Path().iterdir()), Path(name).stat().st_ino if is_there else None) == before
        assert f"`{name}` is the name of a file that belongs to `d.db`" in told


def test_a_damaged_journal_stays(call: Gpol) -> None:
    """A journal whose first bytes were altered is no SQLite file any more. Its lock beside it tells that it is one."""
    with Path("d.db").open("r+b") as file:
        file.write(b"\0")
    before = Path("d.db").read_bytes()

    assert call("simulate", "lab.gpol", "jobs.csv", "--report", "d.db", "--force")[0] == 3
    assert Path("d.db").read_bytes() == before


@pytest.mark.parametrize("is_empty", [True, False])
def test_the_place_of_a_journal_that_is_gone_stays(call: Gpol, is_empty: bool) -> None:
    """A log that belongs to a journal shows that one was there, whether its file is empty now or not there at all."""
    Path("lost.db-wal").write_bytes(b"\x37\x7f\x06\x82" + bytes(28))
    if is_empty:
        Path("lost.db").touch()

    assert call("compile", "lab.gpol", "-o", "lost.db")[0] == 3
    assert call("compile", "lab.gpol", "-o", "lost.db-wal", "--force")[0] == 3
    assert [path.name for path in Path().glob("lost.db") if path.stat().st_size] == []
    assert Path("lost.db-wal").read_bytes()[:1] == b"\x37"


@pytest.mark.parametrize(
    "before", [b"\n\n", b"# a comment\n" * 20_000, b"# a comment\n" * 20_000 + b"   \n"], ids=["blank lines", "comments", "both"]
)
def test_what_begins_with_blanks_or_comments_stays(call: Gpol, before: bytes) -> None:
    """A policy is one however long its first comment is. A key may begin with a blank line, as `gpol checkpoint --key` reads it."""
    Path("policy.txt").write_bytes(before + Path("lab.gpol").read_bytes())
    Path("spaced").write_bytes(b"\n" + Path("some.key").read_bytes())
    for name in ("policy.txt", "spaced"):
        kept = Path(name).read_bytes()
        assert call("compile", "lab.gpol", "-o", name, "--force")[0] == 3
        assert Path(name).read_bytes() == kept


@pytest.mark.parametrize("name", ["link", "hard"])
def test_links_lead_to_what_stays(call: Gpol, name: str) -> None:
    """A link to a journal, of either sort, is no other file."""
    Path("link").symlink_to("d.db")
    Path("hard").hardlink_to("d.db")
    before = Path("d.db").read_bytes()

    assert call("simulate", "lab.gpol", "jobs.csv", "--report", name)[0] == 3
    assert Path("d.db").read_bytes() == before


def test_a_journal_that_appears_meanwhile_stays(call: Gpol, monkeypatch: pytest.MonkeyPatch) -> None:
    """What another program has put there while a command worked is not written over."""
    from gpol.sim.report import run_report

    drawn = run_report.report_page

    def slow(*arguments: object) -> str:
        Path("late.db").write_bytes(Path("d.db").read_bytes())
        return drawn(*arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(run_report, "report_page", slow)
    assert call("simulate", "lab.gpol", "jobs.csv", "--report", "late.db")[0] == 3
    assert Path("late.db").read_bytes() == Path("d.db").read_bytes()


@pytest.mark.parametrize("kind", ["report of simulate", "decisions", "compiled", "events", "import"])
@pytest.mark.parametrize(("device", "code"), [("/dev/null", 0), ("/dev/full", 1)])
def test_devices_are_written_to(call: Gpol, kind: str, device: str, code: int) -> None:
    """What is no plain file is written to as it is; one that takes nothing is named, exit code 1."""
    found, _, told = call(*OUTPUTS[kind], device)
    assert found == code
    assert (f"`{device}` cannot be written: No space left on device" in told) == (code == 1)


@pytest.mark.parametrize("place", [".", "/", "sqlite:///.", "nowhere/", "notes.txt/d.db"])
@pytest.mark.parametrize("option", ["--journal", "backup"])
def test_a_journal_needs_the_name_of_a_file(call: Gpol, place: str, option: str) -> None:
    """A folder is no place for a journal: exit code 3 with the reason, and no defect."""
    command = ("backup", "d.db", place) if option == "backup" else ("run", "lab.gpol", "facts.jsonl", "--journal", place)
    code, _, told = call(*command)
    assert code == 3
    assert told.startswith("gpol: `")


def test_who_may_read_what_is_written(call: Gpol, open_umask: None) -> None:
    """Journals and what SQLite keeps beside them are their owner's alone, and so are checkpoints; outputs are also the group's."""
    command = ("simulate", "lab.gpol", "jobs.csv", "--journal", "j.db", "--report", "r.html", "--checkpoints", "kept", "--key", "some.key")
    assert call(*command)[0] == 0
    assert call("backup", "j.db", "copy.db")[0] == 0
    assert call("export", "jsonl", "j.db", "-o", "e.jsonl")[0] == 0
    assert call("run", "lab.gpol", "facts.jsonl", "--out", "o.jsonl")[0] == 0
    Path("d.checkpoint").unlink()
    assert call("checkpoint", "d.db", "--key", "some.key", "-o", "d.checkpoint")[0] == 0
    rights = {path.name: stat.S_IMODE(path.stat().st_mode) for path in [*Path().iterdir(), *Path("kept").iterdir()]}

    assert {rights[name] for name in ("j.db", "j.db-lock", "copy.db")} == {0o600}
    assert {rights[name] for name in rights if name.endswith((".checkpoint", ".leaves"))} == {0o600}
    assert rights["kept"] == 0o700
    assert {rights[name] for name in ("r.html", "e.jsonl", "o.jsonl")} == {0o640}


def test_a_log_beside_a_journal_is_its_owners(call: Gpol, open_umask: None) -> None:
    """While a journal is written, the log and the index that SQLite keeps beside it are as private as the journal."""
    from gpol.engine.facts import TimeAdvanced
    from gpol.journal.journal import Journal

    with Journal.create("w.db") as journal:
        journal.append([[TimeAdvanced(time=1)]])
        names = [path for path in Path().iterdir() if path.name.startswith("w.db")]
        assert {path.name for path in names} >= {"w.db", "w.db-lock", "w.db-wal", "w.db-shm"}
        assert {stat.S_IMODE(path.stat().st_mode) for path in names} == {0o600}


def test_rights_of_a_file_that_is_renewed_stay(call: Gpol) -> None:
    """Whoever has given others a right to read a report keeps it so."""
    command = OUTPUTS["report of simulate"]
    assert call(*command, "r.html")[0] == 0
    Path("r.html").chmod(0o664)
    assert call(*command, "r.html")[0] == 0
    assert stat.S_IMODE(Path("r.html").stat().st_mode) == 0o664


@pytest.mark.parametrize("kind", ["report of simulate", "decisions", "events"])
def test_standard_output_may_be_a_file(call: Gpol, kind: str) -> None:
    """/dev/stdout is where the command prints, also where the shell has led that into a file: what is printed comes before and behind."""
    program = [sys.executable, "-c", "from gpol.cli.main import main; main()"]
    with Path("out").open("wb") as out:
        out.write(b"before\n")
        out.flush()
        assert subprocess.run([*program, *OUTPUTS[kind], "/dev/stdout"], stdout=out, timeout=60, check=False).returncode == 0
        out.seek(0, os.SEEK_END)
        out.write(b"behind\n")
    text = Path("out").read_bytes()
    assert text.startswith(b"before\n")
    assert text.endswith(b"behind\n")
    assert b"\0" not in text
    assert b'"seq":' in text or b"<!doctype html>" in text


@pytest.mark.parametrize("name", ["x" * 300, "a\nb/c.db", "pipe"])
def test_odd_names_of_journals(call: Gpol, name: str) -> None:
    """A name that no file can have, a line feed, a pipe: exit code 3, on one line."""
    os.mkfifo("pipe")
    for command in (("run", "lab.gpol", "facts.jsonl", "--journal", name), ("verify", name), ("backup", "d.db", name)):
        code, _, told = call(*command)
        assert code in (1, 3)
        assert len(told.splitlines()) == 1
        assert "empty file" not in told


def test_several_files_stay_where_one_was_changed(call: Gpol, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of two files to be replaced one was changed meanwhile: neither is replaced, and the message says what to do."""
    from gpol.cli.outputs.file_kinds import FACTS
    from gpol.cli.shared.files import Target, new_files
    from gpol.cli.shared.output import RefusalError

    Path("one").write_text("one\n")
    Path("two").write_text("two\n")

    def write() -> None:
        with new_files() as add:
            for name in ("one", "two"):
                with add(Target("-o", name, FACTS, force=True)) as file:
                    file.write(b"new\n")
            Path("two").write_text("changed\n")

    with pytest.raises(RefusalError, match=r"`two` cannot be written: another program .* meanwhile; look at what is there now"):
        write()
    assert Path("one").read_text() == "one\n"
    assert Path("two").read_text() == "changed\n"
    assert not [path for path in Path().iterdir() if path.name.startswith(".")]


@pytest.mark.parametrize("shift", range(4))
def test_a_long_policy_stays(call: Gpol, shift: int) -> None:
    """A policy is one however long it is, wherever a character of several bytes stands."""
    Path("long").write_text(Path("lab.gpol").read_text() + "#" + "x" * shift + "€" * 40_000 + "\n")
    before = Path("long").read_bytes()
    code, _, told = call(*OUTPUTS["report of simulate"], "long", "--force")
    assert code == 3
    assert "is a policy, which no output replaces" in told
    assert Path("long").read_bytes() == before
