"""`gpol import kueue`: the moment of the dumps, and what is counted as imported."""

from commands import Gpol
from kueue_objects import FLAVOR, LOCAL, NOW, Object, listed, made, queue, workload

OUT = ("-o", "p.gpol", "--facts", "f.jsonl")


def undated(name: str) -> Object:
    """A workload that does not say when it was created."""
    whole = workload(name, 2)
    del whole["metadata"]["creationTimestamp"]
    return whole


def finished(name: str) -> Object:
    """A workload that is over."""
    whole = workload(name, 2)
    whole["status"] = {"conditions": [{"type": "Finished", "status": "True", "reason": "Succeeded", "lastTransitionTime": NOW}]}
    return whole


def without_pods(name: str) -> Object:
    """A workload that is left out, as it has no pods."""
    whole = workload(name, 2)
    whole["spec"]["podSets"][0]["count"] = 0
    return whole


def test_a_moment_before_the_dumps_is_refused_once(gpol: Gpol) -> None:
    """It used to be told of every workload, as "created after it was submitted"."""
    dump = listed(FLAVOR, queue(), LOCAL, *(workload(f"w{number}", 2) for number in range(3)))
    done = gpol("import", "kueue", "-", *OUT, "--at", "2026-02-28T00:00:00Z", stdin=dump)

    assert done.code == 3
    assert done.err == (
        "gpol: --at: 2026-02-28T00:00:00Z is before 2026-03-01T00:00:00Z, which an object names; give that moment or a later one\n"
    )


def test_workloads_without_any_time_need_a_moment(gpol: Gpol) -> None:
    """They used to be imported as of 1970."""
    dump = listed(FLAVOR, queue(), LOCAL, undated("w"))
    refused = gpol("import", "kueue", "-", *OUT, stdin=dump)
    imported = gpol("import", "kueue", "-", *OUT, "--at", NOW, stdin=dump)

    assert (refused.code, refused.err) == (
        3,
        "gpol: the objects name no time; give the moment of the dumps with --at; nothing was imported\n",
    )
    assert (imported.code, imported.out.splitlines()[-1][-20:]) == (0, NOW)


def test_queues_alone_have_no_moment(gpol: Gpol) -> None:
    """They used to be imported "as of 1970-01-01T00:00:00Z"."""
    done = gpol("import", "kueue", "-", *OUT, stdin=listed(FLAVOR, queue()))
    assert (done.code, done.out) == (0, "imported 1 ClusterQueue, 0 Cohorts, 0 LocalQueues, 1 ResourceFlavor and 0 Workloads\n")


def test_what_is_left_out_is_not_counted_as_imported(gpol: Gpol) -> None:
    """A LocalQueue without its ClusterQueue, and workloads without pods or that finished, used to be counted."""
    elsewhere = made("LocalQueue", "elsewhere", {"clusterQueue": "nowhere"}, "n")
    dump = listed(FLAVOR, queue(), LOCAL, elsewhere, workload("a", 2), without_pods("b"), finished("c"))
    done = gpol("import", "kueue", "-", *OUT, stdin=dump)
    [record] = gpol("import", "kueue", "-", "-o", "p2.gpol", "--format", "json", stdin=dump).records

    assert done.code == 0
    assert done.out.splitlines()[-2:] == [
        f"imported 1 ClusterQueue, 0 Cohorts, 1 LocalQueue, 1 ResourceFlavor and 1 Workload as of {NOW}",
        "left out 1 Workload that finished",
    ]
    assert record["workloads"] == 1


def test_json_without_a_file_holds_the_policy_and_the_notes(gpol: Gpol) -> None:
    """The policy used to be printed as it is, and the notes were told nowhere."""
    [record] = gpol("import", "kueue", "-", "--format", "json", stdin=listed(FLAVOR, queue(wallTime=1))).records
    assert record["text"].startswith('policy "kueue" {\n')
    assert [note["field"] for note in record["notes"]] == ["spec.wallTime"]
