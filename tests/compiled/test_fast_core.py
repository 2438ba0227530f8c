"""Which core decides a history, and where compiled kernels are kept."""

import os
from dataclasses import replace
from pathlib import Path

import pytest
from gpol.compiled import fast_core as module
from gpol.compiled import kernel_source
from gpol.compiled.fast_core import BEYOND, COMPILING, FEW, WITHOUT_COMPILER, fast_core
from gpol.compiled.kernel_folder import are_compiled, kernel_folder, note_compiled
from gpol.compiled.kernel_source import CORE
from gpol.dsl import check
from gpol.engine.core.core import ArrayCore
from gpol.engine.core.kernel_set import PLAIN
from gpol.engine.cores import Core
from gpol.engine.facts import TimeAdvanced
from gpol.sim.drive.policy import Policy
from policy_texts import TWO_QUEUES


@pytest.fixture(autouse=True)
def cache(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """An empty cache."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    return tmp_path


@pytest.fixture
def told() -> list[str]:
    """What was said about missing kernels."""
    return []


def _play(core: Core, facts: int) -> None:
    policy = Policy.of(check(TWO_QUEUES, "two.gpol"))
    core.step(policy.activation(0), policy.graph)
    for time in range(1, facts):
        core.step(TimeAdvanced(time=time))


def _decides_over_tables(core: Core) -> bool:
    assert isinstance(core, ArrayCore)
    return core._store is not None


def _kernels_there(monkeypatch: pytest.MonkeyPatch) -> None:
    """As if they were compiled."""
    folder = kernel_folder()
    assert folder is not None
    assert not are_compiled(folder, CORE)
    (folder / CORE.version).mkdir()
    assert not are_compiled(folder, CORE)
    note_compiled(folder, CORE)
    monkeypatch.setattr("gpol.compiled.compile.compiled_kernels", lambda cache: PLAIN)


def test_a_short_history_never_asks_for_the_compiler(told: list[str]) -> None:
    """The definition decides, and nothing is said."""
    core = fast_core(told.append)
    _play(core, FEW - 1)
    assert (_decides_over_tables(core), told) == (False, [])


def test_a_history_that_gets_long_asks_for_the_compiler_once_and_does_not_wait(told: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """The definition goes on, a line says so, and compiled kernels are taken once they are there."""
    core = fast_core(told.append)
    _play(core, 2 * FEW + 10)
    assert (_decides_over_tables(core), told) == (False, [COMPILING])
    _kernels_there(monkeypatch)
    for time in range(3 * FEW, 4 * FEW):
        core.step(TimeAdvanced(time=time))
    assert (_decides_over_tables(core), told) == (True, [COMPILING])


def test_a_long_history_takes_compiled_kernels_at_once(told: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """It begins with its policy."""
    _kernels_there(monkeypatch)
    core = fast_core(told.append, is_long=True)
    _play(core, 1)
    assert (_decides_over_tables(core), told) == (True, [])


def test_it_is_said_once_that_numbers_are_too_large(told: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """The definition decides then."""
    _kernels_there(monkeypatch)
    core, policy = (
        fast_core(told.append, is_long=True),
        Policy.of(check(f'policy "p" {{}}\nflavor a {{ gpu {2**52} }}\nqueue q {{}}\n', "p.gpol")),
    )
    core.step(policy.activation(0), policy.graph)
    core.step(TimeAdvanced(time=1))
    assert not _decides_over_tables(core)
    assert told == [BEYOND.format(reason="an amount is too large")]


def test_kernels_as_they_stand_may_decide(told: list[str]) -> None:
    """Where there are no compiled ones, and a line says so."""
    core = fast_core(told.append, is_long=True, plain=True)
    _play(core, 1)
    assert (_decides_over_tables(core), told) == (True, [COMPILING])


def test_without_the_compiler_a_line_says_what_to_install(told: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """numba comes with an extra. The kernels decide as they stand."""
    monkeypatch.setattr(module, "find_spec", lambda name: None)
    core = fast_core(told.append, is_long=True)
    _play(core, 1)
    assert (_decides_over_tables(core), told) == (True, [WITHOUT_COMPILER])


def test_a_folder_that_others_may_write_to_is_not_used(told: list[str], cache: Path) -> None:
    """What is in it would be run. The kernels decide as they stand."""
    folder = cache / "gpol" / "kernels"
    folder.mkdir(parents=True)
    folder.chmod(0o777)
    assert kernel_folder() is None
    core = fast_core(told.append, is_long=True)
    _play(core, 1)
    assert (_decides_over_tables(core), told) == (True, [])


@pytest.mark.parametrize("changed", ["place", "time", "size"])
def test_kernels_of_another_installation_are_not_there(cache: Path, monkeypatch: pytest.MonkeyPatch, changed: str) -> None:
    """numba would compile them anew, without a word: it asks for the place, the time and the size of the file."""
    mine, other = cache / "compile.py", cache / "other" / "compile.py"
    other.parent.mkdir()
    for file in (mine, other):
        file.write_text("pass")
        os.utime(file, (1, 1))
    monkeypatch.setattr(kernel_source, "COMPILE", mine)
    before = replace(CORE).version
    assert replace(CORE).version == before
    if changed == "place":
        monkeypatch.setattr(kernel_source, "COMPILE", other)
    elif changed == "time":
        os.utime(mine, (1, 2))
    else:
        mine.write_text("pass\n")
        os.utime(mine, (1, 1))
    assert replace(CORE).version != before
