"""Values of fields as texts for people."""

import json
from typing import Any

NOTHING = "nothing"
"""How a difference says that there is no value."""


def as_text(value: Any) -> str:
    """A value for people."""
    if value is None:
        return NOTHING
    return value if isinstance(value, str) else as_json(value)


def as_json(value: Any) -> str:
    """A value as JSON in one form."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
