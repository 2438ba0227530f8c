"""Lines and rows of input files, read one by one within limits. Errors are raised as InputError with the line."""

import csv
import gzip
import hashlib
import json
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import BinaryIO, Protocol, TypeVar, cast

from pydantic import ValidationError

from ..engine.event_parts import POD_COUNT
from ..engine.units import MILLI_RESOURCES
from ..sim.drive.job import InputError

_T = TypeVar("_T")

MOST_BYTES = 1_000_000
"""The longest line that is read; no more than this is ever held of a line that has no end."""


class LineStream(Protocol):
    """What lines are read from."""

    def readline(self, size: int, /) -> bytes:
        """The next line, up to so many bytes of it; empty at the end."""


class DigestedStream:
    """A file whose bytes are hashed as they are read, so that one which can be read once only has a digest, too."""

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream
        self._hash = hashlib.sha256()

    def readline(self, size: int, /) -> bytes:
        """The next line, up to so many bytes of it; empty at the end."""
        line = self._stream.readline(size)
        self._hash.update(line)
        return line

    def read(self, size: int = -1, /) -> bytes:
        """So many bytes, or all that are left."""
        some = self._stream.read(size)
        self._hash.update(some)
        return some

    @property
    def digest(self) -> str:
        """`sha256:` and 64 hexadecimal digits, over all that was read so far."""
        return f"sha256:{self._hash.hexdigest()}"


@dataclass(frozen=True, slots=True)
class Input:
    """An open file and the name to cite it by."""

    name: str
    stream: LineStream

    @classmethod
    def of(cls, path: Path, stream: BinaryIO | DigestedStream) -> "Input":
        """The lines of a file that was opened; one whose name ends in `.gz` is unpacked."""
        return cls(path.name, gzip.GzipFile(fileobj=cast(BinaryIO, stream)) if path.suffix == ".gz" else stream)


@dataclass(frozen=True, slots=True)
class Row:
    """A row of a CSV file: its cells by column, and where it stands."""

    file: str
    line: int
    cells: dict[str, str]

    def wrong(self, column: str, problem: str, remedy: str) -> InputError:
        """The error that a cell is wrong, to be raised."""
        return InputError(self.file, self.line, f"column `{column}`: {problem}", remedy)


def cell_told(error: ValidationError) -> tuple[tuple[str | int, ...], str, str]:
    """The field that a fact refuses of a row, what is wrong with the cell, and what to do; in words for whoever wrote the cell."""
    first = error.errors(include_url=False, include_input=False)[0]
    context = first.get("ctx", {})
    match first["type"]:
        case "string_too_short":
            return first["loc"], "the cell is empty, and has to name something", "write a name"
        case "string_too_long":
            return first["loc"], f"there are more than {context.get('max_length')} characters", "shorten it"
        case "too_long":
            cause = f"there are {context.get('actual_length')} entries, and at most {context.get('max_length')} are allowed"
            return first["loc"], cause, "leave some out"
        case _:
            return first["loc"], first["msg"].removeprefix("Value error, "), "correct the cell"


def written_as(resource: str) -> str:
    """How an amount of a resource is written, with an example."""
    if resource in MILLI_RESOURCES:
        return "such as 8 or 500m"
    return "such as 80Gi" if resource == "memory" else f"as a whole number such as {110 if resource == POD_COUNT else 8}"


_MOST_SHOWN = 60
"""How many characters of a wrong name are shown."""

_HALF = "\\ud"
"""How one of the two escapes begins that make a character together."""


def plain_json(line: bytes | str) -> object:
    """What a line of JSON says. Raises ValueError: it is no UTF-8 or no JSON, nests too deep, has too long a number or one key twice."""
    try:
        text = line.decode() if isinstance(line, bytes) else line
        made = json.loads(text, object_pairs_hook=_once)
        if _HALF in text.lower():
            json.dumps(made, ensure_ascii=False).encode()
        return made
    except UnicodeDecodeError as error:
        raise ValueError(_not_utf8(error)) from None
    except UnicodeEncodeError:
        raise ValueError("the line has half of a character, such as \\ud800 alone") from None
    except json.JSONDecodeError as error:
        raise ValueError(f"the line is not JSON: {error.msg} at character {error.pos + 1}") from None
    except _TwiceError:
        raise
    except (RecursionError, ValueError):  # of limits that Python sets
        raise ValueError("the line nests too deep or has too long a number") from None


def _not_utf8(error: UnicodeDecodeError) -> str:
    return f"the line is not UTF-8: byte {error.start + 1} of the line is 0x{error.object[error.start]:02x}"


class _TwiceError(ValueError):
    """A key that an object of JSON has twice: which of the two is meant can't be told."""


def _once(pairs: list[tuple[str, object]]) -> dict[str, object]:
    made = dict(pairs)
    if len(made) != len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise _TwiceError(f"`{twice[:_MOST_SHOWN]}` is there twice; keep one")
    return made


def lines(file: Input) -> Iterator[str]:
    """The lines of a UTF-8 file, with their ends; a byte order mark is passed over."""
    number = 0
    while raw := file.stream.readline(MOST_BYTES + 1):
        number += 1
        if len(raw) > MOST_BYTES:
            raise InputError(file.name, number, f"the line is longer than {MOST_BYTES:,} bytes", "end each row with a line break")
        try:
            yield raw.decode("utf-8-sig" if number == 1 else "utf-8")
        except UnicodeDecodeError as error:
            raise InputError(file.name, number, _not_utf8(error), "save the file as UTF-8") from None


def unpacked(name: str, found: Iterator[_T]) -> Iterator[_T]:
    """What is read from a file that may be packed, as long as it can be unpacked. Raises InputError."""
    try:
        yield from found
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        raise InputError(
            name, 1, f"the file cannot be unpacked: {error}", "write or copy it again; a name that ends in .gz is packed"
        ) from None


def rows(file: Input, needed: Sequence[str], known: Sequence[str], prefixes: Sequence[str] = ()) -> Iterator[Row]:
    """The rows of a CSV file with a header.

    The header has every `needed` column; its others are `known`, or start with one of `prefixes`. Empty lines are passed over.
    """
    reader = csv.reader(lines(file), strict=True)
    try:
        header = next(reader, None)
        if header is None:
            raise InputError(file.name, 1, "the file is empty", f"start it with a header: {','.join(needed)}")
        _check_header(file.name, header, needed, known, prefixes)
        for cells in reader:
            if not cells:
                continue
            if len(cells) != len(header):
                problem = f"the row has {len(cells)} cells, the header {len(header)}"
                raise InputError(
                    file.name, reader.line_num, problem, "an empty cell still has its comma; a cell with a comma stands in quotes"
                )
            yield Row(file.name, reader.line_num, dict(zip(header, cells, strict=True)))
    except csv.Error as error:
        if "new-line character" in str(error):
            problem = "a carriage return stands inside the row"
            raise InputError(file.name, reader.line_num, problem, "end each row with a line feed, or with both") from None
        remedy = f"check its quotes; a cell has at most {csv.field_size_limit():,} characters"
        raise InputError(file.name, reader.line_num, f"the row is not CSV: {error}", remedy) from None


def _check_header(file: str, header: list[str], needed: Sequence[str], known: Sequence[str], prefixes: Sequence[str]) -> None:
    columns = [*needed, *known]
    for separator, word in ((";", "semicolons"), ("\t", "tabs")):
        if set(needed) <= set(separator.join(header).split(separator)) and not set(needed) <= set(header):
            raise InputError(file, 1, f"{word} stand between the cells", "save the file with commas between them")
    for column in header:
        if column not in columns and not (column.startswith(tuple(prefixes)) and column not in prefixes):
            near = get_close_matches(column, columns, n=1)
            every = ", ".join([*columns, *(f"{prefix}NAME" for prefix in prefixes)])
            raise InputError(file, 1, f"unknown column `{column}`", f"did you mean `{near[0]}`?" if near else f"columns are {every}")
        if header.count(column) > 1:
            raise InputError(file, 1, f"column `{column}` is there twice", "keep one")
    missing = [column for column in needed if column not in header]
    if missing:
        raise InputError(file, 1, f"column `{missing[0]}` is missing", f"a header has at least {','.join(needed)}")
