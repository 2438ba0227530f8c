"""What installs gpol fits the project: the container file, the kustomize base, the roles of gpol and of those who ask."""

import re
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml
from gpol.adapters.kueue.export.live.access_rights import ACCOUNT, AccessChoices, access_objects
from gpol.adapters.kueue.export.live.live_objects import NAMESPACE, LiveChoices, export_live
from gpol.adapters.live.settings.reading_settings import read_settings
from gpol.console.routes import ROUTES
from gpol.dsl import check, compile_policy, format_text

Json = dict[str, Any]
BASE = Path("deploy", "kustomize", "base")


@pytest.fixture
def project(root: Path) -> Json:
    """The project's description."""
    return tomllib.loads((root / "pyproject.toml").read_text())


@pytest.fixture
def steps(root: Path) -> list[tuple[str, str]]:
    """The instructions of the container file, in order, each with what it is given; continued lines are one."""
    text = re.sub(r"^#.*\n", "", (root / "deploy" / "Containerfile").read_text(), flags=re.MULTILINE).replace("\\\n", " ")
    return [(line.split(maxsplit=1)[0], line.split(maxsplit=1)[1]) for line in text.splitlines() if line.strip()]


def documents(path: Path) -> list[Json]:
    """The objects of a file."""
    return [item for item in yaml.safe_load_all(path.read_text()) if item]


@pytest.fixture
def pod(root: Path) -> Json:
    """What the pod of the base is like."""
    found: Json = documents(root / BASE / "deployment.yaml")[0]["spec"]["template"]["spec"]
    return found


# --- the image ------------------------------------------------------------------------------------------------------


def test_all_that_is_copied_is_there(root: Path, steps: list[tuple[str, str]]) -> None:
    """All rooms are copied, nothing else but the description, and what is ignored when an image is built does not hide any of it."""
    copied = {name for kind, text in steps if kind == "COPY" and "--from" not in text for name in text.split()[:-1]}
    assert all((root / name).exists() for name in copied)
    rooms = {path.parent.name for path in root.glob("*/py.typed")}
    assert copied == rooms | {"pyproject.toml", "README.md", "LICENSE"}
    assert {line[1:] for line in (root / ".dockerignore").read_text().splitlines() if line.startswith("!")} == copied


def test_every_package_is_in_the_wheel(root: Path, project: Json) -> None:
    """A folder with modules that is no package of the project would be missing where it is installed, and nowhere else."""
    rooms = [path.parent.name for path in root.glob("*/py.typed")]
    folders = {path.parent.relative_to(root).as_posix() for room in rooms for path in (root / room).rglob("*.py")}
    listed = set(project["tool"]["setuptools"]["packages"])
    assert {f"gpol.{folder.replace('/', '.')}" for folder in folders} <= listed


def test_the_image_runs_the_command_and_not_as_root(steps: list[tuple[str, str]], project: Json, pod: Json) -> None:
    """Its user is a number that is not 0; the entry point is the command; its extras and its version are the project's."""
    last = {kind: text for kind, text in steps if kind in ("USER", "ENTRYPOINT", "CMD")}
    user = int(last["USER"].split(":")[0])
    assert user == pod["securityContext"]["runAsUser"] != 0
    assert yaml.safe_load(last["ENTRYPOINT"]) == ["gpol"]
    assert "gpol" in project["project"]["scripts"]
    assert yaml.safe_load(last["CMD"]) == pod["containers"][0]["args"]
    extras = re.search(r"\[([\w,]+)\]\"", " ".join(text for kind, text in steps if kind == "RUN"))
    assert extras is not None
    assert {"live", "fast"} <= set(extras[1].split(",")) <= set(project["project"]["optional-dependencies"])
    assert f'image.version="{project["project"]["version"]}"' in " ".join(text for kind, text in steps if kind == "LABEL")


def test_kernels_are_compiled_where_they_are_looked_for(steps: list[tuple[str, str]]) -> None:
    """Both stages name the same folder and the same processor, else the container would find none."""
    variables = [re.findall(r"(XDG_CACHE_HOME|NUMBA_CPU_NAME)=(\S+)", text) for kind, text in steps if kind == "ENV"]
    assert len(variables) == 2
    assert variables[0] == variables[1] != []


# --- the base -------------------------------------------------------------------------------------------------------


def test_the_settings_and_the_policy_are_good(root: Path) -> None:
    """The settings are accepted, and the policy has no problem; where it is exported the rights name the base's account and namespace."""
    settings = read_settings(root / BASE / "settings.yaml", {})
    assert settings.kueue.way == "decide"
    text = (root / BASE / "policy.gpol").read_text()
    assert check(text, "policy.gpol").diagnostics == ()
    assert format_text(text, "policy.gpol") == text
    objects = export_live(compile_policy(text, "policy.gpol"), LiveChoices()).objects
    assert settings.lease.namespace == NAMESPACE == documents(root / BASE / "kustomization.yaml")[0]["namespace"]
    assert [item["metadata"]["name"] for item in objects if item["kind"] == "Namespace"] == [NAMESPACE]


def test_the_pod_has_what_the_settings_name(root: Path, pod: Json) -> None:
    """Each file of the settings lies where a volume is mounted, probes ask the port for them, and the account is that of the export."""
    settings, container = read_settings(root / BASE / "settings.yaml", {}), pod["containers"][0]
    mounts = {mount["mountPath"]: mount for mount in container["volumeMounts"]}
    assert settings.http.token_file is not None
    assert str(settings.policy.parent) in mounts
    assert str(settings.http.token_file.parent) in mounts
    assert not mounts[str(Path(settings.journal).parent)].get("readOnly", False)
    assert {mount["name"] for mount in mounts.values()} == {volume["name"] for volume in pod["volumes"]}
    ports = {port["name"]: port["containerPort"] for port in container["ports"]}
    assert ports == {"http": settings.http.port, "probes": settings.http.probe_port}
    assert {container[f"{kind}Probe"]["httpGet"]["port"] for kind in ("startup", "liveness", "readiness")} == {"probes"}
    assert pod["serviceAccountName"] == ACCOUNT


def test_the_pod_has_no_privileges(pod: Json) -> None:
    """It passes what the standard `restricted` asks for, and cannot write its root file system."""
    context = pod["containers"][0]["securityContext"]
    assert pod["securityContext"]["runAsNonRoot"] is True
    assert pod["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}
    assert context == {"allowPrivilegeEscalation": False, "readOnlyRootFilesystem": True, "capabilities": {"drop": ["ALL"]}}


def test_the_component_is_accepted_as_well(root: Path) -> None:
    """Its variables come before the settings of the base, and together they are good."""
    patch = documents(root / "deploy" / "kustomize" / "tls" / "deployment-patch.yaml")[0]["spec"]["template"]["spec"]
    variables = {variable["name"]: variable["value"] for variable in patch["containers"][0]["env"]}
    settings = read_settings(root / BASE / "settings.yaml", variables)
    assert settings.http.kubernetes_tokens
    assert str(settings.http.address) == "0.0.0.0"
    assert settings.http.certificate is not None
    assert str(settings.http.certificate.parent) == patch["containers"][0]["volumeMounts"][0]["mountPath"]


def test_the_roles_are_the_rights_that_are_compared(root: Path) -> None:
    """What the roles allow is what the routes ask for, all of it."""
    wanted = {(route.right, route.method.lower()) for route in ROUTES if route.right is not None}
    rules = [rule for role in documents(root / "deploy" / "access" / "readers.yaml") for rule in role["rules"]]
    assert {(path, verb) for rule in rules for path in rule["nonResourceURLs"] for verb in rule["verbs"]} == wanted


def test_the_account_to_watch_is_the_one_of_the_export(root: Path) -> None:
    """`deploy/access/watch.yaml` has the same Namespace and ServiceAccount, and all its roles are bound to that account."""
    objects = documents(root / "deploy" / "access" / "watch.yaml")
    exported = access_objects(AccessChoices("guard", NAMESPACE, "gpol"))
    account = [item for item in exported if item["kind"] in ("Namespace", "ServiceAccount")]
    assert objects[:2] == account
    subjects = [subject for item in objects for subject in item.get("subjects", ())]
    assert len(subjects) == sum(item["kind"] in ("Role", "ClusterRole") for item in objects)
    assert all(subject == {"kind": "ServiceAccount", "name": ACCOUNT, "namespace": NAMESPACE} for subject in subjects)
