"""Files that a command writes: each whole or not at all, and several all or none. What cannot be written ends the command."""

import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import BinaryIO

from ...journal.errors import unwritten
from ...journal.store.durable_files import Draft, durable_file
from .output import FAILED, refuse


def real_path(path: str | Path) -> Path:
    """Where a path leads, through all links. Links that lead in a circle lead nowhere else; Path.resolve fails for them in some Pythons."""
    return Path(os.path.realpath(path))


def replace_file(path: str, text: str) -> None:
    """Write a text file at once: a crash leaves the old one or the new one. Links stay links, owner and rights as they were.

    What is no plain file, such as a pipe, is written to as it is.
    """
    if os.path.exists(path) and not os.access(path, os.W_OK):
        refuse(f"`{path}` cannot be written: it is read-only; change its rights first", FAILED)
    with explained(path), durable_file(Path(path)) if _is_plain(path) else open(path, "wb") as file:
        file.write(text.encode())


@contextmanager
def new_files() -> Iterator[Callable[[str], AbstractContextManager[BinaryIO]]]:
    """New files, all or none: `with add(path) as file` writes one beside its place; once the body has ended well, all are put there.

    What is no plain file, such as a pipe, is written to as it is, in its turn. Only who kills the command while the files are put in place
    may find some of them and not all.
    """
    drafts: dict[str, Draft] = {}

    @contextmanager
    def add(path: str) -> Iterator[BinaryIO]:
        with explained(path):
            if not _is_plain(path):
                with open(path, "wb") as file:
                    yield file
                return
            draft = drafts[path] = Draft(Path(path))
            yield draft.file
            draft.finish()

    try:
        yield add
        for path, draft in drafts.items():
            with explained(path):
                draft.put_in_place()
    except BaseException:
        for draft in drafts.values():
            draft.discard()
        raise


def write_new(texts: Mapping[str, str]) -> None:
    """Write new text files by path, all or none."""
    with new_files() as add:
        for path, text in texts.items():
            with add(path) as file:
                file.write(text.encode())


def check_new(option: str, path: str, printed: bool = True) -> None:
    """Refuse to write over a file that is there, and names that no file can have; where the option is left out the result is `printed`."""
    if path == "-":
        refuse(f"{option}: `-` is no name for a file; {'leave the option out to print it' if printed else 'name one'}")
    if Path(path).is_dir():
        refuse(f"{option}: `{path}` is a folder; name a file in it")
    if Path(path).is_file():
        refuse(f"{option}: `{path}` is there already; choose another name, or remove the file if nobody needs it")


def keep_apart(option: str, path: str, others: Iterable[str | None]) -> None:
    """Refuse to write over a file that the same command reads or writes, and to write one that is called as standard input is.

    Where another is a journal, by its path or by a URL, that is its database and whatever SQLite or gpol keeps beside that.
    """
    if path == "-":
        refuse(f"{option}: `-` is no name for a file; name one")
    from ...journal.store.location import files_of  # slow to load, and check never needs it

    for other in others:
        if other is not None and any(_is_same(Path(path), file) for file in files_of(other)):
            refuse(f"{option}: `{path}` is a file which the same command needs; choose another name")


def _is_same(one: Path, other: Path) -> bool:
    return real_path(one) == real_path(other) or (one.exists() and other.exists() and one.samefile(other))


@contextmanager
def explained(path: str | None) -> Iterator[None]:
    """End the command where a file that it writes fails, with the file's name."""
    try:
        yield
    except OSError as error:
        refuse(str(unwritten(path, error)), FAILED)


def _is_plain(path: str) -> bool:
    """Whether a plain file is there, or may be made."""
    return os.path.isfile(path) or not os.path.exists(path)
