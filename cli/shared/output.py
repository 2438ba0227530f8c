"""What a command prints: the forms of output, results on stdout, messages on stderr, and the exit codes."""

import io
import json
import re
import sys
from contextlib import suppress
from enum import StrEnum
from typing import Any, NoReturn

GOOD, FAILED, NO, INVALID, NOT_VERIFIED = 0, 1, 2, 3, 4
"""Exit codes: done and good; the tool failed; the answer is no; invalid policy or input; the log does not verify or replay."""


STOPPED = 130
"""The exit code after Ctrl-C."""


class Format(StrEnum):
    """How a command prints."""

    human = "human"
    plain = "plain"
    json = "json"


class RefusalError(Exception):
    """Ends a command with a message and an exit code."""

    def __init__(self, message: str, code: int = INVALID) -> None:
        super().__init__(message)
        self.code = code


_UNSAFE = re.compile(
    "[\x00-\x1f\x7f-\xa0\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2000-\u200f\u2028-\u202f\u205f-\u206f\u2800\u3000\u3164"
    "\ud800-\udfff\ufe00-\ufe0f\ufeff\uffa0\ufff9-\ufffb\U000e0000-\U000e0fff]"
)
"""Characters that break a line, steer a terminal or turn text around, and those that nobody sees, or takes for a blank."""

_UNSAFE_IN_JSON = re.compile("[\x7f-\x9f\xad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\U000e0000-\U000e0fff]")
"""Those of them that JSON lets stand as they are, and that steer a terminal, turn text around, or have no width."""


def use_streams(utf8: bool) -> None:
    """Let nothing that is printed fail for the terminal's encoding: what it can't show is escaped, unless it has to be UTF-8."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(encoding="utf-8" if utf8 else None, errors="backslashreplace")


def shown(text: str) -> str:
    """Text on one line; names come from outside, so what is no printable character is escaped."""
    return _UNSAFE.sub(lambda found: _escaped(ord(found[0])), text)


def _escaped(code: int) -> str:
    return f"\\x{code:02x}" if code <= 0xFF else f"\\u{code:04x}" if code <= 0xFFFF else f"\\U{code:08x}"


def shown_json(text: str) -> str:
    """JSON that says the same, with escapes for what would steer a terminal or can't be seen: such characters stand in its texts alone."""
    return _UNSAFE_IN_JSON.sub(lambda found: json.dumps(found[0])[1:-1], text)


def counted(number: int, noun: str) -> str:
    """A number and what is counted, which takes an `s` for any number but one."""
    return f"{number:,} {noun}{'s' * (number != 1)}"


def say(line: str) -> None:
    """Print a line of the result."""
    print(shown(line))


def say_text(text: str) -> None:
    """Print text as it is: it may have several lines, and colors."""
    print(text)


def say_json(kind: str, **values: Any) -> None:
    """Print one JSON object, versioned, on a line."""
    print(shown_json(json.dumps({"v": 1, "kind": kind, **values}, ensure_ascii=False)))


def complain(line: str) -> None:
    """Print a line on stderr."""
    complain_text(shown(line))


def complain_text(text: str) -> None:
    """Print text on stderr as it is."""
    with suppress(OSError):  # where stderr can't be written either, the exit code has to say it all
        print(text, file=sys.stderr)


def refuse(message: str, code: int = INVALID) -> NoReturn:
    """End the command with a message."""
    raise RefusalError(message, code)
