"""Which core decides a history, and where compiled kernels are kept."""

import os
from dataclasses import replace
from pathlib import Path
from types import FunctionType
from typing import Any

import numba
import pytest
from gpol.compiled import compile as compile_module
from gpol.compiled import fast_core as module
from gpol.compiled.fast_core import A_WHILE, CANNOT_LOAD, COMPILING, FEW, NO_FOLDER, WITHOUT_COMPILER, fast_core
from gpol.compiled.kernel_folder import FolderError, are_compiled, kernel_folder, note_compiled
from gpol.compiled.kernel_source import CORE
from gpol.dsl import check
from gpol.engine.core import columns as c
from gpol.engine.core.core import ArrayCore
from gpol.engine.core.kernel_set import PLAIN, KernelSet
from gpol.engine.core.tables import Tables
from gpol.engine.cores import Core
from gpol.engine.facts import TimeAdvanced
from gpol.sim.drive.policy import Policy
from job_draws import gang
from joblib import Parallel, delayed
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


@pytest.fixture
def taken(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Which compiled kernels were run, once they are there."""
    found: list[int] = []

    def run(tables: Tables, which: int, number: int) -> int:
        found.append(which)
        return PLAIN.run(tables, which, number)

    monkeypatch.setattr("gpol.compiled.compile.compiled_kernels", lambda cache: KernelSet(run))
    module._loaded.cache_clear()
    return found


def _kernels_there() -> None:
    """As if they were compiled."""
    folder = kernel_folder()
    assert folder is not None
    assert not are_compiled(folder, CORE)
    (folder / CORE.version).mkdir()
    assert not are_compiled(folder, CORE)
    note_compiled(folder, CORE)


def test_a_short_history_never_asks_for_the_compiler(told: list[str], taken: list[int]) -> None:
    """Its kernels decide as they stand, and nothing is said."""
    _kernels_there()
    core = fast_core(told.append)
    _play(core, FEW - 1)
    assert (_decides_over_tables(core), told, taken) == (True, [], [])


def test_a_history_that_gets_long_asks_for_the_compiler_once_and_does_not_wait(told: list[str], taken: list[int]) -> None:
    """The kernels go on as they stand, a line says so, and compiled ones are taken once they are there."""
    core = fast_core(told.append)
    _play(core, 2 * FEW)
    assert (_decides_over_tables(core), told, taken) == (True, [COMPILING], [])
    _kernels_there()
    for time in range(2 * FEW, 2 * FEW + 2 * A_WHILE):
        core.step(TimeAdvanced(time=time))
    assert (told, bool(taken)) == ([COMPILING], True)


def test_jobs_in_a_row_are_played_a_while_at_a_time_until_the_kernels_are_compiled(told: list[str], taken: list[int]) -> None:
    """So nobody waits for the whole history in kernels as they stand."""
    core, policy = fast_core(told.append, is_long=True), Policy.of(check(TWO_QUEUES, "two.gpol"))
    core.step(policy.activation(0), policy.graph)
    jobs = [gang(f"j{number}", number, 1, 1) for number in range(2 * A_WHILE)]
    loop = core.closed_loop([job.fact for job in jobs], [job.duration for job in jobs], False)
    assert loop is not None
    first = loop.play(10_000)
    assert (A_WHILE <= len(first.events) < 2 * A_WHILE, first.goes_on, taken) == (True, True, [])
    _kernels_there()
    rest = loop.play(10_000)
    assert (len(first.events) + len(rest.events), rest.goes_on, set(taken)) == (3 * len(jobs), False, {c.PLAY})


def test_a_long_history_takes_compiled_kernels_at_once(told: list[str], taken: list[int]) -> None:
    """It begins with its policy."""
    _kernels_there()
    core = fast_core(told.append, is_long=True)
    _play(core, 1)
    assert (_decides_over_tables(core), told, bool(taken)) == (True, [], True)


def test_it_is_said_once_that_numbers_are_too_large(told: list[str]) -> None:
    """The definition decides then."""
    core, policy = (
        fast_core(told.append, is_long=True),
        Policy.of(check(f'policy "p" {{}}\nflavor a {{ gpu {2**52} }}\nqueue q {{}}\n', "p.gpol")),
    )
    core.step(policy.activation(0), policy.graph)
    core.step(TimeAdvanced(time=1))
    assert not _decides_over_tables(core)
    assert told == ["decided without tables, to the same results and more slowly, as long as an amount is too large"]


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
    assert (_decides_over_tables(core), told) == (True, [NO_FOLDER])


@pytest.fixture
def only_read(monkeypatch: pytest.MonkeyPatch) -> None:
    """The folder of kernels can be read alone, also by root."""
    monkeypatch.setattr(os, "access", lambda path, mode: mode != os.W_OK)


@pytest.mark.usefixtures("only_read")
def test_kernels_in_a_folder_that_can_only_be_read_are_taken(told: list[str], taken: list[int]) -> None:
    """As those that an image brings."""
    _kernels_there()
    core = fast_core(told.append, is_long=True)
    _play(core, 1)
    assert (_decides_over_tables(core), told, bool(taken)) == (True, [], True)


@pytest.mark.usefixtures("only_read")
def test_it_is_said_that_kernels_cannot_be_put_there(told: list[str]) -> None:
    """No compiler is started for nothing."""
    core = fast_core(told.append, is_long=True)
    _play(core, 1)
    assert (_decides_over_tables(core), told) == (True, [NO_FOLDER])


def _small_kernel(source: Path, folder: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """A compiled sum of two numbers, whose source is said to be in a file."""
    source.parent.mkdir()
    source.write_text("")
    code = compile_module._run_at.__code__.replace(co_filename=str(source))
    monkeypatch.setattr(compile_module, "_run_at", FunctionType(code, vars(compile_module), "_run_at"))
    names = {"tables_at": numba.njit(lambda address: address), "entry": numba.njit(lambda tables, first, second: first + second)}
    return compile_module._outer_function(names, folder)


def test_numba_finds_what_was_kept_and_writes_nothing_to_find_out(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Wherever the source of the kernel lies, and though no file can be made there."""
    kept = cache / "kept"
    first = _small_kernel(cache / "one" / "compile.py", kept, monkeypatch)
    files = {path: path.read_bytes() for path in kept.rglob("*")}
    assert (sum(first.stats.cache_hits.values()), len(files)) == (0, 2)
    kept.chmod(0o500)
    monkeypatch.setattr("tempfile.TemporaryFile", lambda **options: pytest.fail("a file was made"))
    second = _small_kernel(cache / "two" / "compile.py", kept, monkeypatch)
    assert (sum(second.stats.cache_hits.values()), second(0, 1, 2)) == (1, 3)
    assert {path: path.read_bytes() for path in kept.rglob("*")} == files


@pytest.mark.parametrize("damage", ["cut", "changed", "gone", "more"])
def test_damaged_kernels_are_made_anew(told: list[str], taken: list[int], damage: str) -> None:
    """What is in the folder would be run: it is removed, and the kernels decide as they stand until it is made again."""
    folder = kernel_folder()
    assert folder is not None
    place = folder / CORE.version
    place.mkdir()
    code = place / "code.nbc"
    code.write_bytes(b"code" * 100)
    note_compiled(folder, CORE)
    assert are_compiled(folder, CORE)
    match damage:
        case "cut":
            code.write_bytes(b"code")
        case "changed":
            code.write_bytes(b"c0de" * 100)
        case "gone":
            code.unlink()
        case "more":
            (place / "other.nbc").write_bytes(b"code")
    core = fast_core(told.append, is_long=True)
    _play(core, 1)
    assert (told, taken, place.exists()) == ([COMPILING], [], False)


@pytest.mark.parametrize(
    "error", [ImportError("Numba needs NumPy 2.4 or less.\nGot 9"), OSError("no such library"), AttributeError("compile")]
)
def test_a_compiler_that_fails_is_told_once_and_done_without(told: list[str], monkeypatch: pytest.MonkeyPatch, error: Exception) -> None:
    """After an upgrade of another package, say. It is not asked again in this process."""
    asked = list[int]()

    def fail(cache: Path) -> KernelSet:
        asked.append(1)
        raise error

    _kernels_there()
    monkeypatch.setattr("gpol.compiled.compile.compiled_kernels", fail)
    module._loaded.cache_clear()
    core = fast_core(told.append, is_long=True)
    _play(core, 2 * A_WHILE)
    first = str(error).splitlines()[0]
    assert told == [CANNOT_LOAD.format(reason=f"{type(error).__name__}: {first}")]
    assert (len(asked), _decides_over_tables(core)) == (1, True)


def test_code_is_kept_in_the_folder_of_its_version_or_nowhere(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In another folder code of other kernels might have the same name."""
    (cache / CORE.version).write_text("in the way")
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(cache / "elsewhere"))
    with pytest.raises(FolderError, match="is no folder that kernels can be kept in"):
        compile_module._outer_function({}, cache / CORE.version)


def test_what_the_environment_tells_the_compiler_makes_another_version(monkeypatch: pytest.MonkeyPatch) -> None:
    """But for the number of threads, of which kernels have one."""
    before = replace(CORE).version
    monkeypatch.setenv("NUMBA_NUM_THREADS", "1")
    assert replace(CORE).version == before
    monkeypatch.setenv("NUMBA_OPT", "1")
    assert replace(CORE).version != before


def test_kernels_for_all_processors_are_the_same_version_on_each(monkeypatch: pytest.MonkeyPatch) -> None:
    """An image is built on another machine than it runs on."""
    monkeypatch.setenv("NUMBA_CPU_NAME", "generic")
    for_all = replace(CORE).version
    monkeypatch.setattr("llvmlite.binding.get_host_cpu_name", lambda: "another")
    assert replace(CORE).version == for_all
    monkeypatch.delenv("NUMBA_CPU_NAME")
    here = replace(CORE).version
    monkeypatch.undo()
    assert replace(CORE).version not in (for_all, here)


def test_workers_of_a_sweep_find_the_same_kernels() -> None:
    """joblib sets variables in them, also one of numba's."""

    def there() -> str:
        from gpol.compiled.kernel_source import CORE

        return CORE.version

    assert Parallel(n_jobs=2)(delayed(there)() for _ in range(2)) == [CORE.version] * 2
