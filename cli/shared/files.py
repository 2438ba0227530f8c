"""Files that a command writes: each whole or not at all, none over what it may not replace, and several only once all are ready."""

import os
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, Self

from ...journal.errors import unwritten
from ...journal.store.durable_files import Draft, durable_file
from ..outputs.file_kinds import IMPORTED, FileKind, irreplaceable, was_journal
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


@dataclass(frozen=True, slots=True)
class Target:
    """A file that an option names to be written, as a kind of output. With `force` it may be there already, and of any other kind; None:
    the command has no such option.

    A journal, a key, a checkpoint or a policy is never written over, but for a policy that an import made and nobody changed.
    """

    option: str
    path: str
    kind: FileKind
    force: bool | None = None

    def check(self, *, printed: bool = False) -> Self:
        """End the command where the file may not be written, or no file can have the name; where the option is left out, is it printed?"""
        if self.path == "-":
            refuse(f"{self.option}: `-` is no name for a file; {'leave the option out to print it' if printed else 'name one'}")
        if Path(self.path).is_dir() or self.path.endswith(os.sep):
            refuse(f"{self.option}: `{self.path}` is a folder; name a file in it")
        from ...journal.store.beside import journal_beside

        if (journal := journal_beside(real_path(self.path))) is not None:
            refuse(f"{self.option}: `{self.path}` is the name of a file that belongs to `{journal.name}`; choose another name")
        if not os.path.lexists(self.path) and was_journal(real_path(self.path)):
            told = f"beside `{self.path}` lies what belongs to a journal of that name"
            refuse(f"{self.option}: {told}; find out where the journal is, or choose another name")
        try:
            if Path(self.path).is_file() and not is_stdout(self.path):
                self._check_replaceable(real_path(self.path))
        except OSError as error:
            refuse(f"{self.option}: `{self.path}` is there already, and cannot be read: {error.strerror}; choose another name")
        return self

    def _check_replaceable(self, path: Path) -> None:
        lasting = irreplaceable(path)
        own = self.kind.is_own is not None and (lasting is None or self.kind is IMPORTED) and self.kind.is_own(path)
        there = f"{self.option}: `{self.path}` is there already"
        if lasting is not None and not own:
            refuse(f"{there}, and is {lasting}, which no output replaces; choose another name")
        if not own and not self.force and path.stat().st_size:
            known = f", and is not {self.kind.name} as gpol writes it" if self.kind.is_own is not None else ""
            other = "remove the file if nobody needs it" if self.force is None else "give --force to write over it"
            refuse(f"{there}{known}; choose another name, or {other}")


@contextmanager
def new_files() -> Iterator[Callable[[Target], AbstractContextManager[BinaryIO]]]:
    """Files that are put in place together: `with add(target) as file` writes one beside its place; once the body has ended well, and
    nobody has changed what is at any of the places, all are put there.

    New ones have the rights of their kind. What is no plain file, such as a pipe, is written to as it is, in its turn. Where one cannot be
    put in place after all, new files are taken away again, and files that were replaced stay so. Who kills the command in that moment may
    find some of them and not all.
    """
    drafts: dict[str, Draft] = {}

    @contextmanager
    def add(target: Target) -> Iterator[BinaryIO]:
        path = target.check().path  # once more: much may have happened since the command began
        with explained(path):
            if not _is_plain(path):
                with open(open_stdout() if is_stdout(path) else path, "wb") as file:
                    yield file
                return
            draft = drafts[path] = Draft(Path(path), target.kind.rights)
            yield draft.file
            draft.finish()

    try:
        yield add
        for path, draft in drafts.items():
            with explained(path):
                draft.check_place()
        for path, draft in drafts.items():
            with explained(path):
                draft.put_in_place()
    except BaseException:
        for draft in drafts.values():
            draft.discard()
        raise


def write_files(texts: Iterable[tuple[Target, str]]) -> None:
    """Write text files, once all can be put in place."""
    with new_files() as add:
        for target, text in texts:
            with add(target) as file:
                file.write(text.encode())


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


def is_stdout(path: str) -> bool:
    """Whether a path such as /dev/stdout leads to where the command prints, be it a plain file."""
    try:
        return os.path.samestat(os.stat(path), os.fstat(1))
    except OSError:
        return False


def open_stdout() -> int:
    """What is printed next goes behind what is written to this: standard output, opened once more."""
    sys.stdout.flush()
    return os.dup(1)


def _is_plain(path: str) -> bool:
    """Whether a plain file is there, or may be made."""
    return (os.path.isfile(path) and not is_stdout(path)) or not os.path.exists(path)
