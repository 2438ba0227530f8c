"""The house is tidy: size, words, docstrings, pages and links."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from gpol.dsl.codes import CODES

ROOMS = ("engine", "compiled", "dsl", "journal", "sim", "adapters", "cli")
PLACES = (*ROOMS, "policies", "tests", "docs", "examples", "benchmarks", ".ci")
TEXTS = {".py", ".md", ".gpol", ".toml", ".sh", ".lark", ""}
MOST_LINES = 400

EXEMPT_FROM_SIZE = {"dsl/syntax/tree.py": "one small class for each construct of the language"}

UNFINISHED = ("TO" + "DO", "FIX" + "ME", "X" + "XX")
MACHINE = re.compile(r"(?<![\w.])/(work|root|home/\w+|Users/\w+)/")


def modules(root: Path) -> Iterator[Path]:
    """Every module of the rooms."""
    for room in ROOMS:
        yield from sorted((root / room).rglob("*.py"))


def texts(root: Path) -> Iterator[Path]:
    """Every text that people write."""
    files = [path for place in PLACES for path in (root / place).rglob("*")] + list(root.iterdir())
    for path in sorted(files):
        if path.is_file() and path.suffix in TEXTS and path.name not in (".coverage", ".git") and "__pycache__" not in path.parts:
            yield path


def pages(root: Path) -> list[Path]:
    """Every markdown page."""
    return [path for path in texts(root) if path.suffix == ".md"]


def prose(page: str) -> str:
    """A page without its code blocks."""
    return re.sub(r"^```.*?^```$", "", page, flags=re.MULTILINE | re.DOTALL)


def undocumented(source: str) -> list[str]:
    """The public functions and classes of a module, and the module, that have no docstring."""
    tree = ast.parse(source)
    public = [node for node in tree.body if isinstance(node, ast.FunctionDef | ast.ClassDef) and not node.name.startswith("_")]
    missing = [node.name for node in public if not ast.get_docstring(node)]
    return missing if ast.get_docstring(tree) else ["the module", *missing]


def prints(source: str) -> list[int]:
    """The lines that call print."""
    calls = [node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Call)]
    return [call.lineno for call in calls if isinstance(call.func, ast.Name) and call.func.id == "print"]


def test_modules_are_small(root: Path) -> None:
    """No module is above 400 lines: split it by concept."""
    sizes = {path.relative_to(root).as_posix(): len(path.read_text().splitlines()) for path in modules(root)}
    assert {file for file, size in sizes.items() if size > MOST_LINES} == set(EXEMPT_FROM_SIZE)


def test_public_things_have_docstrings(root: Path) -> None:
    """Every module, and every public function and class in it, says what it is."""
    found = {path.relative_to(root).as_posix(): undocumented(path.read_text()) for path in modules(root)}
    assert {file: names for file, names in found.items() if names} == {}


def test_a_missing_docstring_is_caught() -> None:
    """A public function and a public class without docstring are named, a private one is not."""
    assert undocumented('"""x"""\ndef f(): ...\nclass C: ...\ndef _g(): ...') == ["f", "C"]


def test_only_the_command_prints(root: Path) -> None:
    """No room but `cli` prints: others return values."""
    found = {path.relative_to(root).as_posix(): prints(path.read_text()) for path in modules(root) if "cli" not in path.parts}
    assert {file: lines for file, lines in found.items() if lines} == {}


def test_a_print_is_caught() -> None:
    """A call is found, a mention is not."""
    assert prints("def f():\n    print(1)\nx.print(2)\n'print(3)'") == [2]


def test_nothing_is_left_for_later(root: Path) -> None:
    """No text holds a mark of unfinished work."""
    found = [
        f"{path.relative_to(root)}:{number}"
        for path in texts(root)
        for number, line in enumerate(path.read_text(errors="replace").splitlines(), start=1)
        if any(re.search(rf"\b{word}\b", line) for word in UNFINISHED)
    ]
    assert found == []


def test_no_text_names_a_place_of_one_machine(root: Path) -> None:
    """No text holds an absolute path into somebody's folders."""
    found = [
        f"{path.relative_to(root)}:{number}"
        for path in texts(root)
        for number, line in enumerate(path.read_text(errors="replace").splitlines(), start=1)
        if MACHINE.search(line)
    ]
    assert found == []


@pytest.mark.parametrize(("line", "bad"), [("cd /wo" + "rk/main", True), ("in /ro" + "ot/x", True), ("see docs/work/x", False)])
def test_a_place_of_one_machine_is_caught(line: str, bad: bool) -> None:
    """Absolute paths are seen, relative ones let be."""
    assert bool(MACHINE.search(line)) == bad


def test_every_page_has_one_title(root: Path) -> None:
    """A markdown page starts with its only heading of the first level."""
    titles = {page.relative_to(root).as_posix(): re.findall(r"^# .+$", prose(page.read_text()), re.MULTILINE) for page in pages(root)}
    assert {page: found for page, found in titles.items() if len(found) != 1} == {}


def test_every_link_leads_somewhere(root: Path) -> None:
    """Every relative link of a page resolves, and its anchor is a heading there."""
    broken = []
    for page in pages(root):
        for link in re.findall(r"\]\(([^)\s]+)\)", prose(page.read_text())):
            if re.match(r"[a-z]+:", link):
                continue
            target, _, anchor = link.partition("#")
            file = (page.parent / target).resolve() if target else page
            if not file.exists() or (anchor and anchor not in anchors(file.read_text())):
                broken.append(f"{page.relative_to(root)}: {link}")
    assert broken == []


def anchors(page: str) -> set[str]:
    """The anchors of a page's headings, as code hosts make them."""
    headings = re.findall(r"^#+ (.+)$", prose(page), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def test_every_diagnostic_has_a_page(root: Path) -> None:
    """Each code of the checker has its page with its title, and each page has its code."""
    folder = root / "docs" / "diagnostics"
    found = {path.stem: path for path in folder.glob("GP*.md")}
    assert sorted(found) == sorted(CODES)
    for code, path in found.items():
        assert path.read_text().startswith(f"# {code}"), path.name
