"""`gpol serve` with settings that cannot be used: each is told with its place, its cause and what to do, and nothing is started."""

from pathlib import Path

import pytest
from commands import Gpol

pytest.importorskip("pydantic_settings", reason="needs the extra `live`")

LISTED = "; docs/live.md lists all settings\n"
CANNOT = "gpol: the settings in {} cannot be used" + LISTED


@pytest.fixture(autouse=True)
def no_variables(monkeypatch: pytest.MonkeyPatch) -> None:
    """No setting comes from outside."""
    for name in "GPOL_POLICY", "GPOL_JOURNAL", "GPOL_KUEUE", "GPOL_KUEUE__WAY":
        monkeypatch.delenv(name, raising=False)


@pytest.mark.parametrize(
    ("written", "told"),
    [
        ("kueue: {wai: decide}\n", "`s.yaml`: kueue.wai: Extra inputs are not permitted\n" + CANNOT.format("`s.yaml`")),
        ("http: {port: 70000}\n", "`s.yaml`: http.port: Input should be less than or equal to 65535\n" + CANNOT.format("`s.yaml`")),
        ("kueue: {way: decide}\n", "`s.yaml`: journal is missing: decisions are kept in it\n" + CANNOT.format("`s.yaml`")),
        (
            "gpu: a\ngpu: b\n",
            "gpol: the settings in `s.yaml` cannot be read: line 2, column 1: has key `gpu` twice in one object; keep one" + LISTED,
        ),
        (
            "policy: p.gpol\n",
            "gpol: the settings let gpol do nothing: set kueue.way, volcano.way, kueue.guard.mode or volcano.guard.mode\n",
        ),
    ],
)
@pytest.mark.parametrize("check", [(), ("--check",)], ids=["serve", "check"])
def test_a_file_that_cannot_be_used(gpol: Gpol, written: str, told: str, check: tuple[str, ...]) -> None:
    """Every error is on a line of its own."""
    Path("s.yaml").write_text(written)
    done = gpol("serve", "--settings", "s.yaml", *check)
    assert (done.code, done.err, done.out) == (3, told, "")


def test_a_file_that_is_not_there(gpol: Gpol) -> None:
    """A file of settings that was named has to be there."""
    done = gpol("serve", "--settings", "none.yaml")
    told = "gpol: the settings in `none.yaml` cannot be read: No such file or directory; check the name and your rights\n"
    assert (done.code, done.err) == (3, told)


def test_variables_that_cannot_be_used(gpol: Gpol, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a file, the environment is named."""
    monkeypatch.setenv("GPOL_KUEUE__WAY", "decides")
    done = gpol("serve")
    told = "the environment: kueue.way: Input should be 'off', 'decide' or 'watch'\n"
    assert (done.code, done.err) == (3, told + CANNOT.format("the environment"))
    monkeypatch.setenv("GPOL_KUEUE", "{")
    done = gpol("serve")
    told = 'gpol: the settings in the environment cannot be read: error parsing value for field "kueue" from source "EnvSettingsSource"'
    assert (done.code, done.err) == (3, told + LISTED)
