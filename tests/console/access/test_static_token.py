"""The token in a file."""

import os
from pathlib import Path

import pytest
from gpol.console.access.secret_files import SecretFileError
from gpol.console.access.static_token import StaticToken

TOKEN, OTHER = "0123456789abcdef-right", "0123456789abcdef-other"


def test_the_right_token(token_file: Path) -> None:
    """Only the whole token is right; spaces and line breaks around it in the file are not part of it."""
    known = StaticToken(token_file)
    assert known.is_right(TOKEN)
    assert not any(known.is_right(wrong) for wrong in ("", TOKEN[:-1], TOKEN + "x", TOKEN + "\n", TOKEN.upper(), "\udcff", "ä"))


def test_a_changed_file_counts_at_once(token_file: Path) -> None:
    """A new token is right and the old one wrong, also where the file is exchanged for another one."""
    known = StaticToken(token_file)
    new = token_file.with_name("new")
    new.write_text(OTHER)
    new.chmod(0o600)
    new.rename(token_file)
    assert (known.is_right(TOKEN), known.is_right(OTHER)) == (False, True)


@pytest.mark.parametrize("harm", ["removed", "emptied", "opened to all"])
def test_a_file_that_cannot_be_used_any_more(token_file: Path, harm: str, caplog: pytest.LogCaptureFixture) -> None:
    """While the file cannot be used no token is right, the old one neither, and the log says why; then it is right again."""
    known = StaticToken(token_file)
    if harm == "removed":
        token_file.unlink()
    elif harm == "emptied":
        token_file.write_text("")
    else:
        token_file.write_text(TOKEN + " ")
        token_file.chmod(0o644)
    assert not known.is_right(TOKEN)
    assert not known.is_right("")
    assert "no token is right until this is mended" in caplog.text
    assert TOKEN not in caplog.text
    token_file.unlink(missing_ok=True)
    token_file.write_text(TOKEN)
    token_file.chmod(0o600)
    assert known.is_right(TOKEN)


@pytest.mark.parametrize(
    ("content", "mode", "told"),
    [
        ("short", 0o600, "16 to 8000 letters"),
        ("", 0o600, "16 to 8000 letters"),
        ("two words of a token", 0o600, "without spaces"),
        ("a" * 9000, 0o600, "16 to 8000 letters"),
        (TOKEN, 0o644, "everybody"),
        (TOKEN, 0o604, "everybody"),
        (TOKEN, 0o602, "everybody"),
        (None, 0o600, "No such file"),
    ],
)
def test_files_that_are_refused(tmp_path: Path, content: str | None, mode: int, told: str) -> None:
    """A file without a token, or one that others may read or change, is refused with the reason; the token is not told."""
    path = tmp_path / "file"
    if content is not None:
        path.write_text(content)
        path.chmod(mode)
    with pytest.raises(SecretFileError, match=told) as refused:
        StaticToken(path)
    assert not content or content not in str(refused.value)


def test_the_group_may_read_it(token_file: Path) -> None:
    """What the owner and its group may read is a secret, as Kubernetes mounts it for a group."""
    os.chmod(token_file, 0o440)
    assert StaticToken(token_file).is_right(TOKEN)
