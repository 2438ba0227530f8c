"""Writing files whole or not at all."""

import os
import stat
from contextlib import suppress
from pathlib import Path
from typing import NoReturn

from .output import FAILED, refuse


def replace_file(path: str, text: str) -> None:
    """Write a text file at once: a crash leaves the old one or the new one. Links stay links, owner and rights as they were.

    What is no plain file, such as a pipe, is written to as it is. Ends the command where that fails.
    """
    target = Path(path).resolve()
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
                target = Path(path).resolve()
                if target.exists() and not target.is_file():
                    target.write_text(text, encoding="utf-8", newline="\n")
                else:
                    prepared[path] = _prepare(target, text, None)
            for path in list(prepared):
                target = Path(path).resolve()
                os.replace(prepared[path], target)
                del prepared[path]
                placed.append(target)
        except BaseException:
            for file in (*prepared.values(), *placed):
                file.unlink()
            raise
    except OSError as error:
        _refuse(path, error)


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
    from tempfile import mkstemp  # slow to load, and check never needs it

    handle, temporary = mkstemp(dir=target.parent, prefix=f".{target.name[:100]}.")
    try:
        with os.fdopen(handle, "w", encoding="utf-8", newline="\n") as file:
            file.write(text)
        os.chmod(temporary, _rights(before))
        if before is not None and os.name == "posix":
            with suppress(PermissionError):  # only root may give files away
                os.chown(temporary, before.st_uid, before.st_gid)
    except BaseException:
        os.unlink(temporary)
        raise
    return Path(temporary)


def _rights(before: os.stat_result | None) -> int:
    """The rights of the file that is replaced, or those that the user gives to new files."""
    if before is not None:
        return stat.S_IMODE(before.st_mode)
    umask = os.umask(0o077)
    os.umask(umask)
    return 0o666 & ~umask
