"""Files with secrets: read only where no stranger may read them, and again when they change."""

import os
from pathlib import Path
from stat import S_IRWXO

MOST_BYTES = 1024 * 1024
"""No key, certificate or token is longer."""


class SecretFileError(Exception):
    """A file that cannot be used. The message says why, and what to do."""


FileSignature = tuple[int, int, int, int]
"""What tells that a file is another one, or says something else."""


def signature(path: Path) -> FileSignature | None:
    """What changes when a file does; None where there is none. A link is followed: Kubernetes exchanges where it leads."""
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_dev, found.st_ino, found.st_mtime_ns, found.st_size


def read_file(path: Path, what: str, secret: bool = True) -> bytes:
    """The content of a file; `what` is what messages call it. Raises SecretFileError, also where others may read a secret.

    Others are those who are neither its owner nor of its group.
    """
    try:
        with path.open("rb") as file:
            mode = os.fstat(file.fileno()).st_mode
            if secret and mode & S_IRWXO:
                remedy = "`chmod o= FILE`, or in Kubernetes `defaultMode: 0440` with an `fsGroup`"
                raise SecretFileError(f"{what} `{path}` may be read or changed by everybody: {remedy}")
            data = file.read(MOST_BYTES + 1)
    except OSError as error:
        raise SecretFileError(f"{what} `{path}` cannot be read: {error.strerror or error}") from None
    if len(data) > MOST_BYTES:
        raise SecretFileError(f"{what} `{path}` has more than {MOST_BYTES:,} bytes; name the right file")
    return data
