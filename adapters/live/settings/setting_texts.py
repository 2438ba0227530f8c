"""Texts in settings that have to be of a form: each says in words what to write."""

import re
from pathlib import Path
from typing import Annotated
from unicodedata import category

from pydantic import AfterValidator, BeforeValidator


def of_form(pattern: str, told: str) -> AfterValidator:
    """A text that matches a pattern as a whole; of any other is told what is wrong and what to write."""
    form = re.compile(pattern)

    def checked(text: str) -> str:
        if form.fullmatch(text) is None:
            raise ValueError(told)
        return text

    return AfterValidator(checked)


def _naming(place: object) -> object:
    text = str(place) if isinstance(place, str | Path) else "-"  # what is no text is refused as such
    if not text.strip():
        raise ValueError("is blank; name the place, or leave it out")
    if any(category(char) == "Cc" for char in text):
        raise ValueError("has a control character; write the name without")
    return place


SettingPath = Annotated[Path, BeforeValidator(_naming)]
"""The path of a file."""

SettingPlace = Annotated[str, BeforeValidator(_naming)]
"""A path or a URL."""
