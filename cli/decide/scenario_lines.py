"""Scenarios, one a line: each is answered in its turn, and one that is none by its error."""

import gzip
import json
import os
import sys
import zlib
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any, BinaryIO

from ..shared.output import GOOD, INVALID, complain, refuse, say_text, use_streams
from ..shared.reading import file_name

MAX_LINE = 32 << 20
"""Bytes of a scenario."""

MOST_TOLD = 20
"""Lines that are complained of on stderr; the answers tell of all."""


def answer_lines(path: str, decide: Callable[[Any], dict[str, Any]], name_field: str) -> int:
    """Print the answer to each scenario of a file, in order; gives the exit code. `name_field` is where a scenario has its name."""
    use_streams(utf8=True)
    wrong = 0
    with ExitStack() as stack:
        for number, text in enumerate(_lines(path, stack), start=1):
            if not text.strip():
                continue
            scenario: Any = None
            try:
                scenario = _parsed(text)
                answer = decide(scenario)
            except Exception as error:  # whatever it is, no line may lose the answers to those after it
                problem = _problem(error)
                wrong += 1
                if wrong <= MOST_TOLD:
                    complain(f"gpol: {file_name(path)}:{number}: {problem.splitlines()[0]}")
                answer = {"name": _name(scenario, name_field), "error": problem}
            say_text(json.dumps(answer, ensure_ascii=False, separators=(",", ":")))
    if wrong > MOST_TOLD:
        complain(f"gpol: and {wrong - MOST_TOLD} more lines are no scenarios")
    return INVALID if wrong else GOOD


def _parsed(text: bytes) -> Any:
    """A line as data. Raises ValueError with what is wrong with it."""
    from ...adapters.kueue.read.documents.json_documents import read_line

    if len(text) > MAX_LINE:
        raise ValueError(f"the line is longer than {MAX_LINE:,} bytes; split the scenario")
    return read_line(text)


def _problem(error: Exception) -> str:
    """What is wrong with a line; a defect of gpol is told in a line too, and shown with its trace where that is wanted."""
    from ...adapters.kueue.problems import ImportRefused
    from ...adapters.kueue.read.documents.limits import UnreadableError

    if isinstance(error, ImportRefused | UnreadableError) or type(error) is ValueError:
        return str(error)
    if os.environ.get("GPOL_TRACEBACK"):
        raise error
    told = f"{type(error).__name__}: {error}".rstrip(": ")
    return f"internal error: {told}; set GPOL_TRACEBACK=1 to see where, and report it"


def _name(line: Any, field: str) -> str | None:
    """What the scenario of a line that was refused is called, where that can be told."""
    scenario = line["in"] if isinstance(line, dict) and "in" in line else line
    name = scenario.get(field) if isinstance(scenario, dict) else None
    return name if isinstance(name, str) else None


def _lines(path: str, stack: ExitStack) -> Iterator[bytes]:
    """The lines of a file; of one that is too long its beginning alone."""
    try:
        file: BinaryIO | gzip.GzipFile
        if path == "-":
            file = sys.stdin.buffer
        elif path.endswith(".gz"):
            file = stack.enter_context(gzip.open(path, "rb"))  # noqa: SIM115  # closed with the stack
        else:
            file = stack.enter_context(open(path, "rb"))  # noqa: SIM115
        while line := file.readline(MAX_LINE + 1):
            rest = line
            while len(rest) > MAX_LINE and not rest.endswith(b"\n"):
                rest = file.readline(MAX_LINE + 1)
            yield line
    except (OSError, EOFError, zlib.error) as error:
        refuse(f"`{path}` cannot be read: {getattr(error, 'strerror', None) or error}; check the name, your rights and the file")
