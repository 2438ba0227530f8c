"""Imports go one way: cli -> console -> adapters -> sim -> journal -> dsl -> engine."""

import ast
from pathlib import Path

import pytest

ROOMS = ("engine", "compiled", "dsl", "journal", "sim", "adapters", "console", "cli")
"""Each room may import itself and those before it."""

CORES = ("definition", "core")
"""Folders of `engine/` that decide, each by itself."""

NAMES_A_CORE = "engine/default_core.py"
"""The only module outside of a core that may import it."""

COMPILES_A_CORE = "compiled"
"""The room that is about one core."""

GO_ON_AS_THE_DEFINITION = ("engine/core/bridge.py", "engine/core/core.py", "engine/core/view.py")
"""Where the core over arrays hands its state to the definition: for questions, for facts about policy and supply, beyond its bounds."""

ASKS_THE_DEFINITION = "engine/questions"
"""The folder of the questions that the definition answers, whichever core decides."""

PLAYS_PASSES = ("adapters/kai/", "adapters/volcano/decide/")
"""Folders that play the passes of another system over its own form of a cluster: the definition alone has passes."""

PURE = {"policies"}
"""Data: imports nothing, and is imported by nothing; files are read through importlib.resources."""


def imported(source: str, package: str) -> list[tuple[int, str]]:
    """Every module that a module of `package` (dotted) imports, with its line; also inside functions and by import_module."""
    found = []
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            found += [(node.lineno, alias.name) for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            base = package.split(".")[: len(package.split(".")) - node.level + 1] if node.level else []
            module = ".".join([*base, *([node.module] if node.module else [])])
            found += [(node.lineno, f"{module}.{alias.name}") for alias in node.names]
        elif isinstance(node, ast.Call) and _is_import_call(node.func) and node.args and isinstance(node.args[0], ast.Constant):
            found.append((node.lineno, str(node.args[0].value)))
    return found


def _is_import_call(func: ast.expr) -> bool:
    return getattr(func, "attr", getattr(func, "id", "")) in ("import_module", "__import__")


def offences(source: str, package: str) -> list[str]:
    """The imports of a module that go the wrong way."""
    room = package.split(".")[1]
    allowed = ROOMS[: ROOMS.index(room) + 1] if room in ROOMS else ()
    found = []
    for line, module in imported(source, package):
        parts = module.split(".")
        if parts[0] == "gpol" and len(parts) > 1 and parts[1] not in allowed:
            found.append(f"line {line}: {room} may not import {parts[1]}; it may import {', '.join(allowed) or 'nothing'}")
        elif parts[0] in (*ROOMS, *PURE):
            found.append(f"line {line}: write `gpol.{module}` or a relative import")
    return found


def _package(path: Path, root: Path) -> str:
    return ".".join(("gpol", *path.relative_to(root).parent.parts))


@pytest.mark.parametrize("room", [*ROOMS, *sorted(PURE)])
def test_rooms_import_one_way(room: str, root: Path) -> None:
    """No module imports a room that stands above its own, not even lazily."""
    found = []
    for path in sorted((root / room).rglob("*.py")):
        found += [f"{path.relative_to(root)}: {offence}" for offence in offences(path.read_text(), _package(path, root))]
    assert found == []


def cores_imported(source: str, package: str) -> list[str]:
    """The imports of a module that reach into a core of which it is no part."""
    own = package.split(".")[2:3]
    reached = [(line, module.split(".")[1:3]) for line, module in imported(source, package) if module.startswith("gpol.engine.")]
    return [f"line {line}: {parts[1]}" for line, parts in reached if parts[1] in CORES and parts[1:] != own]


def test_nothing_depends_on_one_core(root: Path) -> None:
    """What all cores share, such as `engine/intake/`, imports none of them; nor does another room; one core names another in few places."""
    found = []
    for room in ROOMS:
        for path in sorted((root / room).rglob("*.py") if room != COMPILES_A_CORE else ()):
            file = path.relative_to(root).as_posix()
            if file != NAMES_A_CORE and file not in GO_ON_AS_THE_DEFINITION and not file.startswith((ASKS_THE_DEFINITION, *PLAYS_PASSES)):
                found += [f"{file}: {offence}" for offence in cores_imported(path.read_text(), _package(path, root))]
    assert found == []


@pytest.mark.parametrize(
    ("source", "package", "caught"),
    [
        ("from ..definition.state.state import State", "gpol.engine.intake", 1),
        ("from ...definition import core", "gpol.engine.core.queue", 1),
        ("from ...engine.definition.core import DefinitionCore", "gpol.sim.drive", 1),
        ("from ..state.state import State", "gpol.engine.definition.queue", 0),
        ("from ...intake.holds import holds", "gpol.engine.definition.queue", 0),
        ("from ..engine.cores import Core", "gpol.sim", 0),
    ],
)
def test_an_import_of_a_core_is_caught(source: str, package: str, caught: int) -> None:
    """Only a core itself may import what is in its folder."""
    assert len(cores_imported(source, package)) == caught


@pytest.mark.parametrize(
    ("source", "package"),
    [
        ("from ..dsl.parser import parse", "gpol.engine"),
        ("from ...journal import Journal", "gpol.engine.definition"),
        ("def late():\n    import gpol.cli.main", "gpol.sim"),
        ("from .. import adapters", "gpol.journal"),
        ("import_module('gpol.sim.drive.player')", "gpol.dsl"),
        ("from engine.units import SECOND", "gpol.dsl"),
        ("from ..engine import units", "gpol.policies"),
    ],
)
def test_an_upward_import_is_caught(source: str, package: str) -> None:
    """Every way to write an import against the direction is seen."""
    assert len(offences(source, package)) == 1


@pytest.mark.parametrize(
    ("source", "package"),
    [
        ("from ..units import SECOND", "gpol.engine.definition"),
        ("from ..dsl.checker import check", "gpol.sim"),
        ("from . import chain", "gpol.journal"),
        ("import numpy", "gpol.engine"),
    ],
)
def test_a_downward_import_is_allowed(source: str, package: str) -> None:
    """What goes down, stays in the room or leaves the project is no offence."""
    assert offences(source, package) == []
