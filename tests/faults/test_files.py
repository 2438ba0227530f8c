"""What happens to files: bits flip, ends are cut off, disks fill up, rights are missing. Every outcome is a clear one."""

import os
import re
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from random import Random

import pytest
from facts import Cluster
from gpol.cli.main import run_command
from gpol.engine.facts import TimeAdvanced
from gpol.journal.audit.replay import replay
from gpol.journal.audit.verify import verify
from gpol.journal.backup import backup
from gpol.journal.errors import JournalError
from gpol.journal.journal import Journal
from gpol.journal.records import link

FLIPS = 400
CUTS = 60


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A journal of some 150 events in one file, with nothing left in its WAL."""
    place = tmp_path_factory.mktemp("sound") / "journal.db"
    with Journal.create(place) as journal:
        journal.append(Cluster(Random(5)).batches(80))
    _settle(place)
    return place


def _settle(place: Path) -> None:
    connection = sqlite3.connect(place)
    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    connection.close()


def _payloads(place: Path) -> list[bytes]:
    with Journal.open(place) as journal:
        return [recorded.payload for recorded in journal.events()]


def _told(place: Path) -> str:
    """What is said of a damaged file: `refused`, `bad` or `good`; anything but a JournalError comes through."""
    try:
        with Journal.open(place) as journal:
            return "good" if verify(journal).good else "bad"
    except JournalError:
        return "refused"


def _damaged(sound: Path, folder: Path, damage: Callable[[bytearray], object]) -> Path:
    place = folder / "damaged.db"
    data = bytearray(sound.read_bytes())
    damage(data)
    place.write_bytes(data)
    return place


@pytest.mark.slow
def test_flipped_bits(sound: Path, tmp_path: Path) -> None:
    """Wherever one bit flips, every event is as it was, or the damage is told; most are told, and a flip in a payload always is."""
    before, size, random = _payloads(sound), sound.stat().st_size, Random(11)
    outcomes = {"refused": 0, "bad": 0, "good": 0}
    for _ in range(FLIPS):
        position, bit = random.randrange(size), random.randrange(8)
        place = _damaged(sound, tmp_path, lambda data, at=position, bit=bit: data.__setitem__(at, data[at] ^ 1 << bit))
        outcome = _told(place)
        outcomes[outcome] += 1
        if outcome == "good":
            assert _payloads(place) == before, position
    assert outcomes["bad"] > FLIPS // 3, outcomes


def test_flipped_bits_of_a_payload(sound: Path, tmp_path: Path) -> None:
    """Each flip inside an event's stored bytes is found at that very event."""
    before, data, random = _payloads(sound), sound.read_bytes(), Random(12)
    asked = 0
    for number in random.sample(range(1, len(before)), 60):
        at = data.find(before[number])
        if at < 0 or data.count(before[number]) > 1:  # it overflows its page, so that it does not lie in one piece
            continue
        position = at + random.randrange(len(before[number]))
        place = _damaged(sound, tmp_path, lambda data, at=position: data.__setitem__(at, data[at] ^ 1))
        with Journal.open(place) as journal:
            assert verify(journal).bad_seq == number + 1
        asked += 1
    assert asked > 30


def test_cut_off_files(sound: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A file that was cut off anywhere is refused or bad, never good and never a defect of the command."""
    size, random = sound.stat().st_size, Random(13)
    for length in sorted(random.sample(range(size), CUTS)):
        place = _damaged(sound, tmp_path, lambda data, length=length: data.__delitem__(slice(length, None)))
        assert _told(place) != "good", length
        code = run_command(["verify", str(place)])
        told = capsys.readouterr()
        assert code in (3, 4), told
        assert "internal error" not in told.err


_READER = """
import os, sys
from gpol.journal.errors import JournalError
from gpol.journal.journal import Journal
from gpol.journal.audit.verify import verify
if os.geteuid() == 0:
    os.setgroups([]); os.setgid(65534); os.setuid(65534)
try:
    Journal.open(sys.argv[1], readonly=False).close()
    print("opened")
except JournalError as error:
    print(error.message, "|", error.remedy)
with Journal.open(sys.argv[1]) as journal:
    print(verify(journal).seq)
"""


@pytest.mark.skipif(os.name == "nt", reason="needs POSIX permissions")
@pytest.mark.usefixtures("another_user")
@pytest.mark.parametrize("spoilt", ["file", "folder"])
def test_no_rights(sound: Path, spoilt: str) -> None:
    """Who may not write is told so before anything is appended, with what to do, and can still read."""
    import tempfile

    with tempfile.TemporaryDirectory() as name:
        os.chmod(name, 0o755)
        place = Path(shutil.copy(sound, Path(name) / "journal.db"))
        os.chmod(place, 0o444 if spoilt == "file" else 0o666)
        os.chmod(name, 0o777 if spoilt == "file" else 0o555)
        done = subprocess.run([sys.executable, "-c", _READER, str(place)], capture_output=True, text=True, check=False)
        os.chmod(name, 0o755)

    assert done.stderr == ""
    message, head = done.stdout.splitlines()
    assert "check the permissions" in message or "open the journal readonly" in message, message
    assert int(head) > 80


_FULL = """
import resource, signal, sys
from random import Random
sys.path[:0] = sys.argv[2:]
from facts import Cluster
from gpol.journal.errors import JournalError
from gpol.journal.journal import Journal
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
cluster = Cluster(Random(3))
acknowledged = 0
with Journal.create(sys.argv[1]) as journal:
    resource.setrlimit(resource.RLIMIT_FSIZE, (200_000, resource.RLIM_INFINITY))
    try:
        while True:
            batches = cluster.batches(5)
            acknowledged = journal.append(batches).seq
    except JournalError as error:
        print(error.message, "|", error.remedy)
    resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    print(acknowledged, journal.head.seq)
    print(journal.append(batches).seq == cluster.core.seq)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="needs limits of POSIX")
def test_no_room(tmp_path: Path) -> None:
    """Where no more may be written, that is what the error says; all that was acknowledged is there, and goes on once there is room."""
    place = tmp_path / "journal.db"
    done = subprocess.run(
        [sys.executable, "-c", _FULL, str(place), str(Path(__file__).parent)], capture_output=True, text=True, check=False
    )

    assert done.stderr == ""
    told, heads, goes_on = done.stdout.splitlines()
    assert "nothing was appended" in told or "the disk failed" in told, told
    acknowledged, head = map(int, heads.split())
    assert acknowledged == head > 50
    assert goes_on == "True"
    with Journal.open(place) as journal:
        assert verify(journal).good
        assert replay(journal).same


@contextmanager
def _mounted(disk: Path, options: str) -> Iterator[None]:
    """A small file system of its own."""
    disk.mkdir(exist_ok=True)
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", options, "tmpfs", str(disk)], capture_output=True, text=True, check=False)
    if mounted.returncode != 0:
        pytest.skip("may not mount a file system here")
    try:
        yield
    finally:
        subprocess.run(["umount", str(disk)], check=True)


@pytest.mark.skipif(sys.platform != "linux", reason="needs a small file system of its own")
def test_full_disk(tmp_path: Path) -> None:
    """On a disk that fills up, that is what the error says; all that was acknowledged is there, and goes on once there is room."""
    disk = tmp_path / "disk"
    with _mounted(disk, "size=1m"):
        cluster, acknowledged = Cluster(Random(4)), 0
        with Journal.create(disk / "journal.db") as journal:
            ballast = disk / "ballast"
            ballast.write_bytes(bytes(400_000))
            full = None
            while full is None:
                batches = cluster.batches(5)
                try:
                    acknowledged = journal.append(batches).seq
                except JournalError as error:
                    full = error.message
            assert "there is no room left" in full
            assert "nothing was appended" in full
            assert journal.head.seq == acknowledged > 100
            ballast.unlink()
            assert journal.append(batches).seq == cluster.core.seq
        with Journal.open(disk / "journal.db") as journal:
            assert verify(journal).good
            assert replay(journal).same


@pytest.mark.skipif(sys.platform != "linux", reason="needs a small file system of its own")
def test_full_disk_at_creation(tmp_path: Path) -> None:
    """A disk may fill up at any moment of making a journal, also when SQLite's log is put into the file: all of it is there, or nothing."""
    disk, made, told = tmp_path / "disk", 0, list[str]()
    for size in range(40, 132, 4):
        with _mounted(disk, f"size={size}k"):
            try:
                Journal.create(disk / "journal.db").close()
            except JournalError as error:
                told.append(error.message)
                assert list(disk.iterdir()) == []
            else:
                made += 1
                with Journal.open(disk / "journal.db") as journal:
                    assert verify(journal).good
    assert made > 2
    assert len(told) > 8
    assert all("there is no room left" in each for each in told), told


@pytest.mark.skipif(sys.platform != "linux", reason="needs a file system of its own")
def test_creation_on_a_medium_that_can_only_be_read(tmp_path: Path) -> None:
    """The error names the journal, and neither a draft nor nothing."""
    disk, sound = tmp_path / "disk", tmp_path / "sound.db"
    Journal.create(sound).close()
    with _mounted(disk, "size=1m,ro"):
        place = disk / "journal.db"
        for make in (lambda: Journal.create(place), lambda: backup(sound, place)):
            with pytest.raises(JournalError, match=re.escape(f"`{place}` cannot be ")) as refused:
                make()
            assert "read-only file system" in refused.value.message


def test_clock_going_backwards(tmp_path: Path) -> None:
    """A fact whose time lies before the last one's is refused, by the core and by the journal, and nothing of its transaction is kept."""
    cluster = Cluster(Random(6))
    with Journal.create(tmp_path / "journal.db") as journal:
        journal.append(cluster.batches(20))
        head = journal.head
        later = TimeAdvanced(time=cluster.core.time + 5)
        with pytest.raises(JournalError, match="time runs backwards") as refused:
            journal.append([[later], [TimeAdvanced(time=cluster.core.time - 1)]])
        assert "in the order of their times" in refused.value.remedy
        assert journal.head == head
    with Journal.open(tmp_path / "journal.db", readonly=False) as journal:
        with pytest.raises(JournalError, match="time runs backwards"):
            journal.append([[TimeAdvanced(time=cluster.core.time - 1)]])
        assert journal.append([[later]]).seq == head.seq + 1


def test_payload_of_a_future_version(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """An event of a version to come is refused by its kind and version, by every command; nothing is appended behind it."""
    place = tmp_path / "journal.db"
    with Journal.create(place) as journal:
        head = journal.append(Cluster(Random(7)).batches(10))
    payload = b'{"kind":"TimeAdvanced","v":2,"time":1999999999999999,"zone":"UTC"}'
    connection = sqlite3.connect(place)
    row = (head.seq + 1, "time", head.seq + 1, "TimeAdvanced", payload, link(head.chain, payload))
    connection.execute("INSERT INTO events VALUES (?, ?, ?, ?, ?, ?)", row)
    connection.commit()
    connection.close()

    with pytest.raises(JournalError, match="a TimeAdvanced of version 2, unknown to this program") as refused:
        Journal.open(place, readonly=False)
    assert refused.value.remedy == "use a newer gpol"
    for command in ("verify", "replay", "log"):
        assert run_command([command, str(place)]) == 4
        told = capsys.readouterr()
        assert "a TimeAdvanced of version 2, unknown to this program" in told.out + told.err, command


_RACER = """
import sys, time
sys.path[:0] = sys.argv[2:]
from gpol.engine.facts import TimeAdvanced
from gpol.journal.errors import JournalError
from gpol.journal.journal import Journal
appended = refused = 0
print("ready", flush=True)
sys.stdin.readline()
while appended < 10:
    try:
        with Journal.open(sys.argv[1], readonly=False) as journal:
            journal.append([[TimeAdvanced(time=10**15)]])
            appended += 1
    except JournalError as error:
        assert "open for writing elsewhere" in error.message, error
        refused += 1
        time.sleep(0.002)
print(refused)
"""


@pytest.mark.slow
def test_writers_that_race(tmp_path: Path) -> None:
    """Of several programs that open a journal at once one may append, the others are told why not, and no append is lost."""
    place = tmp_path / "journal.db"
    Journal.create(place).close()
    racers = [
        subprocess.Popen([sys.executable, "-c", _RACER, str(place)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        for _ in range(3)
    ]
    for racer in racers:
        assert racer.stdout is not None
        assert racer.stdout.readline() == "ready\n"
    for racer in racers:
        assert racer.stdin is not None
        racer.stdin.write("go\n")
        racer.stdin.flush()
    told = [racer.communicate(timeout=120)[0] for racer in racers]

    assert [racer.returncode for racer in racers] == [0, 0, 0]
    assert sum(map(int, told)) > 0, "nobody was refused, so nobody raced"
    with Journal.open(place) as journal:
        assert journal.head.seq == 30
        assert verify(journal).good
