"""The token in a file: whoever sends it may use everything that is served."""

import logging
import re
from hashlib import sha256
from hmac import compare_digest
from pathlib import Path

from .secret_files import FileSignature, SecretFileError, read_file, signature

LOG = logging.getLogger("gpol.http")

SHORTEST = 16
"""Characters of a token at least."""

LONGEST = 8000
"""Characters of a token at most."""

TOKEN = re.compile(r"[A-Za-z0-9._~+/-]+=*")
"""What a token is made of (RFC 6750, section 2.1)."""


class StaticToken:
    """The token in a file, which is read again when it changes. While the file cannot be used, no token is right."""

    def __init__(self, path: Path) -> None:
        """Read the file for the first time. Raises SecretFileError."""
        self._path = path
        self._signature: FileSignature | None = signature(path)
        self._digest: bytes | None = _digest(_read(path))

    def is_right(self, token: str) -> bool:
        """Whether this is the token. Nobody learns from how long it takes how much of it was right."""
        self._read_again()
        given = _digest(token)
        return self._digest is not None and compare_digest(given, self._digest)

    def _read_again(self) -> None:
        now = signature(self._path)
        if now == self._signature:
            return
        self._signature = now
        try:
            self._digest = _digest(_read(self._path))
            LOG.info("the token in `%s` has changed", self._path)
        except SecretFileError as error:
            self._digest = None
            LOG.error("no token is right until this is mended: %s", error)


def _digest(token: str) -> bytes:
    return sha256(token.encode("utf-8", "surrogatepass")).digest()


def _read(path: Path) -> str:
    text = read_file(path, "the token file").decode("ascii", "replace").strip()
    if not TOKEN.fullmatch(text) or not SHORTEST <= len(text) <= LONGEST:
        made_of = f"{SHORTEST} to {LONGEST} letters, digits and `._~+/-`, without spaces"
        raise SecretFileError(f"the token file `{path}` holds no token: write one of {made_of}, such as `openssl rand -hex 32` prints")
    return text
