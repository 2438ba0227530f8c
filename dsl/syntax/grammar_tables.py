"""The stored parse tables: `grammar.json` holds the parser that Lark builds from `grammar.lark`, as plain data.

Reading the tables takes a tenth of the time of building them. Building took a third of the run time of a short command.
After a change of the grammar, write them again with `python -m gpol.dsl.syntax.grammar_tables`; a test checks that they are current.
"""

import json
import re
from collections.abc import Mapping
from hashlib import sha256
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from lark import Lark

NAME = "grammar.json"
"""The file, beside the grammar."""

_CODE = ("transformer", "edit_terminals", "_plugins")
"""Options of a parser that are code. They are not stored: the tables hold their effect, or get them when they are read."""

_SHIFT = 0
"""The kind of an action that moves to a state; the others reduce by a rule."""


def read_tables(grammar: str, code: Mapping[str, Any]) -> "Lark | None":
    """The parser of a grammar, with the code that it calls; None if no tables for this grammar and this version of Lark are stored."""
    from lark import Lark

    place = files(__package__).joinpath(NAME)
    if not place.is_file():
        return None
    stored = json.loads(place.read_text(encoding="utf-8"))
    if stored["of"] != _identity(grammar):
        return None
    memo = {int(number): value for number, value in stored["memo"].items()}
    table = stored["data"]["parser"]["parser"]
    table["states"] = {int(number): actions for number, actions in table["states"].items()}
    made: Lark = Lark._load_from_dict(stored["data"], memo, **code)  # type: ignore[no-untyped-call]
    return made


def tables_text(parser: "Lark", grammar: str) -> str:
    """The tables of a parser as JSON, the same text in every run, a terminal, rule or state on each line."""
    from lark.grammar import Rule
    from lark.lexer import TerminalDef

    data, memo = parser.memo_serialize([TerminalDef, Rule])
    data["options"] = {name: value for name, value in data["options"].items() if name not in _CODE}
    data["parser"]["parser"] = _renumbered(data["parser"]["parser"])
    text = json.dumps({"of": _identity(grammar), "memo": memo, "data": data}, separators=(",", ":"))
    return re.sub(r'\},(?="\d+":)', "},\n", text) + "\n"


def _renumbered(table: dict[str, Any]) -> dict[str, Any]:
    """A parse table with stable numbers: tokens by name, states in the order in which they are reached. Lark's differ from run to run."""
    names = sorted(table["tokens"].values())
    met = {table["start_states"]["start"]: 0}
    reached, states = list(met), dict[int, dict[int, list[Any]]]()
    for state in reached:  # the list grows during the loop
        named = {table["tokens"][token]: action for token, action in table["states"][state].items()}
        states[met[state]] = actions = {}
        for token, name in enumerate(names):
            if name not in named:
                continue
            kind, target = named[name]
            if kind == _SHIFT and target not in met:
                met[target] = len(met)
                reached.append(target)
            actions[token] = [kind, met[target] if kind == _SHIFT else target]
    ends = {key: {"start": met[table[key]["start"]]} for key in ("start_states", "end_states")}
    return {"tokens": dict(enumerate(names)), "states": states, **ends}


def _identity(grammar: str) -> list[str]:
    """What tables depend on: the text of the grammar and the version of Lark."""
    from lark import __version__

    return [sha256(grammar.encode()).hexdigest(), __version__]


if __name__ == "__main__":
    from .grammar import build_parser, grammar_text

    Path(__file__).with_name(NAME).write_text(tables_text(build_parser(), grammar_text()), encoding="utf-8")
