"""Which core decides a history, and where compiled kernels are kept."""

from pathlib import Path

import pytest
from gpol.compiled import fast_core
from gpol.compiled.fast_core import COMPILING, FEW, WITHOUT_COMPILER, core_for
from gpol.compiled.kernel_folder import kernel_folder, kernels_are_there
from gpol.engine.definition.core import DefinitionCore


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> list[Path]:
    """An empty cache, and the folders for which the compiler was started."""
    found: list[Path] = []
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(fast_core, "compile_in_background", lambda folder, modules: found.append(folder))
    return found


def test_few_facts_never_ask_for_the_compiler(asked: list[Path]) -> None:
    """They are decided by the definition, and nothing is said."""
    core, why = core_for(FEW - 1)
    assert (type(core), why, asked) == (DefinitionCore, "", [])


def test_many_facts_start_the_compiler_and_do_not_wait(asked: list[Path], tmp_path: Path) -> None:
    """The definition decides meanwhile, and a line says so."""
    core, why = core_for(FEW)
    assert (type(core), why, asked) == (DefinitionCore, COMPILING, [tmp_path / "gpol" / "kernels"])
    assert not kernels_are_there(asked[0])


def test_without_the_compiler_a_line_says_what_to_install(asked: list[Path], monkeypatch: pytest.MonkeyPatch) -> None:
    """numba comes with an extra."""
    monkeypatch.setattr(fast_core, "find_spec", lambda name: None)
    core, why = core_for(FEW)
    assert (type(core), why, asked) == (DefinitionCore, WITHOUT_COMPILER, [])


def test_a_folder_that_others_may_write_to_is_not_used(asked: list[Path], tmp_path: Path) -> None:
    """What is in it would be run."""
    folder = tmp_path / "gpol" / "kernels"
    folder.mkdir(parents=True)
    folder.chmod(0o777)
    assert kernel_folder() is None
    assert core_for(FEW)[1] == ""
    assert asked == []
