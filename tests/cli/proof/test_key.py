"""key: keys are made, kept from others, and shown."""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from gpol.journal.proof.signing_keys import PublicKey, SigningKey

Gpol = Callable[..., Any]


def test_a_new_key(gpol: Gpol, key: str) -> None:
    """The public key is printed, and again by `key show`; the file is its owner's alone, and nothing of it is printed."""
    public = Path("lab.pub").read_text()
    secret = Path(key).read_text().strip().split("+", 4)[4]  # base64 may have a plus sign, too
    shown, as_json = gpol("key", "show", key), gpol("key", "show", key, "--format", "json")

    assert public.startswith("acme.example/lab+")
    assert shown.out == public
    assert as_json.records == [{"v": 1, "kind": "key", "name": "acme.example/lab", "public": public.strip(), "path": key}]
    assert Path(key).stat().st_mode & 0o777 == 0o600
    assert secret not in shown.out + shown.err + as_json.out


def test_a_key_of_any_name_is_printed_to_be_used(tmp_path: Path) -> None:
    """Where the locale knows ASCII alone, the public key is printed as the same line, which its id stands for."""
    key = SigningKey.new("größe/☃")
    key.write_new(tmp_path / "a.key")
    command = [sys.executable, "-c", "from gpol.cli.main import main; main()", "key", "show", str(tmp_path / "a.key")]
    done = subprocess.run(command, env={**os.environ, "PYTHONIOENCODING": "ascii"}, capture_output=True, check=True)

    assert PublicKey.parse(done.stdout.decode()) == key.public


def test_a_key_that_others_can_read_is_refused_by_name(gpol: Gpol, journal: str, key: str) -> None:
    """A signing key with rights for others signs nothing."""
    Path(key).chmod(0o644)
    done = gpol("checkpoint", journal, "--key", key)

    assert (done.code, done.out) == (3, "")
    assert "`lab.key` can be read by others" in done.err
