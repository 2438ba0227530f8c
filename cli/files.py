"""Writing files whole or not at all."""

import os
import stat
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO, NoReturn

from .output import FAILED, refuse


def real_path(path: str | Path) -> Path:
    """Where a path leads, through all links. Links that lead in a circle lead nowhere else; Path.resolve fails for them in some Pythons."""
    return Path(os.path.realpath(path))


def replace_file(path: str, text: str) -> None:
    """Write a text file at once: a crash leaves the old one or the new one. Links stay links, owner and rights as they were.

    What is no plain file, such as a pipe, is written to as it is. Ends the command where that fails.
    """
    target = real_path(path)
    try:
        before = target.stat() if target.exists() else None
        if before is not None and not os.access(target, os.W_OK):
            refuse(f"`{path}` cannot be written: it is read-only; change its rights first", FAILED)
        if before is not None and not stat.S_ISREG(before.st_mode):
            target.write_text(text, encoding="utf-8", newline="\n")
        else:
            _replace(target, text, before)
    except OSError as error:
        _refuse(path, error)


def write_new(texts: dict[str, str]) -> None:
    """Write new text files by path, all or none: each is written whole beside its place, and only then all are put there.

    What is no plain file, such as a pipe, is written to as it is, before the others are put in place. Ends the command where one fails,
    and takes the others away again. Only who kills it between two of the last steps may find some of the files and not all.
    """
    prepared: dict[str, Path] = {}
    placed: list[Path] = []
    path = ""
    try:
        try:
            for path, text in texts.items():
                target = real_path(path)
                if target.exists() and not target.is_file():
                    target.write_text(text, encoding="utf-8", newline="\n")
                else:
                    prepared[path] = _prepare(target, text, None)
            for path in list(prepared):
                target = real_path(path)
                os.replace(prepared[path], target)
                del prepared[path]
                placed.append(target)
        except BaseException:
            for file in (*prepared.values(), *placed):
                file.unlink()
            raise
    except OSError as error:
        _refuse(path, error)


@contextmanager
def new_file(path: str) -> Iterator[BinaryIO]:
    """A new file of any length: it is there, whole, once the body has ended well, and else it is not.

    What is no plain file, such as a pipe, is written to as it is. Ends the command where the file can't be written.
    """
    target = real_path(path)
    try:
        if target.exists() and not target.is_file():
            with target.open("wb") as file:
                yield file
            return
        with _beside(target, None) as (file, place):
            yield file
        try:
            os.replace(place, target)
        except BaseException:
            place.unlink()
            raise
    except OSError as error:
        _refuse(path, error)


def check_new(option: str, path: str, printed: bool = True) -> None:
    """Refuse to write over a file that is there, and names that are none; where the option is left out the result is `printed`."""
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
    from ..journal.places import files_of  # slow to load, and check never needs it

    for other in others:
        if other is not None and any(_is_same(Path(path), file) for file in files_of(other)):
            refuse(f"{option}: `{path}` is a file which the same command needs; choose another name")


def _is_same(one: Path, other: Path) -> bool:
    return real_path(one) == real_path(other) or (one.exists() and other.exists() and one.samefile(other))


def _refuse(path: str, error: OSError) -> NoReturn:
    refuse(f"`{path}` cannot be written: {error.strerror}; check the rights and the room in its folder", FAILED)


def _replace(target: Path, text: str, before: os.stat_result | None) -> None:
    prepared = _prepare(target, text, before)
    try:
        os.replace(prepared, target)
    except BaseException:
        prepared.unlink()
        raise


def _prepare(target: Path, text: str, before: os.stat_result | None) -> Path:
    """A file beside `target` with the text, and the owner and rights that are wanted there."""
    with _beside(target, before) as (file, place):
        file.write(text.encode())
    return place


@contextmanager
def _beside(target: Path, before: os.stat_result | None) -> Iterator[tuple[BinaryIO, Path]]:
    """A file to write beside `target`, which gets the owner and rights that are wanted there; it is gone where the body fails."""
    from tempfile import mkstemp  # slow to load, and check never needs it

    handle, temporary = mkstemp(dir=target.parent, prefix=f".{target.name[:100]}.")
    try:
        with os.fdopen(handle, "wb") as file:
            yield file, Path(temporary)
        os.chmod(temporary, _rights(before))
        if before is not None and os.name == "posix":
            with suppress(PermissionError):  # only root may give files away
                os.chown(temporary, before.st_uid, before.st_gid)
    except BaseException:
        os.unlink(temporary)
        raise


def _rights(before: os.stat_result | None) -> int:
    """The rights of the file that is replaced, or those that the user gives to new files."""
    if before is not None:
        return stat.S_IMODE(before.st_mode)
    umask = os.umask(0o077)
    os.umask(umask)
    return 0o666 & ~umask
