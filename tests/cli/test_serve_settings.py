"""`gpol serve` with settings that cannot be used: each is told with its place, its cause and what to do, and nothing is started."""

import os
from pathlib import Path

import pytest
from commands import Gpol
from fake_serving import write_kubeconfig

pytest.importorskip("kubernetes", reason="needs the extra `live`")

LISTED = "; docs/live.md lists all settings\n"
CANNOT = "gpol: the settings cannot be used" + LISTED


@pytest.fixture(autouse=True)
def no_variables(monkeypatch: pytest.MonkeyPatch) -> None:
    """No setting comes from outside."""
    for name in [name for name in os.environ if name.startswith("GPOL_")]:
        monkeypatch.delenv(name)


@pytest.mark.parametrize(
    ("written", "told"),
    [
        ("kueue: {wai: decide}\n", "`s.yaml`: kueue.wai: is no setting; did you mean `kueue.way`?\n" + CANNOT),
        ("http: {port: 70000}\n", "`s.yaml`: http.port: is above 65535; write at most that\n" + CANNOT),
        ("kueue: {way: decide}\n", "`s.yaml`: journal is missing: decisions are kept in it\n" + CANNOT),
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


@pytest.mark.parametrize("check", [(), ("--check",)], ids=["serve", "check"])
def test_a_kubeconfig_that_is_not_there(gpol: Gpol, check: tuple[str, ...]) -> None:
    """It is a matter of the settings, whoever looks first; a server that does not answer is none."""
    said = "journal: j.db\nkueue: {way: watch}\nkubernetes: {kubeconfig: k}\n"
    Path("s.yaml").write_text(said)
    done = gpol("serve", "--settings", "s.yaml", *check)
    told = "gpol: kubeconfig `k` cannot be read: No such file or directory; check kubernetes.kubeconfig and your rights\n"
    assert (done.code, done.err) == (3, told)
    write_kubeconfig(Path("k"), "http://127.0.0.1:1")
    done = gpol("serve", "--settings", "s.yaml", "--check")
    assert done.code == 1
    assert done.err.startswith("gpol: the cluster cannot be asked: no answer from the server: ")


def test_variables_that_cannot_be_used(gpol: Gpol, monkeypatch: pytest.MonkeyPatch) -> None:
    """The variable is named."""
    monkeypatch.setenv("GPOL_KUEUE__WAY", "decides")
    done = gpol("serve")
    told = "GPOL_KUEUE__WAY: is not one of the words that count; write 'off', 'decide' or 'watch'\n"
    assert (done.code, done.err) == (3, told + CANNOT)
    monkeypatch.setenv("GPOL_JOURNEL", "j.db")
    done = gpol("serve")
    assert (done.code, done.err) == (3, "GPOL_JOURNEL: is no setting; did you mean `GPOL_JOURNAL`?\n" + CANNOT)
