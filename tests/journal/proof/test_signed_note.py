"""Signed notes: those of C2SP and of Go are read, wrong signatures are refused, those of unknown keys ignored."""

import subprocess
from base64 import b64decode
from pathlib import Path
from shutil import which

import pytest
from gpol.journal.errors import EvidenceError, ForgedError
from gpol.journal.proof.signed_note import MOST_BYTES, MOST_SIGNATURES, open_note, parse_note, sign_note
from gpol.journal.proof.signing_keys import PublicKey, SigningKey

KEY = SigningKey.parse("PRIVATE+KEY+PeterNeumann+c74f20a3+AYEKFALVFGyNhPJEMzD1QIDr+Y7hfZx09iUvxdXHKDFz", "Go's example")
OTHER = SigningKey.new("other.example/log")

TEXT = "If you think cryptography is the answer to your problem,\nthen you don't know what your problem is.\n"
NOTE = f"{TEXT}\n— PeterNeumann x08go/ZJkuBS9UG/SffcvIAQxVBtiFupLLr8pAcElZInNIuGUgYN1FFYC2pZSNXgKvqfqdngotpRZb6KE6RyyBwJnAM=\n"
"""The example in the documentation of golang.org/x/mod/sumdb/note."""

POEM = """Ognuno sta solo sul cuor della terra
trafitto da un raggio di sole:

ed è subito sera.

— quasimodo.example/salvatore NnugSzTjtVAewIS+Z/iJhUPeFDkO/5QQ2i5ddnGITLlC+EhfLW9oJKONrMouFSQU0xMcXxj99ihAQwaqP3ZekRwNtIc=
"""
"""The example of C2SP's signed-note."""


def line_of(note: str) -> str:
    """The signature line of a note with one."""
    return note.rpartition("\n\n")[2]


def test_signing_gives_the_known_note() -> None:
    """Go's documented text, signed by its documented key, is its documented note to the letter; and it opens."""
    assert sign_note(TEXT, KEY) == NOTE
    assert open_note(NOTE, [KEY.public]) == (TEXT, {"PeterNeumann"})


def test_the_text_may_have_blank_lines() -> None:
    """The last blank line alone parts text and signatures, as in C2SP's example."""
    note = parse_note(POEM)

    assert note.text == POEM.rpartition("\n\n")[0] + "\n"
    assert [(each.name, each.key_id.hex(), len(each.value)) for each in note.signatures] == [
        ("quasimodo.example/salvatore", b64decode("NnugSw==").hex(), 64)
    ]


def test_unknown_keys_are_ignored() -> None:
    """Signatures by unknown keys, even of the same name or with the same id, change nothing; alone they do not suffice."""
    same_name = SigningKey.new("PeterNeumann")
    both = NOTE + line_of(sign_note(TEXT, OTHER)) + line_of(sign_note("something else\n", same_name))

    assert open_note(both, [KEY.public]) == (TEXT, {"PeterNeumann"})
    with pytest.raises(ForgedError, match=r"not signed by `third\+.*other.example/log\+"):
        open_note(both, [SigningKey.new("third").public])


def test_several_known_keys() -> None:
    """Of several known keys those that signed are named, and one is enough."""
    both = NOTE + line_of(sign_note(TEXT, OTHER))

    assert open_note(both, [KEY.public, OTHER.public])[1] == {"PeterNeumann", "other.example/log"}
    assert open_note(NOTE, [KEY.public, OTHER.public])[1] == {"PeterNeumann"}


def test_a_wrong_signature_of_a_known_key_refuses_all() -> None:
    """Where one known key's signature is wrong, the note is refused although another's is right."""
    wrong = NOTE + line_of(sign_note("something else\n", OTHER))
    with pytest.raises(ForgedError, match=r"signature by `other.example/log` is wrong"):
        open_note(wrong, [KEY.public, OTHER.public])


def test_no_flipped_bit_opens() -> None:
    """A bit flipped anywhere in a note: it does not open (every third bit)."""
    for place in range(0, len(NOTE.encode()) * 8, 3):
        data = bytearray(NOTE.encode())
        data[place // 8] ^= 1 << place % 8
        with pytest.raises((EvidenceError, ForgedError, UnicodeDecodeError)):
            open_note(data.decode(), [KEY.public])


@pytest.mark.parametrize(
    ("note", "words"),
    [
        ("", "no blank line"),
        (TEXT, "no blank line"),
        (f"{TEXT}\n", "no blank line"),
        (NOTE[:-1], "no blank line"),
        (f"{NOTE}\n", "no blank line|signature 1"),
        (NOTE.replace("— ", "- "), "no blank line"),
        (NOTE.replace("AM=", "AM"), "signature 1"),
        (NOTE.replace("AM=", "AN="), "signature 1"),
        (NOTE.replace("PeterNeumann", "Peter+Neumann"), "signature 1"),
        (NOTE.replace("PeterNeumann", "Peter\u00a0Neumann"), "signature 1"),
        (NOTE.replace("PeterNeumann ", ""), "signature 1"),
        (f"{TEXT}\n— PeterNeumann x08g\n", "signature 1"),
        (NOTE + "— a b\n", "signature 2"),
        (NOTE + "a b\n", "signature 2"),
        (NOTE.replace("think", "th\tink"), "control characters"),
        (NOTE.replace("\n", "\r\n"), "control characters"),
        ("x" * MOST_BYTES + NOTE, "longer than 1,000,000 bytes"),
        (NOTE + line_of(NOTE) * MOST_SIGNATURES, "101 signatures"),
    ],
)
def test_what_is_no_note_is_refused(note: str, words: str) -> None:
    """Text without a blank line, with lines that are no signatures, with control characters, or too long: refused."""
    with pytest.raises(EvidenceError, match=words):
        open_note(note, [KEY.public])


def test_sixteen_signatures_are_fine() -> None:
    """A note signed by many is read: at least by sixteen, as the form demands."""
    many = NOTE + "".join(line_of(sign_note(TEXT, SigningKey.new(f"witness-{number}"))) for number in range(15))

    assert open_note(many, [KEY.public]) == (TEXT, {"PeterNeumann"})


def test_a_public_key_that_is_no_point_has_signed_nothing() -> None:
    """Bytes that are no Ed25519 key verify nothing, without a failure."""
    assert not PublicKey("x", b"\xff" * 32).has_signed(b"text", bytes(64))


@pytest.mark.skipif(which("openssl") is None, reason="needs the program openssl")
def test_openssl_agrees(tmp_path: Path) -> None:
    """A signature of ours is right for openssl, and not over an altered text."""
    key = SigningKey.new("acme.example/cluster")
    signature = parse_note(sign_note(TEXT, key)).signatures[0].value
    der = bytes.fromhex("302a300506032b6570032100") + key.public.raw  # SubjectPublicKeyInfo of Ed25519, RFC 8410
    (tmp_path / "key.der").write_bytes(der)
    (tmp_path / "signature").write_bytes(signature)
    codes = []
    for text in (TEXT, TEXT.replace("problem", "problems")):
        (tmp_path / "text").write_text(text)
        command = "openssl pkeyutl -verify -rawin -pubin -keyform DER -inkey key.der -in text -sigfile signature"
        codes.append(subprocess.run(command.split(), cwd=tmp_path, capture_output=True, check=False).returncode)

    assert codes == [0, 1]
