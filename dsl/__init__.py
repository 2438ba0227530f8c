"""The language: text to syntax tree to checked policy to policy graph; formatter and diagnostics.

The names are loaded when they are first used, so that a command starts fast.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .checker import Checked, check, check_parsed, compile_policy
    from .diagnostics import Diagnostic, PolicyError
    from .formatter import format_text, print_tree
    from .parser import parse
    from .rendering import render
    from .split import decode

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
    "Checked": "checker",
    "check": "checker",
    "check_parsed": "checker",
    "compile_policy": "checker",
    "Diagnostic": "diagnostics",
    "PolicyError": "diagnostics",
    "decode": "split",
    "format_text": "formatter",
    "print_tree": "formatter",
    "parse": "parser",
    "render": "rendering",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(name)
    return getattr(import_module(f".{_HOMES[name]}", __name__), name)
