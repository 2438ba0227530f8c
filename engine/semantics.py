"""The version of what facts mean. The journal keeps it beside the events, so that a replay knows which version decided them."""

from typing import Final

SEMANTICS: Final = 3
"""Raised by one whenever the same facts can lead to other decisions, or to the same decisions with another reason."""
