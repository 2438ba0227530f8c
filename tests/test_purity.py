"""The engine is pure, exact and ordered: what could make it otherwise is banned by reading its syntax trees."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

MODULES = {
    "bisect", "collections", "contextlib", "dataclasses", "enum", "fractions", "functools", "heapq", "itertools", "numpy",
    "operator", "pydantic", "re", "types", "typing",
}  # fmt: skip
"""What the engine may import, beside itself."""

PARTS = {
    "copy": {"copy"},
    "math": {"gcd", "isqrt", "lcm", "prod"},
    "fnmatch": {"fnmatchcase"},
    "datetime": {"UTC", "datetime", "timedelta"},
}
"""Modules of which only these names are exact and the same everywhere."""

CALLS = {
    "breakpoint": "nothing",
    "compile": "data",
    "eval": "data",
    "exec": "data",
    "float": "int or Fraction",
    "globals": "arguments",
    "hash": "the value itself, or a digest of its bytes",
    "id": "a name or a number from the fact",
    "input": "a field of the fact",
    "open": "a field of the fact",
    "print": "a value that is returned",
    "round": "`//` with the rounding said",
    "vars": "named attributes",
}
"""Calls, and what to use instead."""

CLOCK = {"now", "today", "utcnow", "fromtimestamp", "utcfromtimestamp", "astimezone"}

ORDERLESS = {"all", "any", "dict", "frozenset", "len", "max", "min", "set", "sorted", "sum"}
"""Calls whose result does not depend on the order of what they are given."""

ORDERED = {"enumerate", "filter", "iter", "list", "map", "next", "reversed", "tuple", "zip", "join", "extend"}
"""Calls that hand the order of what they are given on."""

EXEMPT = {
    ("event_parts.py", "self.requests.items()"): "a refusal or not; sums do not depend on order",
    ("facts.py", "pod_set.requests.items()"): "a sum for each resource",
    ("facts.py", "totals.items()"): "a refusal or not",
    ("intake/sayings.py", "w.checks.items()"): "which workloads share what is kept of them; it is read in the same order",
    ("core/names.py", "hash(said)"): "where the number of a name is looked for; what is found is told apart by its bytes",
}
"""What decides nothing, with the reason."""


def offences(source: str, file: str = "x.py") -> list[str]:
    """Everything in a module of the engine that could make a decision depend on more than the facts."""
    tree = ast.parse(source)
    lines = source.splitlines()
    sets = _names_of_sets(tree)
    found = []
    for node in ast.walk(tree):
        for line, message in _judge(node, lines, sets, file):
            found.append(f"line {line}: {message}")
    return found


def _judge(node: ast.AST, lines: list[str], sets: set[str], file: str) -> Iterator[tuple[int, str]]:
    match node:
        case ast.Import(names=names):
            for alias in names:
                if alias.name.split(".")[0] not in MODULES:
                    yield node.lineno, f"imports {alias.name}; everything the core needs is a field of the fact"
        case ast.ImportFrom(module=str(module), names=names, level=0):
            yield from _import_from(node, module, names)
        case ast.Constant(value=float() | complex()):
            yield node.lineno, "a float; use an int in the smallest unit, or Fraction"
        case ast.Name(id="float"):
            yield node.lineno, "the type float; use int or Fraction"
        case ast.BinOp(op=ast.Div()) | ast.AugAssign(op=ast.Div()):
            if not lines[node.lineno - 1].rstrip().endswith("# exact"):
                yield node.lineno, "a division; use `//`, or Fraction with the line marked `# exact`"
        case ast.Call():
            if (file, ast.unparse(node)) not in EXEMPT:
                yield from _call(node, sets)
    for iterated in _iterated(node):
        text = ast.unparse(iterated)
        if _is_unordered(iterated, sets) and (file, text) not in EXEMPT:
            yield iterated.lineno, f"iterates `{text}`; use sorted(...)"


def _import_from(node: ast.ImportFrom, module: str, names: list[ast.alias]) -> Iterator[tuple[int, str]]:
    top = module.split(".")[0]
    if top in PARTS:
        for alias in names:
            if alias.name not in PARTS[top]:
                yield node.lineno, f"imports {module}.{alias.name}; of {module} only {', '.join(sorted(PARTS[top]))} will do"
    elif top not in MODULES:
        yield node.lineno, f"imports {module}; everything the core needs is a field of the fact"


def _call(node: ast.Call, sets: set[str]) -> Iterator[tuple[int, str]]:
    match node.func:
        case ast.Name(id=name) if name in CALLS and name != "float":
            yield node.lineno, f"calls {name}; use {CALLS[name]}"
        case ast.Attribute(attr=name) if name in CLOCK:
            yield node.lineno, f"calls {name}; time is a field of the fact"
        case ast.Attribute(attr="pop" | "popitem", value=value) if not node.args and _is_unordered(value, sets):
            yield node.lineno, f"takes any item of `{ast.unparse(value)}`; use min(...) or sorted(...)"


def _iterated(node: ast.AST) -> Iterator[ast.expr]:
    """The expressions whose order a node hands on."""
    match node:
        case ast.For(iter=iterated) | ast.Starred(value=iterated) | ast.YieldFrom(value=iterated):
            yield iterated
        case ast.ListComp(generators=generators):
            yield from (generator.iter for generator in generators)
        case ast.Call(func=ast.Name(id=name) | ast.Attribute(attr=name), args=arguments):
            for argument in arguments:
                if name in ORDERED:
                    yield argument
                if isinstance(argument, ast.GeneratorExp) and name not in ORDERLESS:
                    yield from (generator.iter for generator in argument.generators)


def _is_unordered(node: ast.expr, sets: set[str]) -> bool:
    match node:
        case ast.Set() | ast.SetComp():
            return True
        case ast.Call(func=ast.Name(id="set" | "frozenset")) | ast.Call(func=ast.Attribute(attr="keys" | "values" | "items")):
            return True
        case ast.Name() | ast.Attribute():
            return ast.unparse(node).removeprefix("self.") in sets
        case ast.BinOp(left=left, op=ast.BitOr() | ast.BitAnd() | ast.Sub() | ast.BitXor()):
            return _is_unordered(left, sets)
    return False


def _names_of_sets(tree: ast.AST) -> set[str]:
    """Names and attributes that a module declares or makes as sets."""
    found = set()
    for node in ast.walk(tree):
        match node:
            case ast.Assign(targets=[target], value=value) if _is_unordered(value, set()) and "." not in ast.unparse(value).split("(")[0]:
                found.add(ast.unparse(target).removeprefix("self."))
            case ast.AnnAssign(target=target, annotation=annotation) | ast.arg(arg=target, annotation=annotation):
                if annotation is not None and ast.unparse(annotation).startswith(("set", "frozenset")):
                    name = target if isinstance(target, str) else ast.unparse(target)
                    found.add(name.removeprefix("self."))
    return found


def test_the_engine_is_pure_exact_and_ordered(root: Path) -> None:
    """No module of the engine has a clock, a file, a float, or an order taken from a set or a dict."""
    engine = root / "engine"
    found = []
    for path in sorted(engine.rglob("*.py")):
        file = path.relative_to(engine).as_posix()
        found += [f"engine/{file}: {offence}" for offence in offences(path.read_text(), file)]
    assert found == []


def test_every_exemption_is_needed(root: Path) -> None:
    """No exemption outlives the line it was made for."""
    for file, text in EXEMPT:
        trees = ast.walk(ast.parse((root / "engine" / file).read_text()))
        judged = [each for node in trees for each in ([node] if isinstance(node, ast.Call) else []) + [*_iterated(node)]]
        assert any(text == ast.unparse(each) for each in judged), (file, text)


@pytest.mark.parametrize(
    ("source", "named"),
    [
        ("import time", "field of the fact"),
        ("from os import environ", "field of the fact"),
        ("from random import choice", "field of the fact"),
        ("from math import sqrt", "isqrt"),
        ("from fnmatch import fnmatch", "fnmatchcase"),
        ("from datetime import date", "timedelta"),
        ("x = 0.5", "Fraction"),
        ("def f(x: float): ...", "Fraction"),
        ("y = x / 2", "`//`"),
        ("x /= 2", "`//`"),
        ("hash(x)", "digest"),
        ("print(x)", "returned"),
        ("round(x)", "rounding"),
        ("datetime.now(UTC)", "field of the fact"),
        ("for a in {1, 2}: ...", "sorted"),
        ("for a in x.items(): ...", "sorted"),
        ("[a for a in set(x)]", "sorted"),
        ("list(x.values())", "sorted"),
        ("tuple(a for a in x.keys())", "sorted"),
        ("','.join({a for a in x})", "sorted"),
        ("[*x.values()]", "sorted"),
        ("x: set[int] = y\nfor a in x: ...", "sorted"),
        ("def f(x: frozenset[int]):\n    return [a for a in x]", "sorted"),
        ("self.x = set()\nfor a in self.x: ...", "sorted"),
        ("x = set(y)\nx.pop()", "min"),
        ("x.items() - y\nfor a in x.items() - y: ...", "sorted"),
    ],
)
def test_a_seeded_offence_is_caught(source: str, named: str) -> None:
    """Each banned form is found, once, and what to use instead is said."""
    found = offences(source)
    assert len(found) == 1
    assert named in found[0]


@pytest.mark.parametrize(
    "source",
    [
        "for a in sorted(x.items()): ...",
        "sum(x.values())",
        "any(a > 1 for a in x.values())",
        "{a: b for a, b in x.items()}",
        "sorted(a for a in {1, 2})",
        "y = Fraction(x) / 2  # exact",
        "y = x // 2",
        "for a in [1, 2]: ...",
        "x = set(y)\nz = a in x",
        "from math import lcm",
        "from fractions import Fraction",
    ],
)
def test_what_is_sound_is_allowed(source: str) -> None:
    """The bans leave the sound forms alone."""
    assert offences(source) == []
