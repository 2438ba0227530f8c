"""The language: text to syntax tree to checked policy to policy graph; formatter and diagnostics.

The names are loaded when they are first used, so that a command starts fast.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .analysis.checker import Checked, check, check_parsed, compile_policy
    from .diagnostics import Diagnostic, PolicyError
    from .print.formatter import format_text, print_tree
    from .rendering import render
    from .syntax.items import decode
    from .syntax.parser import parse

__all__ = [
    "Checked",
    "Diagnostic",
    "PolicyError",
    "check",
    "check_parsed",
    "compile_policy",
    "decode",
    "format_text",
    "parse",
    "print_tree",
    "render",
]

_HOMES = {
    "Checked": "analysis.checker",
    "check": "analysis.checker",
    "check_parsed": "analysis.checker",
    "compile_policy": "analysis.checker",
    "Diagnostic": "diagnostics",
    "PolicyError": "diagnostics",
    "decode": "syntax.items",
    "format_text": "print.formatter",
    "print_tree": "print.formatter",
    "parse": "syntax.parser",
    "render": "rendering",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(name)
    return getattr(import_module(f".{_HOMES[name]}", __name__), name)
