"""The same policy and the same jobs give the same bytes: whatever the hash seed, the Python, the store, and after a restore."""

import os
import shutil
import subprocess
import sys
from hashlib import sha256
from pathlib import Path

import pytest
from gpol.journal.backup import backup
from gpol.journal.journal import Journal

JOBS = 800
"""So many of the campus's jobs are played: enough for waits and evictions of every rule."""


def others() -> list[str]:
    """Pythons of other versions that have gpol: those of GPOL_OTHER_PYTHONS (between colons), else those on PATH."""
    named = os.environ.get("GPOL_OTHER_PYTHONS")
    if named is not None:
        return [python for python in named.split(os.pathsep) if python]
    found = [shutil.which(f"python3.{minor}") for minor in range(11, 16) if minor != sys.version_info.minor]
    return [python for python in found if python is not None and _has_gpol(python)]


def _has_gpol(python: str) -> bool:
    return subprocess.run([python, "-c", "import gpol.cli.main, gpol.journal"], capture_output=True, check=False).returncode == 0


def play(python: str, root: Path, folder: Path, hash_seed: str, place: str | None = None) -> tuple[int, str, str]:
    """Simulate in a process of its own, into a file unless another place is given; what `told` tells of the journal."""
    campus = root / "examples" / "campus"
    jobs, journal = folder / "jobs.csv", place or str(folder / "journal.db")
    folder.mkdir()
    jobs.write_text("".join((campus / "workloads.csv").read_text().splitlines(keepends=True)[: JOBS + 1]))
    code = "import sys; from gpol.cli.main import main; main()"
    arguments = ["simulate", str(campus / "campus.gpol"), str(jobs), "--journal", journal]
    env = {**os.environ, "PYTHONHASHSEED": hash_seed}
    done = subprocess.run([python, "-c", code, *arguments], env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return told(journal)


def told(place: str) -> tuple[int, str, str]:
    """A journal's last number, its chain value, and a digest of all payloads."""
    payloads = sha256()
    with Journal.open(place, readonly=True) as opened:
        for recorded in opened.events():
            payloads.update(recorded.payload + b"\n")
        return opened.head[0], opened.head[1].hex(), payloads.hexdigest()


@pytest.fixture(scope="module")
def first(root: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[int, str, str]:
    """The run that others are compared with."""
    played = play(sys.executable, root, tmp_path_factory.mktemp("first") / "run", "0")
    assert played[0] > 2 * JOBS  # each job is submitted and ends, at least
    return played


@pytest.mark.slow
@pytest.mark.parametrize("hash_seed", ["1", "4294967295"])
def test_the_hash_seed_decides_nothing(first: tuple[int, str, str], hash_seed: str, root: Path, tmp_path: Path) -> None:
    """Another order of sets and hashes changes no byte of any event."""
    assert play(sys.executable, root, tmp_path / "run", hash_seed) == first


@pytest.mark.slow
def test_the_python_decides_nothing(first: tuple[int, str, str], root: Path, tmp_path: Path) -> None:
    """Another version of Python, and of numpy and pydantic for it, changes no byte of any event."""
    pythons = others()
    if not pythons:
        pytest.skip("no other Python with gpol: set GPOL_OTHER_PYTHONS, or run .ci/run where another Python is installed")
    for number, python in enumerate(pythons):
        assert play(python, root, tmp_path / f"run-{number}", "1") == first, python


@pytest.mark.slow
def test_the_store_decides_nothing(first: tuple[int, str, str], root: Path, tmp_path: Path, postgres_place: str) -> None:
    """A simulation into PostgreSQL changes no byte of any event, nor do copies of its journal to a file and back."""
    assert play(sys.executable, root, tmp_path / "run", "1", postgres_place) == first

    restored = str(tmp_path / "restored.db")
    backup(postgres_place, restored)
    assert told(restored) == first
    backup(restored, postgres_place + "again")
    assert told(postgres_place + "again") == first
