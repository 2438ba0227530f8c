"""The identity of a policy: SHA-256 over what it means, not over how it is written.

The policy graph, without files and lines, is written as compact JSON: dataclasses as lists of their fields in declared
order, fractions as `n/d`. Layout, comments, quoting, the order of declarations, tests, equal numbers written differently
and the file's name do not change it; every name, amount, order, rule and reason does. The first line is the version of
this form.
"""

import hashlib
import json
from dataclasses import fields, is_dataclass
from enum import Enum
from fractions import Fraction

from ..engine.expr import Const
from ..engine.graph import PolicyGraph, Source

_FORM = "gpol policy 1"


def digest(graph: PolicyGraph) -> str:
    """The digest of a graph, `sha256:` and 64 hexadecimal digits; its own `digest` field takes no part."""
    text = json.dumps(_plain(graph), separators=(",", ":"), ensure_ascii=True)
    return "sha256:" + hashlib.sha256(f"{_FORM}\n{text}".encode()).hexdigest()


def _plain(value: object) -> object:
    if isinstance(value, Const):
        return [_plain(value.value), value.type.value]  # the way a constant was written is no part of its meaning
    if is_dataclass(value):
        named = [(field.name, getattr(value, field.name)) for field in fields(value)]
        parts = [_plain(part) for name, part in named if not isinstance(part, Source) and name != "digest"]
        return [type(value).__name__, *parts]
    if isinstance(value, tuple):
        return [_plain(part) for part in value]
    if isinstance(value, Fraction):
        return f"{value.numerator}/{value.denominator}"
    return value.value if isinstance(value, Enum) else value
