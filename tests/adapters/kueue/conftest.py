"""Objects of Kueue, short to write, and what an import makes of them."""

import json
from collections.abc import Callable
from typing import Any

import pytest
from gpol.adapters.kueue.import_.load import Imported, ImportRefused, load, read_files
from gpol.dsl.analysis.checker import Checked, check
from gpol.dsl.print.formatter import print_tree

NOW = 1_767_409_445_000_000
"""2026-01-03T03:04:05Z."""

Json = dict[str, Any]


class Maker:
    """Makes objects of Kueue, and imports them."""

    now = NOW

    def obj(self, kind: str, name: str, spec: Json | None = None, version: str = "v1beta2", **others: Any) -> Json:
        """An object of any kind; `others` stand beside its spec, `namespace` and what else metadata has in it."""
        metadata = {"name": name, **{key: others.pop(key) for key in ("namespace", "labels", "annotations", "uid") if key in others}}
        metadata |= others.pop("metadata", {})
        group = "" if kind == "Namespace" else "kueue.x-k8s.io/"
        return {"apiVersion": f"{group}{version if group else 'v1'}", "kind": kind, "metadata": metadata, "spec": spec or {}, **others}

    def group(self, resources: str = "cpu", **flavors: Json) -> Json:
        """A resource group; each flavor's quota counts for all its resources."""
        names = resources.split()
        rows = [{"name": flavor, "resources": [{"name": name, **quota} for name in names]} for flavor, quota in flavors.items()]
        return {"coveredResources": names, "flavors": rows}

    def queue(self, name: str = "a", groups: list[Json] | None = None, version: str = "v1beta2", **spec: Any) -> Json:
        """A ClusterQueue that owns 8 cpu of flavor `base` and admits every namespace, unless it says otherwise."""
        groups = [self.group(base={"nominalQuota": "8"})] if groups is None else groups
        return self.obj("ClusterQueue", name, {"resourceGroups": groups, "namespaceSelector": {}, **spec}, version)

    def flavor(self, name: str = "base", **spec: Any) -> Json:
        """A ResourceFlavor."""
        return self.obj("ResourceFlavor", name, spec)

    def local(self, name: str = "lq", queue: str = "a", **spec: Any) -> Json:
        """A LocalQueue in namespace `ns`."""
        return self.obj("LocalQueue", name, {"clusterQueue": queue, **spec}, namespace="ns")

    def pods(self, name: str = "main", count: int = 1, requests: Json | None = None, **template: Any) -> Json:
        """A pod set of one container."""
        container = {"name": "c", "resources": {"requests": {"cpu": "1"} if requests is None else requests}}
        return {"name": name, "count": count, "template": {"spec": {"containers": [container], **template}}}

    def work(self, name: str = "w", sets: list[Json] | None = None, status: Json | None = None, **others: Any) -> Json:
        """A Workload in namespace `ns` by LocalQueue `lq`; `spec` adds to what it says, others to its metadata."""
        spec = {"queueName": "lq", "podSets": sets or [self.pods()], **others.pop("spec", {})}
        return self.obj("Workload", name, spec, namespace="ns", metadata=others, status=status or {})

    def true(self, kind: str, reason: str = "x", time: str = "2026-01-03T01:00:00Z", status: str = "True") -> Json:
        """A condition."""
        return {"type": kind, "status": status, "reason": reason, "lastTransitionTime": time}

    def admitted(self, queue: str = "a", flavor: str = "base", usage: Json | None = None, count: int = 1, *more: Json) -> Json:
        """The status of a workload that holds quota for its pod set `main`."""
        usage = {"cpu": "1"} if usage is None else usage
        given = {"name": "main", "count": count, "flavors": dict.fromkeys(usage, flavor), "resourceUsage": usage}
        return {"admission": {"clusterQueue": queue, "podSetAssignments": [given]}, "conditions": [self.true("QuotaReserved"), *more]}

    # --- importing

    def load(self, *objects: Json, profile: str | None = "kueue.classical", **options: Any) -> Imported:
        """What comes of objects, by way of the text of a dump."""
        dump = json.dumps({"apiVersion": "v1", "kind": "List", "items": objects})
        return load(read_files([("dump.json", dump.encode())]), NOW, profile, **options)

    def checked(self, *objects: Json, profile: str | None = "kueue.classical", **options: Any) -> Checked:
        """The policy of objects, printed and checked."""
        return check(print_tree(self.load(*objects, profile=profile, **options).tree), "kueue.gpol")

    def text(self, *objects: Json, profile: str | None = "kueue.classical", **options: Any) -> str:
        """The policy of objects as text, which has to be a correct policy."""
        made = self.checked(*objects, profile=profile, **options)
        assert [str(error.message) for error in made.errors] == []
        return made.parsed.text

    def notes(self, *objects: Json, profile: str | None = "kueue.classical") -> list[str]:
        """The notes of an import."""
        return [str(note) for note in self.load(*objects, profile=profile).notes]

    def problems(self, *objects: Json, profile: str | None = "kueue.classical") -> list[str]:
        """Why objects are refused, without the name of the file."""
        with pytest.raises(ImportRefused) as caught:
            self.load(*objects, profile=profile)
        return [str(problem).removeprefix("dump.json: ") for problem in caught.value.problems]


@pytest.fixture
def kueue() -> Maker:
    """Makes objects of Kueue, and imports them."""
    return Maker()


@pytest.fixture
def refused() -> Callable[[bytes], str]:
    """Why the bytes of a dump are refused."""

    def why(data: bytes) -> str:
        with pytest.raises(ImportRefused) as caught:
            read_files([("dump.yaml", data)])
        return str(caught.value)

    return why
