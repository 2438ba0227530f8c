"""The identity of a policy: SHA-256 over what it means, not over how it is written.

The policy graph, without files and lines, is written as compact JSON: each dataclass as a list of its type's name and its
fields in declared order, fractions as `n/d`. Layout, comments, quoting, the order of declarations, tests, equal numbers
written differently and the file's name do not change it; every name, amount, order, rule and reason does. Fields that came
later stand behind the others by name, and only where they say something, so old policies keep their digests. The first line
of what is hashed is the version of this form.
"""

import hashlib
import json
from dataclasses import fields, is_dataclass
from enum import Enum
from fractions import Fraction

from ...engine.guard import Const
from ...engine.policy_graph import PolicyGraph
from ...engine.policy_settings import LATER

_FORM = "gpol policy 1"


def digest(graph: PolicyGraph) -> str:
    """The digest of a graph, `sha256:` and 64 hexadecimal digits; its own `digest` field takes no part."""
    text = json.dumps(_plain(graph), separators=(",", ":"), ensure_ascii=True)
    return "sha256:" + hashlib.sha256(f"{_FORM}\n{text}".encode()).hexdigest()


def _plain(value: object) -> object:
    if isinstance(value, Const):
        return ["Const", _plain(value.value), value.type.value]  # the way a constant was written is no part of its meaning
    if is_dataclass(value):
        said = [(field, getattr(value, field.name)) for field in fields(value) if not _is_place(field.name)]
        first = [_plain(part) for field, part in said if LATER not in field.metadata]
        since = [[field.name, _plain(part)] for field, part in said if LATER in field.metadata and part != field.default]
        return [type(value).__name__, *first, *since]
    if isinstance(value, tuple):
        return [_plain(part) for part in value]
    if isinstance(value, Fraction):
        return f"{value.numerator}/{value.denominator}"
    return value.value if isinstance(value, Enum) else value


def _is_place(name: str) -> bool:
    """Whether a field says where something stands, or is the digest itself; left out whether set or not."""
    return name == "digest" or name == "source" or name.endswith("_source")
