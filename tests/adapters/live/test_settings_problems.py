"""What is wrong with settings is told in plain words, with what to do."""

from pathlib import Path

import pytest
from gpol.adapters.live.settings.reading_settings import read_settings
from gpol.adapters.live.settings.settings_problems import ServeSettingsError

GOOD = "policy: p.gpol\njournal: j.db\nkueue: {way: decide}\n"
EMPTY = "is empty; write what belongs there, or leave it out"
BLANK = "is blank; name the place, or leave it out"
CONTROL = "has a control character; write the name without"


def told(folder: Path, said: str) -> list[str]:
    """What is told of settings: each setting with what is wrong with it."""
    (folder / "s.yaml").write_text(said)
    with pytest.raises(ServeSettingsError) as error:
        read_settings(folder / "s.yaml", {})
    return [line.removeprefix(f"`{folder / 's.yaml'}`: ") for line in error.value.lines]


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        ("http: {address: localhost}", "http.address: is no IP address; write one such as 127.0.0.1"),
        ("http: {probe_address: []}", "http.probe_address: is no IP address; write one such as 127.0.0.1"),
        ("kueue:", f"kueue: {EMPTY}"),
        ("gpu:", f"gpu: {EMPTY}"),
        ("http: {port: null}", f"http.port: {EMPTY}"),
        ("kueue: decide", "kueue: is no part with settings; write `name: value` lines below it"),
        ("kueue: {wai: decide}", "kueue.wai: is no setting; did you mean `kueue.way`?"),
        ("kueues: {way: decide}", "kueues: is no setting; did you mean `kueue`?"),
        ("zzz: 1", "zzz: is no setting; docs/live.md lists all settings"),
        ("log: loud", "log: is not one of the words that count; write 'text' or 'json'"),
        ("http: {port: 70000}", "http.port: is above 65535; write at most that"),
        ("http: {port: -1}", "http.port: is below 0; write at least that"),
        ("http: {port: 1.5}", "http.port: is no whole number; write one such as 8080"),
        ("http: {port: []}", "http.port: is no whole number; write one such as 8080"),
        ("kueue: {watch: {settle_seconds: 0}}", "kueue.watch.settle_seconds: is not above 0; write more"),
        ("policy_seconds: often", "policy_seconds: is no number; write one such as 2.5"),
        ("policy_seconds: []", "policy_seconds: is no number; write one such as 2.5"),
        ("lease: {enabled: maybe}", "lease.enabled: is neither true nor false; write one of them"),
        ("lease: {enabled: []}", "lease.enabled: is neither true nor false; write one of them"),
        ("lease: {name: ''}", "lease.name: is empty; write a name, or leave it out"),
        (f"lease: {{namespace: {'n' * 64}}}", "lease.namespace: has more than 63 characters; shorten it"),
        ("journal: 3", "journal: is no text; write one, in quotes"),
        ("policy: 3", "policy: is no text; write one, in quotes"),
        (
            "kueue: {watch: {config_map: x}}",
            "kueue.watch.config_map: names no ConfigMap; write NAMESPACE/NAME, or an empty text where none is read",
        ),
        (
            "kueue: {guard: {name: 'a b'}}",
            "kueue.guard.name: is no value of a label; write letters, digits, `-`, `_` and `.`, with a letter or digit at each end",
        ),
        (
            "volcano: {extender: {prefix: volcano/}}",
            "volcano.extender.prefix: is no path of a URL; write one such as /volcano, without a slash at its end",
        ),
    ],
)
def test_plain_words(tmp_path: Path, said: str, expected: str) -> None:
    """One line, whatever the library says of it."""
    assert told(tmp_path, f"{said}\n") == [expected]


@pytest.mark.parametrize(
    "setting",
    [
        "journal",
        "policy",
        "kubernetes: {kubeconfig",
        "http: {certificate",
        "http: {key",
        "http: {token_file",
        "kueue: {watch: {differences",
        "kueue: {watch: {configuration",
        "volcano: {extender: {certificate",
        "volcano: {extender: {token_file",
    ],
)
def test_a_place_has_a_name(tmp_path: Path, setting: str) -> None:
    """One that nobody sees, or that no file can have, is refused."""
    name, closing = setting.replace(": {", "."), "}" * setting.count("{")
    for text, wrong in (("' '", BLANK), ("''", BLANK), (r'"a\0b"', CONTROL), (r'"a\nb"', CONTROL), (r'"a\u0085b"', CONTROL)):
        assert told(tmp_path, f"{setting}: {text}{closing}\n") == [f"{name}: {wrong}"]


def test_the_name_of_a_resource(tmp_path: Path) -> None:
    """As Kubernetes has it: a name, after the domain of whoever made it."""
    for text in ("bad name!", "a/b/c", "/gpu", "nvidia.com/", "-gpu", "NVIDIA.com/gpu", ""):
        assert told(tmp_path, f"gpu: '{text}'\n") == [
            "gpu: is no name of a resource; write one as nodes have it, such as nvidia.com/gpu"
        ], text
    for text in ("gpu", "amd.com/gpu", "nvidia.com/mig-1g.5gb", "habana.ai/Gaudi_2"):
        (tmp_path / "s.yaml").write_text(f"{GOOD}gpu: {text}\n")
        assert read_settings(tmp_path / "s.yaml", {}).gpu == text


def test_only_ten_are_told(tmp_path: Path) -> None:
    """And how many more there are; long names are cut."""
    lines = told(tmp_path, "".join(f"a{number:08}{'b' * 300}: 1\n" for number in range(3010)))
    assert len(lines) == 11
    assert all(len(line) < 160 for line in lines)
    assert lines[-1] == "... and 3,000 more"
