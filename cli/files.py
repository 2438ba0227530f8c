"""Writing files whole or not at all."""

import os
import stat
from contextlib import suppress
from pathlib import Path

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
        refuse(f"`{path}` cannot be written: {error.strerror}; check the rights and the room in its folder", FAILED)


def _replace(target: Path, text: str, before: os.stat_result | None) -> None:
    from tempfile import mkstemp  # slow to load, and check never needs it

    handle, temporary = mkstemp(dir=target.parent, prefix=f".{target.name[:100]}.")
    try:
        with os.fdopen(handle, "w", encoding="utf-8", newline="\n") as file:
            file.write(text)
        os.chmod(temporary, _rights(before))
        if before is not None and os.name == "posix":
            with suppress(PermissionError):  # only root may give files away
                os.chown(temporary, before.st_uid, before.st_gid)
        os.replace(temporary, target)
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
