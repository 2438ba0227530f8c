"""Compiled kernels for a command: nobody waits for the compiler, and what is missing is made for the next one."""

import fcntl
import re
from collections.abc import Sequence
from pathlib import Path

import pytest
from gpol.cli.speed import kernels
from gpol.cli.speed.kernels import compile_now, core_for_command
from gpol.compiled import compile_once
from gpol.compiled.fast_core import BAD_FOLDER, COMPILING, FEW
from gpol.compiled.kernel_folder import are_compiled, failure_note, kernel_folder
from gpol.compiled.kernel_source import CORE, KernelSource
from gpol.dsl import check
from gpol.engine.cores import Core
from gpol.sim.drive.policy import Policy
from gpol.sim.measure.columns.compiled_count import COUNT
from policy_texts import TWO_QUEUES


@pytest.fixture(autouse=True)
def started(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> list[Sequence[str]]:
    """An empty cache, and the commands of the processes that were started."""
    found: list[Sequence[str]] = []
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(kernels.subprocess, "Popen", lambda command, **options: found.append(command))
    return found


def _begin(core: Core) -> None:
    policy = Policy.of(check(TWO_QUEUES, "two.gpol"))
    core.step(policy.activation(0), policy.graph)


def test_a_history_that_may_be_short_starts_no_compiler(started: list[Sequence[str]], capsys: pytest.CaptureFixture[str]) -> None:
    """And nothing is said."""
    _begin(core_for_command())
    assert (started, capsys.readouterr().err) == ([], "")


def test_a_long_history_starts_the_compiler_and_says_so(started: list[Sequence[str]], capsys: pytest.CaptureFixture[str]) -> None:
    """Another process compiles; this one decides without it."""
    _begin(core_for_command(FEW))
    assert [command[1:] for command in started] == [["-m", "gpol.cli.speed.kernels"]]
    assert COMPILING in capsys.readouterr().err


def test_the_other_process_compiles_all_kernels_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Those that count and those that decide; a second time nothing is left to do."""
    compiled: list[KernelSource] = []

    def compile_entry(source: KernelSource, folder: Path) -> None:
        (folder / source.version).mkdir()
        compiled.append(source)

    monkeypatch.setattr(compile_once, "compiled_entry", compile_entry)
    monkeypatch.setattr(kernels.os, "nice", lambda more: 0)
    compile_now()
    compile_now()
    folder = kernel_folder()
    assert compiled == [COUNT, CORE]
    assert folder is not None
    assert all(are_compiled(folder, source) for source in (COUNT, CORE))


@pytest.mark.parametrize("failing", ["compiler", "lock", "folder"])
def test_a_compiler_that_fails_is_told_by_the_next_command_and_not_started_again(
    failing: str, monkeypatch: pytest.MonkeyPatch, started: list[Sequence[str]], capsys: pytest.CaptureFixture[str]
) -> None:
    """What is half done goes, as the disk may be full. Once the note is deleted the compiler is started as at first."""
    folder = kernel_folder()
    assert folder is not None

    def compile_entry(source: KernelSource, folder: Path) -> None:
        (folder / source.version).mkdir()
        (folder / source.version / "half").touch()
        if failing == "compiler":
            raise OSError(28, "No space left on device")
        if failing == "folder":
            (folder / source.version / "ready").mkdir()

    monkeypatch.setattr(compile_once, "compiled_entry", compile_entry)
    monkeypatch.setattr(kernels.os, "nice", lambda more: 0)
    if failing == "lock":
        (folder / "lock").mkdir()
    with pytest.raises(SystemExit, match="No space left" if failing == "compiler" else "Is a directory"):
        compile_now()
    assert not (folder / COUNT.version).exists()
    _begin(core_for_command(FEW))
    told = capsys.readouterr().err
    note = failure_note(folder, CORE)
    assert (started, COMPILING in told, str(note) in told) == ([], False, True)
    assert ("No space left" if failing == "compiler" else "Is a directory") in told
    note.unlink()
    _begin(core_for_command(FEW))
    assert (len(started), COMPILING in capsys.readouterr().err) == (1, True)


@pytest.mark.parametrize(("hindrance", "told"), [("folder", BAD_FOLDER), ("compiler", "numba is missing")])
def test_what_keeps_it_from_compiling_is_said(hindrance: str, told: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """To whoever builds an image, say; nothing is left behind."""
    monkeypatch.setattr(kernels.os, "nice", lambda more: 0)
    if hindrance == "folder":
        monkeypatch.setattr(kernels.os, "access", lambda path, mode: False)
    else:
        monkeypatch.setattr(kernels, "find_spec", lambda name: None)
    with pytest.raises(SystemExit, match=re.escape(f"gpol: the kernels cannot be compiled: {told}")):
        compile_now()
    folder = kernel_folder()
    assert folder is not None
    assert list(folder.iterdir()) == []


def test_another_process_that_compiles_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is compiled then, so whoever builds an image must not go on."""
    monkeypatch.setattr(kernels.os, "nice", lambda more: 0)
    folder = kernel_folder()
    assert folder is not None
    with (folder / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        with pytest.raises(SystemExit, match="another process compiles the kernels now"):
            compile_now()
    assert [file.name for file in folder.iterdir()] == ["lock"]
