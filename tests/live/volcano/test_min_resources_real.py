"""The exported admission policy on the Kubernetes project's own API server: who has to say `minResources`, and who is left alone."""

import itertools
import time
from collections.abc import Callable, Iterator
from typing import Any

import go_apiserver
import pytest
from go_apiserver import VOLCANO_CRDS, GoApiServer
from gpol.adapters.volcano.export.live_for_volcano import min_resources_policy
from test_go_apiserver import SECONDS, VOLCANO, Client

pytestmark = pytest.mark.live

Json = dict[str, Any]
GUARDED, ALSO_GUARDED, OTHER = "team.nlp", "vision-2", "other"
ASKED = {"cpu": "2", "nvidia.com/gpu": "8"}
PATH = f"/apis/{VOLCANO}/namespaces/default/podgroups"
MERGE = "application/merge-patch+json"
_names = (f"g{number}" for number in itertools.count())


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[[list[str]], Client]]:
    """Gives a client of a server on which the admission policy for these queues is in force; those that are there from before go."""
    if reason := go_apiserver.available():
        pytest.skip(reason)
    with GoApiServer(tmp_path_factory.mktemp("admission"), crds=(VOLCANO_CRDS,)) as server:
        yield lambda queues: _install(Client(server, server.admin_token), queues)


def _install(admin: Client, queues: list[str]) -> Client:
    """Apply the policy, and wait until it is in force: that takes a moment, and there is nothing that tells."""
    for item in min_resources_policy(queues):
        admin.apply(f"{_plural(item)}/{item['metadata']['name']}", item)
    for queue, is_guarded in [(queue, queue in queues) for queue in (GUARDED, ALSO_GUARDED, OTHER, "default")]:
        probe = group(queue)
        _until(
            lambda probe=probe, is_guarded=is_guarded: admin.call("POST", f"{PATH}?dryRun=All", probe)[0] == (422 if is_guarded else 201)
        )
    return admin


def _plural(item: Json) -> str:
    kind = str(item["kind"]).lower()
    return f"/apis/{item['apiVersion']}/{kind[:-1]}ies" if kind.endswith("y") else f"/apis/{item['apiVersion']}/{kind}s"


def _until(condition: Callable[[], bool]) -> None:
    until = time.monotonic() + SECONDS
    while not condition():
        assert time.monotonic() < until
        time.sleep(0.05)


def group(queue: str | None, asked: Json | None = None) -> Json:
    """A PodGroup in a queue; None: it names none."""
    spec = {"minMember": 2, **({} if queue is None else {"queue": queue}), **({} if asked is None else {"minResources": asked})}
    return {"apiVersion": VOLCANO, "kind": "PodGroup", "metadata": {"name": next(_names)}, "spec": spec}


def made(admin: Client, body: Json) -> str:
    """The path of a PodGroup that was made just now."""
    admin.create(PATH, body)
    return f"{PATH}/{body['metadata']['name']}"


def refused(answer: tuple[int, Json]) -> bool:
    """Whether the admission policy has refused a write; any other refusal is a mistake."""
    status, said = answer
    assert status in (200, 201) or (status, "spec.minResources is missing" in said["message"]) == (422, True), said
    return status == 422


def merged(admin: Client, path: str, **spec: Any) -> bool:
    """Whether an update of fields of the spec was refused."""
    return refused(admin.call("PATCH", path, {"spec": spec}, MERGE))


def test_who_does_not_say_it_is_refused_when_it_is_made(installed: Callable[[list[str]], Client]) -> None:
    """In queues of the policy, also in the one that counts where none is named; in others nothing is asked for."""
    admin = installed([GUARDED, ALSO_GUARDED])
    assert refused(admin.call("POST", PATH, group(GUARDED)))
    assert refused(admin.call("POST", PATH, group(ALSO_GUARDED)))
    assert refused(admin.call("POST", PATH, group(GUARDED, {})))
    assert not refused(admin.call("POST", PATH, group(GUARDED, ASKED)))
    assert not refused(admin.call("POST", PATH, group(OTHER)))
    assert not refused(admin.call("POST", PATH, group(None)))
    admin = installed([GUARDED, "default"])
    for queue in (None, "", "default"):
        assert refused(admin.call("POST", PATH, group(queue)))
    without_spec = {key: value for key, value in group(None).items() if key != "spec"}
    assert refused(admin.call("POST", PATH, without_spec))
    assert not refused(admin.call("POST", PATH, group(None, ASKED)))
    assert not refused(admin.call("POST", PATH, group(ALSO_GUARDED)))


def test_who_does_not_say_it_cannot_come_by_a_change(installed: Callable[[list[str]], Client]) -> None:
    """A PodGroup may come to a queue of the policy by an update only if it says it, and may not take it back there."""
    admin = installed([GUARDED, ALSO_GUARDED])
    path = made(admin, group(OTHER))
    assert merged(admin, path, queue=GUARDED)
    assert not merged(admin, path, queue="another")
    assert not merged(admin, path, queue=GUARDED, minResources=ASKED)
    assert merged(admin, path, minResources=None)
    assert merged(admin, path, minResources=dict.fromkeys(ASKED))  # what is left is an empty map
    assert not merged(admin, path, minResources={"cpu": "1"})
    assert not merged(admin, path, queue=ALSO_GUARDED)
    assert merged(admin, path, queue=GUARDED, minResources=None)
    assert not merged(admin, path, queue=OTHER, minResources=None)
    empty = made(admin, {key: value for key, value in group(None).items() if key != "spec"})
    assert merged(admin, empty, queue=GUARDED)


def test_who_never_said_it_can_still_be_written_to(installed: Callable[[list[str]], Client]) -> None:
    """One from before the admission policy stays where it is: its status and its labels are written, and it may begin to say it."""
    admin = installed([ALSO_GUARDED])
    path, empty = made(admin, group(GUARDED)), made(admin, group(GUARDED, {}))
    unsaid = made(admin, group(None))
    without_spec = made(admin, {key: value for key, value in group(None).items() if key != "spec"})
    installed([GUARDED, ALSO_GUARDED, "default"])
    for each in (path, empty, unsaid, without_spec):
        assert not refused(admin.call("PATCH", each, {"status": {"phase": "Running", "running": 2}}, MERGE))
        assert not refused(admin.call("PATCH", each, {"metadata": {"labels": {"a": "b"}, "finalizers": ["example.com/x"]}}, MERGE))
        assert not refused(admin.call("PATCH", each, {"metadata": {"finalizers": None}}, MERGE))
    assert not merged(admin, path, minMember=3)
    assert merged(admin, path, queue=ALSO_GUARDED)  # a change of queue is a new question
    assert not merged(admin, unsaid, queue="default")  # which is the queue that it was in already
    assert not merged(admin, path, minResources=ASKED)
    assert merged(admin, path, minResources=None)
