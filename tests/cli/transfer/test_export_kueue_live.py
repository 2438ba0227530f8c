"""export kueue --live: what a cluster needs for gpol, printed or written; options without effect are refused."""

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

Gpol = Callable[..., Any]


def test_objects_are_printed(gpol: Gpol, lab: Path) -> None:
    """A policy with rules that Kueue does not have is exported, as gpol decides; what is to be known is on stderr."""
    done = gpol("export", "kueue", "--live", "lab.gpol", "--cover", "cpu", "--check", "mine", "--namespace", "here")
    objects = list(yaml.safe_load_all(done.out))
    [queue] = [item for item in objects if item["kind"] == "ClusterQueue" and item["metadata"]["name"] == "owner"]

    assert done.code == 0
    assert queue["spec"]["resourceGroups"][0]["coveredResources"] == ["cpu", "nvidia.com/gpu", "pods"]
    assert queue["spec"]["admissionChecksStrategy"]["admissionChecks"] == [{"name": "mine"}]
    assert objects[0] == {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "here"}}
    assert "note: resource memory: has no quota" in done.err


def test_objects_are_written(gpol: Gpol, lab: Path) -> None:
    """A file is written and told, also in json; it may be written over while nobody has changed it."""
    for _ in range(2):
        done = gpol("export", "kueue", "--live", "lab.gpol", "-o", "live.yaml")
        assert done.out.startswith("exported 1 Namespace, 1 ServiceAccount, 1 ClusterRole, ")
    [record] = gpol("export", "kueue", "--live", "lab.gpol", "-o", "live.yaml", "--format", "json").records
    assert record["objects"] == len(list(yaml.safe_load_all((lab / "live.yaml").read_text())))
    as_list = json.loads(gpol("export", "kueue", "--live", "lab.gpol", "--json").out)
    assert as_list["items"] == list(yaml.safe_load_all((lab / "live.yaml").read_text()))


def test_rights_to_guard(gpol: Gpol, lab: Path) -> None:
    """With `--way guard` only rights come out, and `--may-delete` and `--reviews` add to them."""
    plain = gpol("export", "kueue", "--live", "lab.gpol", "--way", "guard").out
    more = gpol("export", "kueue", "--live", "lab.gpol", "--way", "guard", "--may-delete", "--reviews").out

    assert "ClusterQueue" not in plain
    assert ("delete" in plain, "tokenreviews" in plain) == (False, False)
    assert ("delete" in more, "tokenreviews" in more) == (True, True)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--check", "x"), "--check: has an effect only with --live"),
        (("--namespace", ""), "--namespace: has an effect only with --live"),
        (("--cover", "cpu"), "--cover: has an effect only with --live"),
        (("--reviews",), "--reviews: has an effect only with --live"),
        (("--live", "--may-delete"), "--may-delete: has no effect with --way decide"),
        (("--live", "--way", "guard", "--check", "x"), "--check: has no effect with --way guard"),
        (("--live", "--way", "guard", "--cover", "cpu"), "--cover: has no effect with --way guard"),
        (("--live", "--check", ""), "--check: `` is no name of an AdmissionCheck"),
        (("--live", "--cover", ""), "--cover: `` is no name of a resource"),
        (("--live", "--namespace", "A"), "--namespace: `A` is no name of a namespace"),
    ],
)
def test_options_without_effect(gpol: Gpol, lab: Path, arguments: tuple[str, ...], said: str) -> None:
    """Each is refused by name, and nothing comes out."""
    done = gpol("export", "kueue", "lab.gpol", *arguments)

    assert (done.code, done.out) == (3, "")
    assert said in done.err


def test_no_client_of_kubernetes_is_loaded(lab: Path) -> None:
    """The command works where the parts of gpol that serve clusters are not installed."""
    script = (
        "import sys\n"
        "from gpol.cli.main import run_command\n"
        "code = run_command(['export', 'kueue', '--live', 'lab.gpol'])\n"
        "loaded = {'kubernetes', 'aiohttp'} & set(sys.modules)\n"
        "sys.exit(f'loaded: {loaded}' if loaded or code else 0)\n"
    )
    done = subprocess.run([sys.executable, "-c", script], cwd=lab, capture_output=True, text=True)

    assert done.returncode == 0, done.stderr
