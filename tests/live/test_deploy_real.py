"""What installs gpol, applied to the Kubernetes project's own API server, with gpol beside it under the rights that the export gives."""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import go_apiserver
import pytest
from environment import without_variables_of_tests
from fake_serving import write_kubeconfig
from go_apiserver import GoApiServer

pytestmark = pytest.mark.live

GPOL = str(Path(sys.executable).with_name("gpol"))


@pytest.fixture
def server(tmp_path: Path) -> Iterator[GoApiServer]:
    """An API server with Kueue's kinds, on a machine with kubectl."""
    if reason := go_apiserver.available() or ("" if shutil.which("kubectl") else "kubectl is not installed"):
        pytest.skip(reason)
    with GoApiServer(tmp_path / "cluster") as made:
        yield made


def kubectl(server: GoApiServer, *arguments: str, given: str = "") -> str:
    """What kubectl prints; it has to end well."""
    command = ["kubectl", "--kubeconfig", str(server.kubeconfig), *arguments]
    done = subprocess.run(command, input=given, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def install(server: GoApiServer, root: Path, folder: Path, *components: str) -> str:
    """Apply the export of the base's policy and the base with some components; give a token of gpol's service account."""
    policy = str(root / "deploy" / "kustomize" / "base" / "policy.gpol")
    exported = subprocess.run([GPOL, "export", "kueue", "--live", "--reviews", policy], capture_output=True, text=True, check=True).stdout
    kubectl(server, "apply", "-f", "-", given=exported)
    overlay = folder / "overlay"
    overlay.mkdir()
    base, *others = (os.path.relpath(root / "deploy" / "kustomize" / name, overlay.resolve()) for name in ("base", *components))
    (overlay / "kustomization.yaml").write_text(json.dumps({"resources": [base], "components": others}))
    kubectl(server, "apply", "-k", str(overlay))
    return kubectl(server, "create", "token", "gpol", "-n", "gpol-system").strip()


def test_the_objects_are_taken(root: Path, tmp_path: Path, server: GoApiServer) -> None:
    """Each of them, those of the components too, passes the server's own checks, under `restricted`; applied again none changes."""
    install(server, root, tmp_path, "tls", "volcano")
    kubectl(server, "label", "namespace", "gpol-system", "pod-security.kubernetes.io/enforce=restricted")
    template = json.loads(kubectl(server, "get", "deployment", "gpol", "-n", "gpol-system", "-o", "json"))["spec"]["template"]
    pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "gpol", "namespace": "gpol-system"}, "spec": template["spec"]}
    kubectl(server, "create", "-f", "-", given=json.dumps(pod))
    said = kubectl(server, "apply", "-k", str(tmp_path / "overlay")).splitlines()
    assert len(said) == 7
    assert all(line.endswith(" unchanged") for line in said), said


@pytest.mark.parametrize("made_by", ["create", "apply"])
def test_the_way_back_to_kueues_own_quotas(root: Path, tmp_path: Path, server: GoApiServer, made_by: str) -> None:
    """What the page on live clusters saves before the export, and applies after it, gives each object the spec that it had."""
    quota = {"name": "h100", "resources": [{"name": "nvidia.com/gpu", "nominalQuota": "8"}]}
    groups = [{"coveredResources": ["nvidia.com/gpu"], "flavors": [quota]}]
    spec = {"cohortName": "team", "namespaceSelector": {}, "queueingStrategy": "StrictFIFO", "resourceGroups": groups}
    old = {"apiVersion": "kueue.x-k8s.io/v1beta2", "kind": "ClusterQueue", "metadata": {"name": "everybody"}, "spec": spec}
    cohort = {
        "apiVersion": "kueue.x-k8s.io/v1beta2",
        "kind": "Cohort",
        "metadata": {"name": "team"},
        "spec": {"fairSharing": {"weight": "2"}},
    }
    for item in (old, cohort):
        kubectl(server, made_by, "-f", "-", given=json.dumps(item))

    def specs() -> object:
        found = json.loads(kubectl(server, "get", "clusterqueues,cohorts", "-o", "json"))["items"]
        return {item["metadata"]["name"]: item["spec"] for item in found}

    before = specs()
    save, back = re.findall(r"^kubectl .*before\.yaml$", (root / "docs" / "live.md").read_text(), re.MULTILINE)
    environment = {**os.environ, "KUBECONFIG": str(server.kubeconfig)}
    subprocess.run(save, shell=True, cwd=tmp_path, env=environment, check=True)
    policy = str(root / "deploy" / "kustomize" / "base" / "policy.gpol")
    exported = subprocess.run([GPOL, "export", "kueue", "--live", policy], capture_output=True, text=True, check=True).stdout
    kubectl(server, "apply", "-f", "-", given=exported)
    assert "admissionChecksStrategy" in str(specs())
    subprocess.run(back, shell=True, cwd=tmp_path, env=environment, check=True)
    assert specs() == before


def asked(port: int, path: str, token: str) -> int:
    """The status of an answer."""
    request = urllib.request.Request(f"http://127.0.0.1:{port}{path}", headers={"Authorization": f"Bearer {token}"})
    try:
        with urllib.request.urlopen(request, timeout=60) as answer:
            status: int = answer.status
            return status
    except urllib.error.HTTPError as error:
        return error.code


def test_gpol_has_the_rights_it_needs_and_readers_have_theirs(root: Path, tmp_path: Path, server: GoApiServer) -> None:
    """With the token of its account nothing is missing; a token of the cluster opens what a role allows, and nothing else."""
    token = install(server, root, tmp_path, "tls")
    write_kubeconfig(tmp_path / "kubeconfig", server.url, token=token, authority=server.certificates)
    environment = {
        **without_variables_of_tests(),
        "GPOL_KUBERNETES__KUBECONFIG": str(tmp_path / "kubeconfig"),
        "GPOL_POLICY": str(root / "deploy" / "kustomize" / "base" / "policy.gpol"),
        "GPOL_JOURNAL": str(tmp_path / "journal.db"),
        "GPOL_KUEUE__WAY": "decide",
        "GPOL_HTTP__PORT": "0",
        "GPOL_HTTP__KUBERNETES_TOKENS": "true",
    }
    checked = subprocess.run([GPOL, "serve", "--check"], env=environment, capture_output=True, text=True, check=False)
    assert (checked.returncode, checked.stderr) == (0, ""), checked.stdout + checked.stderr
    kubectl(server, "apply", "-f", str(root / "deploy" / "access" / "readers.yaml"))
    kubectl(server, "create", "serviceaccount", "reader", "-n", "default")
    kubectl(server, "create", "clusterrolebinding", "readers", "--clusterrole=gpol:reader", "--serviceaccount=default:reader")
    reader = kubectl(server, "create", "token", "reader", "-n", "default").strip()
    log = tmp_path / "log"
    with log.open("wb") as file:
        process = subprocess.Popen([GPOL, "serve"], env=environment, stderr=file)
    try:
        end = time.monotonic() + 60
        port = 0
        while not port or asked(port, "/readyz", reader) != 200:
            assert process.poll() is None, log.read_text()
            assert time.monotonic() < end, log.read_text()
            time.sleep(0.1)
            served = re.search(r"serving at http://127\.0\.0\.1:(\d+)\n", log.read_text())
            port = int(served[1]) if served is not None else 0
        paths = ("/v1/journal/head", "/v1/state", "/v1/explain/default/nobody", "/metrics")
        assert [asked(port, path, reader) for path in paths] == [200, 200, 404, 403]
        assert asked(port, "/v1/state", "a-token-of-nobody") == 401
        process.send_signal(signal.SIGTERM)
        assert process.wait(60) == 0, log.read_text()
    finally:
        process.kill()
        process.wait()
