"""Keys: their text forms are those of Go's `sumdb/note`, and a signing key is kept from others."""

import errno
import os
from pathlib import Path

import pytest
from gpol.journal.errors import EvidenceError, JournalError
from gpol.journal.proof.signing_keys import PublicKey, SigningKey, read_public_key

SECRET = "PRIVATE+KEY+PeterNeumann+c74f20a3+AYEKFALVFGyNhPJEMzD1QIDr+Y7hfZx09iUvxdXHKDFz"
PUBLIC = "PeterNeumann+c74f20a3+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW"
"""The pair of the examples in the documentation of golang.org/x/mod/sumdb/note."""


def test_the_forms_are_those_of_sumdb_note() -> None:
    """Go's documented signing key gives Go's documented public key, id and all, and both are written as they were read."""
    key = SigningKey.parse(SECRET, "the example")

    assert key.public.line == PUBLIC
    assert PublicKey.parse(f"{PUBLIC}\n") == key.public
    assert key.public.id.hex() == "c74f20a3"


def test_a_new_key_is_kept_and_read(tmp_path: Path) -> None:
    """A new key's file is its owner's alone from the first moment on, and gives the same key back; no other is written over."""
    key, path = SigningKey.new("acme.example/cluster-7"), tmp_path / "cluster.key"
    before = os.umask(0)
    try:
        key.write_new(path)
    finally:
        os.umask(before)

    assert path.stat().st_mode & 0o777 == 0o600
    assert SigningKey.read(path) == key
    assert path.read_text().startswith("PRIVATE+KEY+acme.example/cluster-7+")
    with pytest.raises(EvidenceError, match=r"is already there"):
        SigningKey.new("other").write_new(path)
    assert SigningKey.read(path) == key


def test_two_new_keys_differ() -> None:
    """Keys of one name are different keys, told apart by their ids."""
    one, other = SigningKey.new("a").public, SigningKey.new("a").public

    assert one.raw != other.raw
    assert one.id != other.id


@pytest.mark.parametrize("rights", [0o640, 0o604, 0o620, 0o660, 0o777])
def test_a_key_that_others_can_read_is_refused(tmp_path: Path, rights: int) -> None:
    """A signing key's file with any right for others is refused, with its name, its rights and the remedy."""
    path = tmp_path / "cluster.key"
    SigningKey.new("a").write_new(path)
    path.chmod(rights)
    with pytest.raises(EvidenceError, match=rf"cluster.key` can be read by others .* {rights:04o}.*chmod 600"):
        SigningKey.read(path)


def test_no_text_shows_the_secret() -> None:
    """Neither the key as Python shows it nor an error about its text has any of the secret."""
    key = SigningKey.parse(SECRET, "x")
    altered = SECRET.replace("c74f20a3", "c74f20a4")
    with pytest.raises(EvidenceError) as caught:
        SigningKey.parse(altered, "the environment")
    for text in (repr(key), str(key), str(caught.value)):
        assert "AYEK" not in text
        assert "810a14" not in text
    with pytest.raises(EvidenceError) as caught:
        PublicKey.parse(SECRET)
    assert "AYEK" not in str(caught.value)
    assert "is secret" in str(caught.value)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (PUBLIC.replace("c74f20a3", "c74f20a4"), "was altered"),
        (PUBLIC.replace("PeterNeumann", "PeterNewman"), "was altered"),
        (PUBLIC.replace("ARpc", "ARpd"), "was altered"),
        (PUBLIC.replace("ARpc", "Arpc"), "not of the type Ed25519"),
        (PUBLIC[:-4], "not of the form"),
        (PUBLIC.replace("c74f20a3", "c74f20"), "not of the form"),
        (PUBLIC.replace("Peter", "Peter "), "not of the form"),
        (PUBLIC.replace("Peter", ""), "altered"),
        ("", "not of the form"),
        ("++", "not of the form"),
        ("a+b+ä", "not of the form"),
    ],
)
def test_what_is_no_public_key_is_refused(text: str, words: str) -> None:
    """Another name, id, type or length, or no key at all: refused with what is wrong."""
    with pytest.raises(EvidenceError, match=words):
        PublicKey.parse(text)


@pytest.mark.parametrize("name", ["", "a b", "a+b", "a\nb", "a\u2003b", "x" * 201, "\x1b[1m"])
def test_what_is_no_name_is_refused(name: str) -> None:
    """A key's name has no spaces, no plus signs and nothing that cannot be shown."""
    with pytest.raises(EvidenceError, match=r"no name for a key"):
        SigningKey.new(name)


def test_a_public_key_is_a_line_or_a_file(tmp_path: Path) -> None:
    """A public key is read from its line or from a file with the line; what is neither is refused by name."""
    path = tmp_path / "cluster.pub"
    path.write_text(f"{PUBLIC}\n")

    assert read_public_key(PUBLIC) == read_public_key(str(path)) == PublicKey.parse(PUBLIC)
    with pytest.raises(EvidenceError, match=r"`none.pub` is no public key and cannot be read as a file"):
        read_public_key("none.pub")
    path.write_bytes(b"\xff" * 10_000)
    with pytest.raises(EvidenceError, match=r"not of the form"):
        read_public_key(str(path))


@pytest.mark.parametrize("content", [b"", b"\xff\xfe", b"hello", b"x" * 100_000, PUBLIC.encode()])
def test_a_file_that_holds_no_signing_key_is_refused(tmp_path: Path, content: bytes) -> None:
    """A file with anything else is refused by name."""
    path = tmp_path / "cluster.key"
    path.write_bytes(content)
    path.chmod(0o600)
    with pytest.raises(EvidenceError, match=r"cluster.key` holds no signing key"):
        SigningKey.read(path)


def test_a_key_that_cannot_be_written_leaves_nothing(tmp_path: Path) -> None:
    """A folder that is not there is told, with the file's name."""
    with pytest.raises(JournalError, match=r"k.key` cannot be written"):
        SigningKey.new("a").write_new(tmp_path / "none" / "k.key")
    with pytest.raises(EvidenceError, match=r"none` cannot be read"):
        SigningKey.read(tmp_path / "none")


def test_a_full_disk_is_told_and_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the disk does not take a new key, that is told with the file's name, and no part of a key stays behind."""

    def full(_handle: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(JournalError, match=r"k.key` cannot be written: No space left on device"):
        SigningKey.new("a").write_new(tmp_path / "k.key")
    assert list(tmp_path.iterdir()) == []
