"""What all tests share: hypothesis profiles, which tests are slow, the reference data beside the repository, a PostgreSQL server."""

import itertools
import os
import sys
from collections.abc import Iterator
from pathlib import Path

import postgres_server
import pytest
from commands import Gpol, in_place
from hypothesis import HealthCheck, settings
from kernel_cache import filled

ROOT = Path(__file__).resolve().parent.parent

# A deadline would make a slow machine fail; speed is measured elsewhere. `quick` and `ci` are derandomized: a failure is the change's.
_SLOW = [HealthCheck.too_slow, HealthCheck.data_too_large]
settings.register_profile("quick", deadline=None, max_examples=10, derandomize=True, suppress_health_check=_SLOW)
settings.register_profile("ci", deadline=None, max_examples=30, derandomize=True, suppress_health_check=_SLOW)
settings.register_profile("thorough", deadline=None, max_examples=2_000, suppress_health_check=_SLOW)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "quick"))


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """What needs a PostgreSQL server is slow: `make test` does not depend on whether one is installed. Slow tests go first, so that
    the processes of a test run end at the same time."""
    for item in items:
        if isinstance(item, pytest.Function) and _needs_postgres(item):
            item.add_marker("slow")
    items.sort(key=lambda item: item.get_closest_marker("slow") is None)


def _needs_postgres(item: pytest.Function) -> bool:
    """Whether a test takes the server itself, or is run for several stores and this time for PostgreSQL."""
    parameters = item.callspec.params if hasattr(item, "callspec") else {}
    return "postgres" in item.fixturenames or "postgresql" in parameters.values()


@pytest.fixture(scope="session", autouse=True)
def _no_kernels_of_the_user() -> Iterator[None]:
    """Commands find no place for compiled kernels, so that none starts a compiler beside the tests."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", os.devnull)
        yield


@pytest.fixture
def gpol(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Gpol:
    """Runs the command in an empty folder: `gpol("check", "lab.gpol", stdin=b"...")`. No run may print a traceback."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("GPOL_TRACEBACK", raising=False)
    return in_place(monkeypatch, capsys)


@pytest.fixture(scope="session")
def kernel_cache() -> Path:
    """A cache with all compiled kernels."""
    return filled()


@pytest.fixture
def compiled(kernel_cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Commands find compiled kernels, as they do for a user after the first long history."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(kernel_cache))


@pytest.fixture(scope="session")
def root() -> Path:
    """The repository's root folder."""
    return ROOT


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder `shared` beside the repository, with traces and reference data; skips where it is absent."""
    folder = ROOT.parent / "shared"
    if not folder.is_dir():
        pytest.skip("needs the reference data in `shared`, beside the repository")
    return folder


@pytest.fixture(scope="session")
def another_user() -> None:
    """For tests that give up root's rights in a process of theirs; skips where that process could not read the project then."""
    places = [place for start in (ROOT, Path(sys.prefix)) for place in (start, *start.parents)]
    closed = next((place for place in places if place.stat().st_mode & 0o005 != 0o005), None)
    if os.name != "nt" and os.geteuid() == 0 and closed is not None:
        pytest.skip(f"run as root, and no other user may read {closed}")


@pytest.fixture(scope="session")
def postgres() -> Iterator[str]:
    """The URL of a database on a server of the tests' own; skips where PostgreSQL is not installed, unless GPOL_REQUIRE_POSTGRES is set."""
    programs = postgres_server.programs()
    if programs is None:
        if os.environ.get("GPOL_REQUIRE_POSTGRES"):
            pytest.fail("PostgreSQL is not installed, and GPOL_REQUIRE_POSTGRES asks for it")
        pytest.skip("needs PostgreSQL installed: initdb on PATH, or in /usr/lib/postgresql")
    with postgres_server.running(programs) as url:
        yield url


_numbers = itertools.count(1)


@pytest.fixture
def postgres_place(postgres: str) -> str:
    """The URL of a journal in PostgreSQL that is not there yet."""
    return f"{postgres}&journal=j{next(_numbers)}"
