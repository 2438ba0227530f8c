"""Settings come from a file and from variables: what is wrong is told where it stands, and a variable without effect is refused."""

from pathlib import Path

import pytest
from gpol.adapters.live.settings.reading_settings import read_settings
from gpol.adapters.live.settings.serve_settings import ServeSettings
from gpol.adapters.live.settings.settings_problems import ServeSettingsError

GOOD = "policy: p.gpol\njournal: j.db\nkueue: {way: decide}\n"
LISTED = "is no setting; docs/live.md lists all settings"


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A file for settings, by a short name."""
    monkeypatch.chdir(tmp_path)
    Path("s.yaml").write_text(GOOD)
    return Path("s.yaml")


def refused(file: Path | None, **variables: str) -> tuple[str, ...]:
    """What is told of settings."""
    with pytest.raises(ServeSettingsError) as error:
        read_settings(file, variables)
    return error.value.lines


def test_variables_alone() -> None:
    """No file is needed; texts are read as numbers, true and false, as their setting wants it."""
    read = read_settings(
        None,
        {
            "GPOL_POLICY": "p.gpol",
            "GPOL_JOURNAL": "1",
            "GPOL_VOLCANO__WAY": "decide",
            "GPOL_VOLCANO__EXTENDER__TOKEN_FILE": "t",
            "GPOL_VOLCANO__EXTENDER__PORT": "99",
            "GPOL_HTTP__ENABLED": "false",
            "GPOL_LEASE__HOLDER": "",
        },
    )
    assert (read.journal, read.volcano.extender.port, read.http.enabled, read.lease.holder) == ("1", 99, False, "")


def test_a_variable_comes_before_the_file(file: Path) -> None:
    """Part by part: what the file says else stays."""
    file.write_text(GOOD.replace("decide", "decide, check: mine"))
    read = read_settings(file, {"GPOL_JOURNAL": "k.db", "GPOL_KUEUE__FOLLOW_PODS": "false", "GPOL_HTTP__PORT": "1"})
    assert (read.journal, read.kueue.check, read.kueue.follow_pods, read.http.port) == ("k.db", "mine", False, 1)


def test_a_wrong_value_is_told_where_it_stands(file: Path) -> None:
    """In the variable, or else in the file, also where both say something of its part."""
    assert refused(file, GPOL_HTTP__PORT="tcp://10.0.0.1:80") == ("GPOL_HTTP__PORT: is no whole number; write one such as 8080",)
    file.write_text(f"{GOOD}http: {{port: x, enabled: maybe}}\n")
    assert refused(file, GPOL_HTTP__PORT="1") == ("`s.yaml`: http.enabled: is neither true nor false; write one of them",)


@pytest.mark.parametrize(
    ("variables", "where"),
    [({"GPOL_HTTP__PROBE_PORT": "1"}, "`s.yaml` and the environment"), ({"GPOL_LOG": "text"}, "`s.yaml`")],
)
def test_settings_that_do_not_go_together(file: Path, variables: dict[str, str], where: str) -> None:
    """Both places are named where both may have part in it."""
    file.write_text(f"{GOOD}http: {{port: 1, {'' if len(where) > 8 else 'probe_port: 2'}}}\n")
    [line] = refused(file, **variables)
    assert line.startswith(f"{where}: http: probe_port is set, and probes")


def test_without_a_file() -> None:
    """The environment is where something is missing."""
    assert refused(None, GPOL_KUEUE__WAY="decide") == ("the environment: journal is missing: decisions are kept in it",)


@pytest.mark.parametrize(
    ("variable", "told"),
    [
        ("GPOL_JOURNEL", "is no setting; did you mean `GPOL_JOURNAL`?"),
        ("GPOL_HTTP_TOKEN_FILE", "is no setting; did you mean `GPOL_HTTP__TOKEN_FILE`?"),
        ("GPOL_HTTPS__TOKEN_FILE", "is no setting; did you mean `GPOL_HTTP__TOKEN_FILE`?"),
        ("GPOL_KUEUE__WAI", "is no setting; did you mean `GPOL_KUEUE__WAY`?"),
        ("GPOL_HTTP_PORT", "is no setting; did you mean `GPOL_HTTP__PORT`?"),
        ("GPOL_JOURNAL__FILE", "is no setting; did you mean `GPOL_JOURNAL`?"),
        ("GPOL_", LISTED),
        ("GPOL_PORT", LISTED),
        ("GPOL_journal", "is no setting; did you mean `GPOL_JOURNAL`?"),
    ],
)
def test_a_variable_that_is_no_setting(file: Path, variable: str, told: str) -> None:
    """It has no effect, and is refused with the setting that was most likely meant."""
    assert refused(file, **{variable: "8080"}) == (f"{variable}: {told}",)


@pytest.mark.parametrize("text", ['{"way":"decide","way":"off"}', "x", "[" * 2000, "null"])
def test_a_variable_for_a_whole_part(file: Path, text: str) -> None:
    """The settings of a part are set one by one."""
    assert refused(file, GPOL_KUEUE=text) == ("GPOL_KUEUE: is a whole part; set its settings one by one, such as GPOL_KUEUE__WAY",)
    assert refused(file, GPOL_KUEUE__GUARD=text)[0].endswith("such as GPOL_KUEUE__GUARD__MODE")


def test_variables_that_others_set(file: Path) -> None:
    """Those of Kubernetes for a Service, and of gpol that are no settings, are left alone."""
    service = {
        f"{name}_{rest}": text
        for name in ("GPOL", "GPOL_HTTP", "GPOL_MY_2ND", "GPOL__X")
        for rest, text in {
            "SERVICE_HOST": "10.0.0.1",
            "SERVICE_PORT": "80",
            "SERVICE_PORT_WEB_UI": "80",
            "PORT": "tcp://10.0.0.1:80",
            "PORT_80_TCP": "tcp://10.0.0.1:80",
            "PORT_80_TCP_PROTO": "tcp",
            "PORT_80_UDP_PORT": "80",
            "PORT_80_SCTP_ADDR": "10.0.0.1",
        }.items()
    }
    assert isinstance(read_settings(file, {**service, "GPOL_TRACEBACK": "1", "GPOL_SIGNING_KEY": "k", "OTHER": "1"}), ServeSettings)
    assert refused(file, GPOL_PORT_80_TCP_NAME="x") == (f"GPOL_PORT_80_TCP_NAME: {LISTED}",)


def test_a_variable_below_what_is_no_part_in_the_file(file: Path) -> None:
    """The file is to be corrected: the variable does not hide it."""
    file.write_text("kueue:\nhttp: 3\n")
    assert refused(file, GPOL_KUEUE__WAY="off", GPOL_HTTP__PORT="1") == (
        "`s.yaml` and the environment: kueue: is empty; write what belongs there, or leave it out",
        "`s.yaml` and the environment: http: is no part with settings; write `name: value` lines below it",
    )


def test_only_ten_variables_are_told(file: Path) -> None:
    """And how many more there are."""
    told = refused(file, **{f"GPOL_X{number:02}": "" for number in range(15)})
    assert (len(told), told[0], told[-1]) == (11, f"GPOL_X00: {LISTED}", "... and 5 more")
