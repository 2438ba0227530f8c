"""Which core decides a history, and where compiled kernels are kept."""

from pathlib import Path

import pytest
from gpol.compiled import fast_core
from gpol.compiled.fast_core import COMPILING, FEW, WITHOUT_COMPILER, core_for
from gpol.compiled.kernel_folder import are_compiled, kernel_folder, note_compiled
from gpol.compiled.kernel_source import CORE
from gpol.engine.core.core import ArrayCore
from gpol.engine.core.kernel_set import PLAIN
from gpol.engine.definition.core import DefinitionCore


@pytest.fixture(autouse=True)
def cache(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """An empty cache."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    return tmp_path


def test_few_facts_never_ask_for_the_compiler() -> None:
    """They are decided by the definition, and nothing is said."""
    core, why = core_for(FEW - 1)
    assert (type(core), why) == (DefinitionCore, "")


def test_many_facts_ask_for_the_compiler_and_do_not_wait() -> None:
    """The definition decides meanwhile, and a line says so."""
    core, why = core_for(FEW)
    assert (type(core), why) == (DefinitionCore, COMPILING)


def test_compiled_kernels_are_taken_where_they_are(monkeypatch: pytest.MonkeyPatch) -> None:
    """Those of this version, all of them."""
    folder = kernel_folder()
    assert folder is not None
    assert not are_compiled(folder, CORE)
    (folder / CORE.version()).mkdir()
    assert not are_compiled(folder, CORE)
    note_compiled(folder, CORE)
    monkeypatch.setattr("gpol.compiled.compile.compiled_kernels", lambda cache: PLAIN)
    core, why = core_for(FEW)
    assert (type(core), why) == (ArrayCore, "")


def test_without_the_compiler_a_line_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    """numba comes with an extra."""
    monkeypatch.setattr(fast_core, "find_spec", lambda name: None)
    core, why = core_for(FEW)
    assert (type(core), why) == (DefinitionCore, WITHOUT_COMPILER)


def test_a_folder_that_others_may_write_to_is_not_used(cache: Path) -> None:
    """What is in it would be run."""
    folder = cache / "gpol" / "kernels"
    folder.mkdir(parents=True)
    folder.chmod(0o777)
    assert kernel_folder() is None
    core, why = core_for(FEW)
    assert (type(core), why) == (DefinitionCore, "")
