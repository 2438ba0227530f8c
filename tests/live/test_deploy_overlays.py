"""What kustomize makes of the base, of its components, and of the overlays on the page about deploying."""

import os
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
import yaml
from gpol.adapters.kueue.export.live.live_objects import NAMESPACE
from gpol.adapters.live.settings.reading_settings import read_settings

Json = dict[str, Any]
BASE = Path("deploy", "kustomize", "base")
VOLCANO = Path("deploy", "kustomize", "volcano")
REMOTE = re.compile(r"https://REPOSITORY//(deploy/kustomize/\w+)\?ref=VERSION")
"""How the page names a folder of this project."""


def built(folder: Path) -> list[Json]:
    """The objects that kustomize makes of a folder."""
    if shutil.which("kubectl") is None:
        pytest.skip("kubectl is not installed")
    made = subprocess.run(["kubectl", "kustomize", str(folder)], capture_output=True, text=True, check=False)
    assert made.returncode == 0, made.stderr
    return [item for item in yaml.safe_load_all(made.stdout) if item]


def overlay(folder: Path, root: Path, text: str, **files: str) -> list[Json]:
    """The objects of an overlay that is written as the page has it, with files beside it; folders are those of this project."""
    folder.mkdir()
    for name, said in files.items():
        (folder / f"{name}.yaml").write_text(said)
    (folder / "kustomization.yaml").write_text(REMOTE.sub(lambda found: os.path.relpath(root / found[1], folder.resolve()), text))
    return built(folder)


def only(objects: list[Json], kind: str, name: str = "gpol") -> Json:
    """The one object of a kind and a name."""
    [found] = [item for item in objects if (item["kind"], item["metadata"]["name"]) == (kind, name)]
    return found


def check_mounts(objects: list[Json]) -> None:
    """All objects lie in gpol's namespace, and the Deployment mounts the ConfigMaps that are made."""
    assert {item["metadata"]["namespace"] for item in objects} == {NAMESPACE}
    maps = {item["metadata"]["name"] for item in objects if item["kind"] == "ConfigMap"}
    volumes = only(objects, "Deployment")["spec"]["template"]["spec"]["volumes"]
    assert {volume["configMap"]["name"] for volume in volumes if "configMap" in volume} == maps


def settings_of(objects: list[Json]) -> str:
    """The settings that the pod gets."""
    [found] = [item for item in objects if item["kind"] == "ConfigMap" and item["metadata"]["name"].startswith("gpol-settings-")]
    return str(found["data"]["settings.yaml"])


@pytest.mark.parametrize("folder", ["deploy/kustomize/base", "examples/live"])
def test_kustomize_takes_them(root: Path, folder: str) -> None:
    """They build, in gpol's namespace, with the ConfigMaps that are mounted."""
    check_mounts(built(root / folder))


def test_other_pods_of_the_namespace_stay_open(root: Path) -> None:
    """The NetworkPolicy selects the pods of the Deployment, by a label that is not on others, such as those of a PostgreSQL."""
    objects = built(root / BASE)
    policy, pods = only(objects, "NetworkPolicy")["spec"], only(objects, "Deployment")["spec"]["template"]["metadata"]["labels"]
    assert policy["podSelector"] == {"matchLabels": pods}
    assert pods
    assert policy["ingress"] == [{"ports": [{"port": "probes", "protocol": "TCP"}]}]


def page_blocks(root: Path, name: str) -> list[str]:
    """The YAML blocks of a page."""
    return re.findall(r"^```yaml\n(.*?)^```$", (root / "docs" / name).read_text(), re.DOTALL | re.MULTILINE)


@pytest.mark.parametrize("way", ["watch", "guard"])
def test_the_page_replaces_the_settings_of_the_base(root: Path, tmp_path: Path, way: str) -> None:
    """The overlay builds; gpol accepts the settings, which name nothing that the pod does not mount; no policy where gpol only watches."""
    blocks = page_blocks(root, "deploy.md")
    [text] = [block for block in blocks if "kind: Kustomization" in block and "gpol-settings" in block]
    [said] = [block for block in blocks if f"{way}:" in block and "kind:" not in block]
    objects = overlay(tmp_path / "overlay", root, text, settings=said)
    check_mounts(objects)
    assert settings_of(objects) == said
    (tmp_path / "settings.yaml").write_text(said)
    settings = read_settings(tmp_path / "settings.yaml", {})
    assert (settings.policy is None, settings.kueue.way, settings.kueue.guard.mode) == {
        "watch": (True, "watch", "off"),
        "guard": (False, "off", "repair"),
    }[way]
    container = only(objects, "Deployment")["spec"]["template"]["spec"]["containers"][0]
    mounts = {mount["mountPath"] for mount in container["volumeMounts"]}
    files = (settings.policy, settings.journal, settings.kueue.watch.differences, settings.http.token_file)
    assert {str(Path(file).parent) for file in files if file is not None} <= mounts
    ports = {port["name"]: port["containerPort"] for port in container["ports"]}
    assert ports == {"http": settings.http.port, "probes": settings.http.probe_port}
    assert str(settings.http.probe_address) == "0.0.0.0"
    assert settings.lease.namespace == NAMESPACE


@pytest.mark.parametrize("components", [("volcano",), ("tls", "volcano"), ("volcano", "tls")])
def test_volcanos_scheduler_reaches_the_extender(root: Path, tmp_path: Path, components: tuple[str, ...]) -> None:
    """The address on Volcano's page leads to the extender: Service, port of the pod, settings. Of all pods only the scheduler's get there.

    The extender has a token of its own, which is mounted. Other ports stay as they were.
    """
    named = "".join(f"  - https://REPOSITORY//deploy/kustomize/{name}?ref=VERSION\n" for name in components)
    text = f"resources:\n  - https://REPOSITORY//deploy/kustomize/base?ref=VERSION\ncomponents:\n{named}"
    objects = overlay(tmp_path / "overlay", root, text)
    check_mounts(objects)
    settings = read_settings(root / VOLCANO / "settings.yaml", {})
    extender = settings.volcano.extender
    assert settings_of(objects) == (root / VOLCANO / "settings.yaml").read_text()
    assert settings.volcano.way == "decide"
    [prefix] = re.findall(r"extender\.urlPrefix: (\S+)", (root / "docs" / "volcano.md").read_text())
    address = urlsplit(prefix)
    service, namespace = str(address.hostname).split(".")
    assert (namespace, address.path, address.scheme) == (NAMESPACE, extender.prefix, "http")
    pod = only(objects, "Deployment")["spec"]["template"]
    container = pod["spec"]["containers"][0]
    ports = {port["name"]: port["containerPort"] for port in container["ports"]}
    assert ports == {"http": settings.http.port, "probes": settings.http.probe_port, "extender": extender.port}
    spec = only(objects, "Service", service)["spec"]
    assert spec["selector"] == pod["metadata"]["labels"]
    assert [(each["port"], each["targetPort"]) for each in spec["ports"]] == [(address.port, "extender")]
    scheduler = {
        "namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": "volcano-system"}},
        "podSelector": {"matchLabels": {"app": "volcano-scheduler"}},
    }
    rules = {port["port"]: rule.get("from") for rule in only(objects, "NetworkPolicy")["spec"]["ingress"] for port in rule["ports"]}
    assert rules == {"probes": None, "extender": [scheduler], **({"http": None} if "tls" in components else {})}
    mounts = {str(mount["mountPath"]): mount["name"] for mount in container["volumeMounts"]}
    secrets = {volume["name"]: volume["secret"]["secretName"] for volume in pod["spec"]["volumes"] if "secret" in volume}
    assert extender.token_file is not None
    assert settings.http.token_file is not None
    assert secrets[mounts[str(extender.token_file.parent)]] == "gpol-extender-token"
    assert secrets[mounts[str(settings.http.token_file.parent)]] == "gpol-token"


def test_the_page_names_folders_and_files_that_are_there(root: Path) -> None:
    """What an overlay takes from this project, and what `kubectl` is told to apply."""
    page = (root / "docs" / "deploy.md").read_text()
    named = {*REMOTE.findall(page), *re.findall(r"deploy/access/\w+\.yaml", page)}
    assert {"deploy/kustomize/base", "deploy/kustomize/volcano", "deploy/access/watch.yaml"} <= named
    assert all((root / name).exists() for name in named)
