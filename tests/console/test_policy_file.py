"""The file of a policy is followed: a changed one takes over, and one that was refused is tried again."""

import asyncio
import os
from pathlib import Path

import pytest
from gpol.console.health import Health
from gpol.console.policy_file import BadPolicyError, PolicyFile, read_policy
from gpol.sim.drive.policy import Policy

TEXT = 'policy "p" { use gpol.fair }\nflavor h100 { gpu 8 }\nqueue q { owns 8 gpu }\n'


def write(path: Path, text: str, moment: int) -> None:
    """Write a file, at a time of its own."""
    path.write_text(text)
    os.utime(path, (moment, moment))


def looked(followed: PolicyFile, refused: str = "") -> bool:
    """Whether a look finds another policy, which may be refused."""

    def may_take_over(policy: Policy) -> None:
        if refused:
            raise BadPolicyError(refused)

    return asyncio.run(followed.look(may_take_over))


def test_a_policy_that_is_refused_is_tried_again(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """Whether it was refused before it was taken, or when it was to take over: it takes over once nothing keeps it from that."""
    path, health = tmp_path / "p.gpol", Health()
    write(path, TEXT, 1)
    followed = PolicyFile(path, read_policy(path), health)
    assert not looked(followed)
    write(path, TEXT.replace("owns 8", "owns 4"), 2)
    for _ in range(3):
        assert not looked(followed, "somebody uses it")
        assert "somebody uses it" in health.problems()["policy"]
    assert caplog.text.count("somebody uses it") == 1
    assert looked(followed)
    assert health.problems().get("policy", "") == ""
    assert not looked(followed)

    followed.refuse("it cannot take over")
    assert "it cannot take over" in health.problems()["policy"]
    assert not looked(followed, "not yet")
    assert looked(followed)
    assert not followed.is_refused
    assert health.problems().get("policy", "") == ""
    write(path, TEXT.replace("owns 8", "owns 4"), 5)
    assert not looked(followed)


def test_a_policy_with_an_error_is_refused_until_it_is_written_again(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """Each error is told once, in the log and to whoever asks for problems."""
    path, health = tmp_path / "p.gpol", Health()
    write(path, TEXT, 1)
    followed = PolicyFile(path, read_policy(path), health)
    for moment, text in enumerate((TEXT + "queue {", TEXT + "queue q { }"), 2):
        write(path, text, moment)
        assert not looked(followed)
        assert not looked(followed)
        assert "p.gpol:4: GP" in health.problems()["policy"]
    assert caplog.text.count("is refused") == 2
    path.unlink()
    assert not looked(followed)
    assert "cannot be read" in health.problems()["policy"]
    write(path, TEXT, 5)
    assert not looked(followed)
    assert health.problems().get("policy", "") == ""
