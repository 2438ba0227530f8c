"""The same policy and the same jobs give the same bytes: whatever the hash seed, whatever the Python."""

import os
import shutil
import subprocess
import sys
from hashlib import sha256
from pathlib import Path

import pytest
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


def play(python: str, root: Path, folder: Path, hash_seed: str) -> tuple[int, str, str]:
    """Simulate in a process of its own; the journal's last number, its chain value, and a digest of all payloads."""
    campus = root / "examples" / "campus"
    jobs, journal = folder / "jobs.csv", folder / "journal.db"
    folder.mkdir()
    jobs.write_text("".join((campus / "workloads.csv").read_text().splitlines(keepends=True)[: JOBS + 1]))
    code = "import sys; from gpol.cli.main import main; main()"
    arguments = ["simulate", str(campus / "campus.gpol"), str(jobs), "--journal", str(journal)]
    env = {**os.environ, "PYTHONHASHSEED": hash_seed}
    done = subprocess.run([python, "-c", code, *arguments], env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    payloads = sha256()
    with Journal.open(str(journal), readonly=True) as opened:
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
