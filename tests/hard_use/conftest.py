"""What tests of outputs and of journals as evidence share: a small lab in a folder, and commands that are called in a copy of it."""

import shutil
from pathlib import Path

import pytest
from commands import Gpol

POLICY = """policy "lab" {
  use gpol.fair
}

flavor a100 { gpu 8 }

queue owner { owns 8 gpu }
"""

JOBS = """workload,submitted,duration,queue,gpu,user
a,2026-03-02T08:00:00Z,2h,owner,8,eva
b,2026-03-02T08:05:00Z,1h,owner,8,tom
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with `lab.gpol` and `jobs.csv`."""
    folder = tmp_path_factory.mktemp("lab")
    (folder / "lab.gpol").write_text(POLICY)
    (folder / "jobs.csv").write_text(JOBS)
    return folder


@pytest.fixture
def call(made: Path, gpol: Gpol, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Gpol:
    """Calls the command in a copy of the folder that the module made, with the public key of each key beside it."""
    shutil.copytree(made, tmp_path, dirs_exist_ok=True)
    capsys.readouterr()
    for key in Path().glob("*.key"):
        shown = gpol("key", "show", str(key))
        assert shown.code == 0
        key.with_suffix(".pub").write_text(shown.out)

    def call(*arguments: str) -> object:
        done = gpol(*arguments)
        assert "internal error" not in done.err
        return done

    return call
