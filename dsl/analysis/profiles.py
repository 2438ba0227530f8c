"""Profiles: policies to build on, shipped with the program or recorded with a policy that used them."""

import re
from collections.abc import Callable, Mapping
from importlib.resources import files

ProfileSource = Callable[[str], str | None]
"""Gives a profile's text by its name, or None."""

DEFAULT_PROFILE = "gpol.fair"

_NAME = re.compile(r"[a-z][a-z0-9_-]*(\.[a-z][a-z0-9_-]*)*")


def shipped(name: str) -> str | None:
    """The text of a shipped profile; None if there is none. A name cannot lead out of the package `policies`."""
    if _NAME.fullmatch(name) is None:
        return None
    *folders, last = name.split(".")
    place = files("gpol.policies")
    for part in (*folders, f"{last}.gpol"):
        place = place.joinpath(part)
    return place.read_text(encoding="utf-8") if place.is_file() else None


def shipped_names() -> list[str]:
    """The names of all shipped profiles."""
    names = []
    for folder in files("gpol.policies").iterdir():
        if folder.is_dir():
            names += [f"{folder.name}.{file.name[:-5]}" for file in folder.iterdir() if file.name.endswith(".gpol")]
    return sorted(names)


def recorded(profiles: Mapping[str, str]) -> ProfileSource:
    """Profiles from a mapping alone, as a journal holds them."""
    return profiles.get


def file_of(name: str) -> str:
    """The file name under which a profile's lines are cited."""
    return name.replace(".", "/") + ".gpol"
