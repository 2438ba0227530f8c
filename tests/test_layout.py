"""The layout of the rooms: small folders, no import cycles, and one meaning for each file name and type name."""

import ast
from collections import defaultdict
from collections.abc import Iterable, Mapping
from pathlib import Path

import pytest

ROOMS = ("engine", "compiled", "dsl", "journal", "policies", "sim", "adapters", "console", "cli")
"""The rooms that are checked."""

PARTS_OF_ENGINE = ("definition", "core")
"""Folders of `engine/` that count as rooms of their own where file names are compared: two implementations of one semantics."""

MOST_MODULES = 14
"""Modules in one folder, `__init__.py` not counted."""

ONE_MEANING: dict[str, str] = {
    "Requirement": "a fact's is read and checked as JSON, a policy's is plain data that the digest goes over",
    "Taint": "a fact's is read and checked as JSON, a policy's is plain data that the digest goes over",
    "Toleration": "a fact's is read and checked as JSON, a policy's is plain data that the digest goes over",
}
"""Type names that stand in two modules and mean the same there, each with the reason why they are two types."""

Graph = Mapping[str, set[str]]
"""The modules that each module imports, by dotted name."""


# --- reading --------------------------------------------------------------------------------------------------------


def sources(root: Path, rooms: Iterable[str] = ROOMS) -> dict[str, str]:
    """The text of every module of some rooms, by its path below `root`."""
    paths = [path for room in rooms for path in sorted((root / room).rglob("*.py"))]
    return {path.relative_to(root).as_posix(): path.read_text() for path in paths}


def module_name(path: str) -> str:
    """The dotted name of the module in a file: `dsl/syntax/tree.py` is `gpol.dsl.syntax.tree`."""
    return "gpol." + path.removesuffix(".py").removesuffix("/__init__").replace("/", ".")


def import_graph(files: Mapping[str, str]) -> dict[str, set[str]]:
    """What each module imports of the others: at its top, inside functions, under `if TYPE_CHECKING` and by `import_module`."""
    known = {module_name(path) for path in files}
    return {module_name(path): _imports(path, text, known) - {module_name(path)} for path, text in files.items()}


def _imports(path: str, text: str, known: set[str]) -> set[str]:
    package = module_name(path) if path.endswith("__init__.py") else module_name(path).rpartition(".")[0]
    found: list[str] = []
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            found += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            above = package.split(".")[: len(package.split(".")) - node.level + 1] if node.level else []
            base = ".".join([*above, *([node.module] if node.module else [])])
            # `from package import name` imports a module of that name, or else something that the package itself holds
            found += [f"{base}.{alias.name}" if f"{base}.{alias.name}" in known else base for alias in node.names]
        elif isinstance(node, ast.Call) and _is_import_call(node.func) and node.args and isinstance(node.args[0], ast.Constant):
            name = str(node.args[0].value)
            found.append(package + name if name.startswith(".") else name)
    return {name for name in found if name in known}


def _is_import_call(func: ast.expr) -> bool:
    return getattr(func, "attr", getattr(func, "id", "")) in ("import_module", "__import__")


def public_types(text: str) -> set[str]:
    """The public classes of a module, and its public aliases of types (`Verdict = Literal[...]`)."""
    found: set[str] = set()
    for node in ast.parse(text).body:
        if isinstance(node, ast.ClassDef):
            found.add(node.name)
        elif isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name) and not isinstance(node.value, ast.Call | ast.Constant):
            found.add(node.targets[0].id)
    return {name for name in found if name[0].isupper() and not name.isupper() and "_" not in name}


# --- the rules ------------------------------------------------------------------------------------------------------


def crowded_folders(paths: Iterable[str]) -> dict[str, int]:
    """The folders with too many modules, each with their number."""
    counts: dict[str, int] = defaultdict(int)
    for path in paths:
        folder, _, file = path.rpartition("/")
        counts[folder] += file != "__init__.py"
    return {folder: count for folder, count in counts.items() if count > MOST_MODULES}


def import_cycles(graph: Graph) -> list[list[str]]:
    """The groups of modules that import each other, directly or through others: the strongly connected components of the imports."""
    reached = {name: _reached(graph, name) for name in graph}
    found = {tuple(sorted(other for other in reached[name] if name in reached[other])) for name in graph if name in reached[name]}
    return [list(group) for group in sorted(found)]


def _reached(graph: Graph, start: str) -> set[str]:
    """The modules that are loaded when one is imported and everything in it is run."""
    found: set[str] = set()
    ahead = [start]
    while ahead:
        new = graph[ahead.pop()] - found
        found |= new
        ahead += new
    return found


def shared_file_names(paths: Iterable[str]) -> dict[str, list[str]]:
    """The modules of one room that have the same file name, by room and name."""
    found: dict[str, list[str]] = defaultdict(list)
    for path in paths:
        room, *folders, file = path.split("/")
        part = f"/{folders[0]}" if room == "engine" and folders and folders[0] in PARTS_OF_ENGINE else ""
        if file != "__init__.py":
            found[f"{room}{part}: {file}"].append(path)
    return {name: same for name, same in found.items() if len(same) > 1}


def shared_type_names(files: Mapping[str, str], allowed: Iterable[str] = ONE_MEANING) -> dict[str, list[str]]:
    """The public type names that several modules define, with these modules; without the allowed names."""
    found: dict[str, list[str]] = defaultdict(list)
    for path, text in files.items():
        for name in public_types(text):
            found[name].append(path)
    return {name: sorted(where) for name, where in sorted(found.items()) if len(where) > 1 and name not in set(allowed)}


# --- the project ----------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def files() -> dict[str, str]:
    """The modules of the project."""
    return sources(Path(__file__).parents[1])


def test_no_folder_is_crowded(files: dict[str, str]) -> None:
    """No folder has more than 14 modules: divide it by concept."""
    assert crowded_folders(files) == {}


def test_no_import_cycles(files: dict[str, str]) -> None:
    """No modules import each other: move what both need into a third one, below them."""
    assert import_cycles(import_graph(files)) == []


def test_file_names_differ_within_a_room(files: dict[str, str]) -> None:
    """A file name says which module of its room is meant."""
    assert shared_file_names(files) == {}


def test_type_names_have_one_meaning(files: dict[str, str]) -> None:
    """No two modules define a public class or alias of one name: rename one of them by what it is."""
    assert shared_type_names(files) == {}


def test_exceptions_are_needed(files: dict[str, str]) -> None:
    """Every name in the table of exceptions is still defined twice."""
    assert sorted(set(ONE_MEANING) - set(shared_type_names(files, allowed=()))) == []


# --- planted offences -----------------------------------------------------------------------------------------------


def test_a_crowded_folder_is_caught() -> None:
    """The fifteenth module of a folder is one too many; `__init__.py` and modules of folders below do not count."""
    full = ["sim/__init__.py", "sim/below/extra.py", *(f"sim/m{number}.py" for number in range(MOST_MODULES))]
    assert crowded_folders(full) == {}
    assert crowded_folders([*full, "sim/one_more.py"]) == {"sim": 15}


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("from .b import x", "from .a import y"),
        ("from . import b", "import gpol.sim.a"),
        ("from .b import x", "def late():\n    from .a import y"),
        ("if TYPE_CHECKING:\n    from ..sim.b import x", "from gpol.sim import a"),
        ("from .b import x", "import_module('.a')"),
    ],
)
def test_an_import_cycle_is_caught(first: str, second: str) -> None:
    """Whatever way the imports are written, the cycle is found and named; a module that only uses it is not part of it."""
    files = {"sim/__init__.py": "", "sim/a.py": first, "sim/b.py": second, "sim/c.py": "from .a import y"}
    assert import_cycles(import_graph(files)) == [["gpol.sim.a", "gpol.sim.b"]]


def test_a_cycle_through_a_third_module_is_caught() -> None:
    """A cycle may be as long as it likes; imports that go one way are none."""
    files = {"sim/a.py": "from .b import x", "sim/b.py": "from .c import x", "sim/c.py": "from ..dsl import d", "dsl/d.py": ""}
    assert import_cycles(import_graph(files)) == []
    files["dsl/d.py"] = "from ..sim.a import x"
    assert import_cycles(import_graph(files)) == [["gpol.dsl.d", "gpol.sim.a", "gpol.sim.b", "gpol.sim.c"]]


def test_a_shared_file_name_is_caught() -> None:
    """The same name twice in a room is found; in two rooms, or in the two implementations of the engine, it is allowed."""
    paths = ["sim/a/x.py", "sim/__init__.py", "sim/a/__init__.py", "dsl/x.py", "engine/definition/y.py", "engine/core/deep/y.py"]
    assert shared_file_names(paths) == {}
    assert shared_file_names([*paths, "sim/x.py"]) == {"sim: x.py": ["sim/a/x.py", "sim/x.py"]}


@pytest.mark.parametrize(
    ("text", "shared"),
    [
        ("class Plan: ...", True),
        ("Plan = Literal['a', 'b']", True),
        ("class _Plan: ...", False),
        ("PLAN = ('a', 'b')", False),
        ("def f():\n    class Plan: ...", False),
        ("from .a import Plan", False),
    ],
)
def test_a_shared_type_name_is_caught(text: str, shared: bool) -> None:
    """A public class or alias counts; private and local classes, constants and imports do not, nor do allowed names."""
    files = {"sim/a.py": "class Plan: ...", "dsl/b.py": text}
    assert shared_type_names(files) == ({"Plan": ["dsl/b.py", "sim/a.py"]} if shared else {})
    assert shared_type_names(files, allowed={"Plan"}) == {}
