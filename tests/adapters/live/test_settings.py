"""Settings that would have no effect are refused: each by its name, with the cause and what to do."""

from pathlib import Path

import pytest
from gpol.adapters.live.settings.reading_settings import read_settings
from gpol.adapters.live.settings.serve_settings import ServeSettings
from gpol.adapters.live.settings.settings_problems import ServeSettingsError

WATCH = "journal: j.db\nkueue: {way: watch}\n"
DECIDE = "policy: p.gpol\njournal: j.db\nkueue: {way: decide}\n"
GUARD = "policy: p.gpol\n%s: {guard: {mode: %s, deletes: true}}\n"


@pytest.fixture
def settings(tmp_path: Path) -> Path:
    """A file for settings."""
    return tmp_path / "settings.yaml"


def read(file: Path, text: str, **variables: str) -> ServeSettings:
    """The settings of a text, and of variables."""
    file.write_text(text)
    return read_settings(file, variables)


def refused(file: Path, text: str, **variables: str) -> tuple[str, str]:
    """The part of the settings that is refused, and why."""
    with pytest.raises(ServeSettingsError) as error:
        read(file, text, **variables)
    [problem] = error.value.problems
    return problem.setting, problem.told


def test_a_context_without_a_kubeconfig(settings: Path) -> None:
    """Without a kubeconfig the service account of the pod counts, which has no contexts."""
    place, told = refused(settings, f"{DECIDE}kubernetes: {{context: prod}}\n")
    assert (place, told) == (
        "kubernetes",
        "context is set, and there is no kubeconfig to which it belongs: name the kubeconfig as well, or leave context out",
    )
    assert read(settings, f"{DECIDE}kubernetes: {{context: prod, kubeconfig: k}}\n").kubernetes.context == "prod"
    assert read(settings, f"{DECIDE}kubernetes: {{context: null}}\n").kubernetes.context is None


def test_a_name_of_gpu_where_kueue_is_watched(settings: Path) -> None:
    """Kueue's objects name resources themselves. A guard beside it has a policy, in which the name counts; so it does for other ways."""
    place, told = refused(settings, f"{WATCH}gpu: amd.com/gpu\n")
    assert place == ""
    assert told == "gpu is set, and to watch Kueue goes by the cluster's own names of resources: leave it out, or set kueue.guard.mode"
    for guarded in ("kueue: {way: watch, guard: {mode: report}}", "kueue: {way: watch}\nvolcano: {guard: {mode: report}}"):
        assert read(settings, f"policy: p.gpol\njournal: j.db\ngpu: amd.com/gpu\n{guarded}\n").gpu == "amd.com/gpu"
    assert read(settings, f"{DECIDE}gpu: amd.com/gpu\n").gpu == "amd.com/gpu"
    assert read(settings, WATCH).gpu == "nvidia.com/gpu"


@pytest.mark.parametrize("system", ["kueue", "volcano"])
def test_deletes_where_a_guard_only_reports(settings: Path, system: str) -> None:
    """Such a guard writes nothing, so it deletes nothing."""
    place, told = refused(settings, GUARD % (system, "report"))
    assert place == f"{system}.guard"
    assert told == "deletes is set, and with `mode: report` nothing is written: set mode to repair, or leave deletes out"
    assert getattr(read(settings, GUARD % (system, "repair")), system).guard.deletes
    assert read(settings, GUARD.replace("true", "false") % (system, "report")).guards


def test_a_port_for_probes_without_an_address(settings: Path) -> None:
    """Nothing would listen there; a variable of the environment counts as well."""
    place, told = refused(settings, f"{DECIDE}http: {{probe_port: 8081}}\n")
    assert place == "http"
    assert told == "probe_port is set, and probes are served only at a probe_address: name one as well, or leave probe_port out"
    assert read(settings, f"{DECIDE}http: {{probe_port: 8181, probe_address: 0.0.0.0}}\n").http.probe_port == 8181
    assert read(settings, f"{DECIDE}http: {{probe_address: 0.0.0.0}}\n").http.probe_port == 8081
    assert refused(settings, DECIDE, GPOL_HTTP__PROBE_PORT="8181") == (place, told)


@pytest.mark.parametrize(
    ("said", "setting", "switch"),
    [
        ("kueue: {check: mine}", "kueue.check", "kueue.way"),
        ("kueue: {watch: {differences: d.jsonl}}", "kueue.watch", "kueue.way"),
        ("kueue: {guard: {overrides: true}}", "kueue.guard.overrides", "kueue.guard.mode"),
        ("volcano: {extender: {port: 8182}}", "volcano.extender", "volcano.way"),
        ("volcano: {guard: {sum_flavors: true}}", "volcano.guard.sum_flavors", "volcano.guard.mode"),
    ],
)
def test_settings_of_a_part_that_nobody_has_switched_on(settings: Path, said: str, setting: str, switch: str) -> None:
    """It is refused; but a part that is switched off in so many words keeps its settings for later."""
    text = DECIDE.replace("kueue: {way: decide}\n", "") + said
    place, told = refused(settings, text + "\n")
    assert (place, told) == ("", f"{setting} is set, and {switch} is not, so it has no effect: set both, or neither")
    part, _, name = switch.rpartition(".")
    off = said.replace(f"{part.rpartition('.')[2]}: {{", f"{part.rpartition('.')[2]}: {{{name}: off, ")
    others = "volcano: {guard: {mode: report}}" if said.startswith("kueue") else "kueue: {guard: {mode: report}}"
    assert read(settings, f"policy: p.gpol\n{off}\n{others}\n").guards


@pytest.mark.parametrize(
    ("way", "setting", "other"),
    [("decide", "watch: {settle_seconds: 3}", "watch"), ("watch", "check: a", "decide"), ("watch", "follow_pods: true", "decide")],
)
def test_settings_of_another_way(settings: Path, way: str, setting: str, other: str) -> None:
    """What counts for one way alone is refused with the other."""
    text = (WATCH if way == "watch" else DECIDE).replace(f"way: {way}", f"way: {way}, {setting}")
    name = setting.partition(":")[0]
    told = f"kueue.{name} is set, and has no effect with `way: {way}`: leave it out, or set kueue.way to {other}"
    assert refused(settings, text) == ("", told)


def test_seconds_of_a_policy_that_is_not_there(settings: Path) -> None:
    """Where gpol watches there is no file to look at; where a policy is forgotten, that is what is told."""
    told = "policy_seconds is set, and to watch Kueue goes by no policy file: leave it out"
    assert refused(settings, f"{WATCH}policy_seconds: 5\n") == ("", told)
    assert refused(settings, "journal: j.db\nkueue: {way: decide}\npolicy_seconds: 5\n")[1] == "policy is missing: name a .gpol file"


def test_seconds_of_a_shadow_that_do_not_go_together(settings: Path) -> None:
    """Kueue has to have had its time for everybody before it is compared."""
    told = "Kueue is compared before it has looked at everybody"
    for said in "settle_seconds: 1", "requeue_seconds: 10", "requeue_seconds: 5, settle_seconds: 6":
        assert told in refused(settings, WATCH.replace("watch}", f"watch, watch: {{{said}}}}}"))[1]
    long = "requeue_seconds: 10, settle_seconds: 11, longest_seconds: 30"
    assert read(settings, WATCH.replace("watch}", f"watch, watch: {{{long}}}}}")).kueue.watch.requeue_seconds == 10


def test_tokens_of_the_cluster_that_do_not_count(settings: Path) -> None:
    """Who may read is asked of the cluster only where its tokens count."""
    told = "kubernetes_seconds is for tokens of the cluster; set kubernetes_tokens as well, or leave it out"
    assert refused(settings, f"{DECIDE}http: {{kubernetes_seconds: 5}}\n") == ("http", told)
    assert read(settings, f"{DECIDE}http: {{kubernetes_seconds: 5, kubernetes_tokens: true}}\n").http.kubernetes_seconds == 5


def test_a_map_that_is_not_read(settings: Path) -> None:
    """How often the ConfigMap of Kueue's manager is read counts only where it is read."""
    said = WATCH.replace("watch}", "watch, watch: {config_map: %s, config_map_seconds: 5}}")
    told = "config_map_seconds is set, and no config_map is read: name one, or leave config_map_seconds out"
    assert refused(settings, said % '""') == ("kueue.watch", told)
    assert read(settings, said % "a/b").kueue.watch.config_map_seconds == 5


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ("http: {}\njournal: k.db\nhttp: {port: 1}\n", "line 3, column 1: has key `http` twice in one object; keep one"),
        ("journal: &a j.db\n", "line 1, column 10: has the anchor &a; write the value where it is needed"),
        ("journal: j.db\n---\ngpu: b\n", "it has 2 YAML documents; put all settings into one"),
        ("- journal\n", "it holds no settings by name; write `name: value` lines"),
        ("journal: [\n", "line 2, column 1: is no YAML: did not find expected node content; check its indentation and quotes"),
    ],
)
def test_a_file_that_is_not_settings(settings: Path, said: str, told: str) -> None:
    """The place, the cause and what to do."""
    settings.write_text(said)
    with pytest.raises(ValueError, match=r".") as error:
        read_settings(settings, {})
    assert str(error.value) == told


def test_a_file_that_is_not_text(settings: Path) -> None:
    """A file in another encoding is refused, with the place."""
    settings.write_bytes("journal: J\xe4ger.db".encode("latin-1"))
    with pytest.raises(ValueError, match=r"^byte 11 is not UTF-8; save the file as UTF-8$"):
        read_settings(settings, {})


def test_an_empty_file_says_nothing(settings: Path) -> None:
    """All may come from the environment."""
    assert refused(settings, "")[1] == refused(settings, "# nothing yet\n")[1] == "policy is missing: name a .gpol file"
