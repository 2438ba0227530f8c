"""Compiled kernels for a command: nobody waits for the compiler, and what is missing is made for the next one."""

from collections.abc import Sequence
from pathlib import Path

import pytest
from gpol.cli.shared import kernels
from gpol.cli.shared.kernels import compile_now, core_of
from gpol.compiled import compile_once
from gpol.compiled.fast_core import COMPILING, FEW
from gpol.compiled.kernel_folder import are_compiled, kernel_folder
from gpol.compiled.kernel_source import CORE, KernelSource
from gpol.engine.definition.core import DefinitionCore
from gpol.sim.measure.columns.compiled_count import COUNT


@pytest.fixture(autouse=True)
def started(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> list[Sequence[str]]:
    """An empty cache, and the commands of the processes that were started."""
    found: list[Sequence[str]] = []
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(kernels.subprocess, "Popen", lambda command, **options: found.append(command))
    return found


def test_a_short_history_starts_no_compiler(started: list[Sequence[str]], capsys: pytest.CaptureFixture[str]) -> None:
    """And nothing is said."""
    assert isinstance(core_of(FEW - 1), DefinitionCore)
    assert (started, capsys.readouterr().err) == ([], "")


def test_a_long_history_starts_the_compiler_and_says_so(started: list[Sequence[str]], capsys: pytest.CaptureFixture[str]) -> None:
    """Another process compiles; this one decides without it."""
    assert isinstance(core_of(FEW), DefinitionCore)
    assert [command[1:] for command in started] == [["-m", "gpol.cli.shared.kernels"]]
    assert COMPILING in capsys.readouterr().err


def test_the_other_process_compiles_all_kernels_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Those that count and those that decide; a second time nothing is left to do."""
    compiled: list[KernelSource] = []

    def compile_entry(source: KernelSource, folder: Path) -> None:
        (folder / source.version()).mkdir()
        compiled.append(source)

    monkeypatch.setattr(compile_once, "compiled_entry", compile_entry)
    monkeypatch.setattr(kernels.os, "nice", lambda more: 0)
    compile_now()
    compile_now()
    folder = kernel_folder()
    assert compiled == [COUNT, CORE]
    assert folder is not None
    assert all(are_compiled(folder, source) for source in (COUNT, CORE))
