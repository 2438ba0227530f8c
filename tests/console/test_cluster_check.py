"""`gpol serve --check`: what does not fit of policy, cluster and files is named with what to do, and nothing is written."""

import asyncio
import sqlite3
from pathlib import Path
from typing import Any

import pytest
from fake_apiserver import FakeApiServer
from fake_kinds import ADMISSION_CHECK, CLUSTER_QUEUE, LOCAL_QUEUE, Kind
from fake_serving import write_kubeconfig
from fake_store import FakeStore
from gpol.adapters.kubernetes.api import Api
from gpol.adapters.live.decider import LiveDecider
from gpol.adapters.live.settings.serve_settings import ServeSettings
from gpol.console.policy_file import read_policy
from gpol.console.service import ActivationError, Service
from gpol.console.work.cluster_check import cluster_lacks
from gpol.engine.default_core import thaw
from gpol.journal.journal import Journal

Json = dict[str, Any]
POLICY = """policy "live" { use gpol.fair }
flavor h100 { gpu 8 }
queue research { owns 8 gpu on h100 }
"""
PLACED = POLICY.replace("{ gpu 8 }", '{\n  gpu from nodes where model = "h100"\n  placed on nodes\n}')
BY_RULE = POLICY + 'queue others { for namespace "team-*" }\n'
BY_USER = POLICY + 'deny guests { where workload.user = "guest" } because "closed"\n'
BY_ENTRY = POLICY + 'queue night { local queue "default/night" }\n'
WIDE = {
    "namespaceSelector": {},
    "admissionChecksStrategy": {"admissionChecks": [{"name": "gpol"}]},
    "resourceGroups": [
        {"coveredResources": ["pods"], "flavors": [{"name": "any", "resources": [{"name": "pods", "nominalQuota": "1000000000"}]}]}
    ],
}


def typed(kind: Kind, name: str, spec: Json) -> Json:
    """An object of Kueue."""
    return {"apiVersion": kind.api_version, "kind": kind.name, "metadata": {"name": name}, "spec": spec}


class Site:
    """A cluster with wide ClusterQueues, and a folder with a policy."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.store = folder, FakeStore()
        self.said: Json = {"kueue": {"way": "decide"}, "lease": {"enabled": False}, "journal": str(folder / "journal.db")}
        self.policy: str = POLICY
        self.store.create(ADMISSION_CHECK, typed(ADMISSION_CHECK, "gpol", {"controllerName": "gpol.dev/policy"}))

    def queue(self, name: str, spec: Json = WIDE) -> None:
        """A ClusterQueue."""
        self.store.create(CLUSTER_QUEUE, typed(CLUSTER_QUEUE, name, spec))

    def settings(self) -> ServeSettings:
        """The settings."""
        (self.folder / "policy.gpol").write_text(self.policy)
        has_policy = self.said["kueue"]["way"] != "watch"
        return ServeSettings.model_validate({**self.said, **({"policy": self.folder / "policy.gpol"} if has_policy else {})})

    def lacks(self) -> list[str]:
        """What is said to be missing."""

        async def asked() -> list[str]:
            settings = self.settings()
            policy = await asyncio.to_thread(read_policy, settings.policy) if settings.policy is not None else None
            async with FakeApiServer(self.store) as server, await Api.connect(_kubeconfig(self.folder, server)) as api:
                return [line async for line in cluster_lacks(settings, policy, api)]

        return asyncio.run(asked())


def _kubeconfig(folder: Path, server: FakeApiServer) -> Path:
    return write_kubeconfig(folder / "kubeconfig", server.url)


@pytest.fixture
def site(tmp_path: Path) -> Site:
    """A cluster with the queue of the policy."""
    made = Site(tmp_path)
    made.queue("research")
    return made


def test_what_fits_is_good(site: Site) -> None:
    """Nothing is said, and no journal is made."""
    assert site.lacks() == []
    assert not (site.folder / "journal.db").exists()
    Journal.create(site.folder / "journal.db").close()
    assert site.lacks() == []


def test_a_cluster_queue_without_a_queue_of_the_policy(site: Site) -> None:
    """By no name. Where match rules may decide, nothing is said."""
    site.queue("vision")
    [line] = site.lacks()
    assert line.startswith("ClusterQueue `vision` needs `gpol`, and no queue of the policy is for it")
    site.policy = BY_RULE
    assert site.lacks() == []


def test_a_queue_of_the_policy_without_a_cluster_queue(site: Site) -> None:
    """Or with one that does not need the check."""
    site.policy = POLICY + "queue speech { owns nothing }\nqueue vision { owns nothing }\n"
    site.queue("vision", {**WIDE, "admissionChecksStrategy": {}})
    assert [line.partition(";")[0] for line in site.lacks()] == [
        "queue `speech` has no ClusterQueue `speech` in the cluster",
        "queue `vision`: its ClusterQueue `vision` does not need `gpol`, so Kueue decides there",
    ]


def test_local_queues_of_the_policy_lead_to_cluster_queues(site: Site) -> None:
    """Where they do not, or lead elsewhere, it is said."""
    site.policy = BY_ENTRY
    site.queue("shared")
    assert len(site.lacks()) == 2
    site.store.create(LOCAL_QUEUE, typed(LOCAL_QUEUE, "night", {"clusterQueue": "shared"}), namespace="default")
    assert site.lacks() == []


def test_a_journal_that_is_none_is_named(site: Site) -> None:
    """A folder, a file of another program, a scheme that nobody knows."""
    place = site.folder / "journal.db"
    place.mkdir()
    assert "is a folder" in site.lacks()[0]
    place.rmdir()
    with sqlite3.connect(place) as other:
        other.execute("CREATE TABLE other (a)")
    other.close()
    assert "is a SQLite file, but not a journal" in site.lacks()[0]
    site.said["journal"] = "mongo://host/journal"
    assert "journals in `mongo` are not supported" in site.lacks()[0]


def test_a_journal_of_another_system_is_named(site: Site) -> None:
    """It would be refused at the start."""
    site.settings()
    with LiveDecider.open(str(site.folder / "journal.db"), lambda frozen: thaw(*frozen)) as decider:
        decider.by, decider.note = "gpol serve", "volcano.way decide"
        decider.activate(read_policy(site.folder / "policy.gpol"))
        decider.begin(lambda events: None)
        decider.commit(lambda events: None)
    [line] = site.lacks()
    assert line.startswith("journal: ")
    assert "was written by gpol with `volcano.way: decide`" in line


def test_secrets_are_read_as_at_the_start(site: Site) -> None:
    """A token that all may read, and a certificate that is not there. What is not served needs none."""
    token = site.folder / "token"
    token.write_text("a-token-of-the-tests")
    token.chmod(0o644)
    site.said["http"] = {"token_file": token, "certificate": site.folder / "none.crt", "key": site.folder / "none.key"}
    certificate, of_token = site.lacks()
    assert certificate.startswith("http.certificate: the certificate")
    assert of_token.startswith("http.token_file: the token file")
    site.said["http"]["enabled"] = False
    assert site.lacks() == []


def test_a_configuration_of_kueue_that_cannot_be_read(site: Site) -> None:
    """It is named where gpol watches."""
    site.said["kueue"] = {"way": "watch", "watch": {"configuration": site.folder / "none.yaml"}}
    assert any(line.startswith("kueue.watch.configuration: ") and "cannot be read" in line for line in site.lacks())


@pytest.mark.parametrize(
    ("way", "policy", "said"),
    [
        ("kueue", BY_USER, "does not say who has submitted it"),
        ("volcano", BY_USER, "does not say who has submitted it"),
        ("kueue", PLACED, "when a node is lost"),
        ("volcano", PLACED, "flavor h100: placed: says where pods stand"),
    ],
    ids=["who-kueue", "who-volcano", "places-kueue", "places-volcano"],
)
def test_a_policy_that_the_system_cannot_go_by(site: Site, way: str, policy: str, said: str) -> None:
    """The same is refused as by the live export, by the check and at the start."""
    token = site.folder / "token"
    token.write_text("a-token-of-the-tests")
    token.chmod(0o600)
    extender = {"way": "decide", "extender": {"token_file": token}}
    site.said |= {} if way == "kueue" else {"kueue": {"way": "off"}, "volcano": extender}
    site.policy = policy
    assert any(said in line for line in site.lacks())

    async def start() -> None:
        async with await Api.connect(site.folder / "kubeconfig") as api:
            Service(site.settings(), read_policy(site.folder / "policy.gpol"), api, lambda frozen: thaw(*frozen))

    with pytest.raises(ActivationError, match=said):
        asyncio.run(start())
