"""Reads the settings of `gpol serve`: one file in YAML, and variables of the environment, which come before it.

A variable is called like its setting, in capitals: `GPOL_JOURNAL`, with two underscores between a part and its setting: `GPOL_KUEUE__WAY`.
"""

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ValidationError

from ...kueue.read.documents.yaml_documents import yaml_documents
from .serve_settings import ServeSettings
from .settings_problems import MOST_PROBLEMS, ServeSettingsError, WrongSetting, settings_error, unknown

_PREFIX = "GPOL_"
_OTHERS = ("GPOL_TRACEBACK", "GPOL_SIGNING_KEY")
"""Variables of gpol that are no settings."""

_OF_A_SERVICE = re.compile(
    r"GPOL(_.*)?_(SERVICE_HOST|SERVICE_PORT(_.*)?|PORT_\d+_(TCP|UDP|SCTP)(_(PROTO|PORT|ADDR))?)=.*"
    r"|GPOL(_.*)?_PORT=(tcp|udp|sctp)://.*",
    re.DOTALL,
)
"""What Kubernetes sets in pods for a Service that is called `gpol`, or `gpol-` and more."""


def read_settings(path: Path | None, environment: Mapping[str, str]) -> ServeSettings:
    """The settings in a file and in the environment. Raises ServeSettingsError; OSError or ValueError where the file cannot be read."""
    said = {} if path is None else _said_in(path)
    given = _given(environment)
    for setting in given:
        _put(said, setting, given[setting])

    def where(setting: str) -> str:
        """The variable that sets it, or else all that may have part in it."""
        if setting in given:
            return _variable(setting)
        if path is None:
            return "the environment"
        below = f"{setting}." if setting else ""
        return f"`{path}` and the environment" if any(name.startswith(below) for name in given) else f"`{path}`"

    try:
        return ServeSettings.model_validate(said)
    except ValidationError as error:
        raise settings_error(error, where, dict(_settings(ServeSettings))) from None


def _said_in(path: Path) -> dict[str, Any]:
    """What a file says; an empty one says nothing."""
    try:
        said = yaml_documents(path.read_text(encoding="utf-8-sig")) or [None]
    except UnicodeDecodeError as error:
        raise ValueError(f"byte {error.start + 1} is not UTF-8; save the file as UTF-8") from None
    if len(said) > 1:
        raise ValueError(f"it has {len(said)} YAML documents; put all settings into one")
    if not isinstance(said[0], dict | None):
        raise ValueError("it holds no settings by name; write `name: value` lines")
    return said[0] or {}


def _given(environment: Mapping[str, str]) -> dict[str, str]:
    """What variables say, by setting. Raises ServeSettingsError where one says nothing that counts."""
    known = dict(_settings(ServeSettings))
    by_variable = {_variable(name): name for name in known}
    given: dict[str, str] = {}
    wrong: list[tuple[str, str]] = []
    for variable in sorted(name for name in environment if name.startswith(_PREFIX) and name not in _OTHERS):
        text, setting = environment[variable], by_variable.get(variable, "")
        if setting and not known[setting]:
            given[setting] = text
        elif setting or not _OF_A_SERVICE.fullmatch(f"{variable}={text}"):
            wrong.append((variable, setting))
    if wrong:
        problems = [WrongSetting(variable, "", _without_effect(variable, setting, known)) for variable, setting in wrong[:MOST_PROBLEMS]]
        raise ServeSettingsError(problems, len(wrong) - len(problems))
    return given


def _without_effect(variable: str, part: str, known: Mapping[str, bool]) -> str:
    if part:
        first = next(name for name in known if name.startswith(f"{part}.") and not known[name])
        return f"is a whole part; set its settings one by one, such as {_variable(first)}"
    meant = variable.removeprefix(_PREFIX).replace("__", ".").lower()
    return unknown(meant, (name for name in known if not known[name]), _variable)


def _settings(model: type[BaseModel], prefix: str = "") -> Iterator[tuple[str, bool]]:
    """All settings and parts by name, and whether each is a part."""
    for name, field in model.model_fields.items():
        part = type(field.default) if isinstance(field.default, BaseModel) else None
        yield f"{prefix}{name}", part is not None
        if part is not None:
            yield from _settings(part, f"{prefix}{name}.")


def _variable(setting: str) -> str:
    return _PREFIX + setting.replace(".", "__").upper()


def _put(said: dict[str, Any], setting: str, text: str) -> None:
    """Let a variable count instead of what the file says. What the file has in place of a part stays, and is refused."""
    *parts, name = setting.split(".")
    for part in parts:
        inner = said.setdefault(part, {})
        if not isinstance(inner, dict):
            return
        said = inner
    said[name] = text
