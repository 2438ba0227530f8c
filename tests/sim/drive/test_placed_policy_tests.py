"""Tests of policies in which pods get places: `expect w admitted on nodes ...` holds where the policy's way of placing leads."""

import importlib.util
import re
from collections.abc import Iterable
from pathlib import Path

import pytest
from gpol.dsl.analysis.checker import check
from gpol.sim.drive.policy import Policy
from gpol.sim.drive.policy_tests import UnmetExpectation, run_test

POLICY = """policy "places" {{
  use gpol.fair
  {choice}
}}
topology fabric {{
  level block from label "block"
  level rack from label "rack"
  level host from node
}}
flavor h100 {{
  gpu, cpu from nodes where pool = "h"
  placed in fabric
}}
queue lab {{ owns 0 gpu }}
test "places" {{
"""

RACKS = {"a1": "r1", "a2": "r1", "b1": "r2", "b2": "r2", "c1": "r3", "c2": "r3"}
"""The nodes of a cluster, with their racks; the third rack is a block of its own."""

PACKED, SPREAD, KEEPING = "place pods packed", "place pods spread", "place pods keeping room for"


def node(name: str, amounts: str = "8 gpu and 64 cpu", more: str = "", at: str = "0s") -> str:
    """The step that says what a node of the cluster has, and maybe more."""
    rack = RACKS[name]
    block = "k2" if rack == "r3" else "k1"
    return f'at {at} node {name} {{ {amounts}, label pool = "h", label block = "{block}", label rack = "{rack}"{more} }}'


CLUSTER = {name: node(name) for name in RACKS}


def failures(text: str) -> tuple[UnmetExpectation, ...]:
    """What is not met in the only test of a policy."""
    checked = check(text, "places.gpol")
    assert checked.errors == ()
    [test] = checked.tests
    return run_test(Policy.of(checked), test).failures


def played(choice: str, nodes: Iterable[str], *steps: str) -> list[str]:
    """What was the case instead of what was expected, in a test on these nodes."""
    text = POLICY.format(choice=choice) + "".join(f"  {step}\n" for step in (*nodes, *steps)) + "}\n"
    return [failure.found for failure in failures(text)]


def stands(choice: str, pods: str, on: str, *before: str, nodes: Iterable[str] = CLUSTER.values()) -> list[str]:
    """What is the case instead of that these pods stand on these nodes, once others were submitted."""
    steps = [f"at 0s submit before-{number} by lab {{ {each} }}" for number, each in enumerate(before)]
    return played(choice, nodes, *steps, f"at 1s submit w by lab {{ {pods} }}", f"expect w admitted on nodes {on}")


def in_vain(choice: str, pods: str, reason: str, *before: str) -> list[str]:
    """What is the case instead of that these pods wait for a reason, once others were submitted."""
    steps = [f"at 0s submit before-{number} by lab {{ {each} }}" for number, each in enumerate(before)]
    steps += [f"at 1s submit w by lab {{ {pods} }}", f"expect w pending because {reason}"]
    return played(choice, CLUSTER.values(), *steps)


# --- three ways ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("choice", "pods", "on"),
    [
        ("queueing best effort", "2 gpu", "a1"),
        (PACKED, "2 gpu", "a1"),
        (SPREAD, "2 gpu", "a2"),
        (f"{KEEPING} 8 gpu", "2 gpu", "a1"),
        (PACKED, "gang of 3 x 4 gpu", "b1, b2"),
        (PACKED, "gang of 4 x 2 gpu", "a2"),
        (SPREAD, "gang of 4 x 2 gpu", "a2"),
        (PACKED, "gang of 5 x 2 gpu", "a1, a2"),
        (SPREAD, "gang of 5 x 2 gpu", "b1, b2"),
        (SPREAD, "gang of 6 x 4 gpu within block", "a2, b1, b2"),
        (PACKED, "gang of 6 x 4 gpu within block", "a2, b1, b2"),
        (PACKED, "gang of 4 x 4 gpu within block", "c1, c2"),
        (PACKED, "gang of 8 x 1 gpu within block", "c1"),
        (SPREAD, "gang of 8 x 1 gpu within block", "a2, b1, b2"),
    ],
)
def test_where_pods_stand_beside_others(choice: str, pods: str, on: str) -> None:
    """With 5 GPUs of a1 in use: packed (the default) on the fullest node, rack or block that holds all; spread, on the emptiest."""
    assert stands(choice, pods, on, "5 gpu") == []


@pytest.mark.parametrize(
    ("choice", "pods", "on"),
    [
        (PACKED, "2 gpu", "a1"),
        (f"{KEEPING} 4 gpu", "2 gpu", "a2"),
        (f"{KEEPING} 8 gpu", "2 gpu", "a1"),
        (f"{KEEPING} 2 gpu and 40 cpu", "30 cpu", "b1"),
        (PACKED, "30 cpu", "a1"),
        (f"{KEEPING} 4 gpu, 3 gpu", "gang of 2 x 1 gpu within rack", "a1, a2"),
    ],
)
def test_room_is_kept_for_pods_of_a_size(choice: str, pods: str, on: str) -> None:
    """Of 5, 6 and 1 free GPUs, 2 are taken where 4 fit afterwards as well; CPUs are taken where no GPUs wait for them."""
    nodes = [node("a1", "5 gpu and 64 cpu"), node("a2", "6 gpu and 64 cpu"), node("b1", "1 gpu and 64 cpu")]
    assert stands(choice, pods, on, nodes=nodes) == []


@pytest.mark.parametrize(("sizes", "on"), [("4 gpu, 3 gpu", "a2"), ("3 gpu, 4 gpu", "a1"), ("4 gpu", "a2"), ("3 gpu", "a1")])
def test_the_first_size_is_the_most_important(sizes: str, on: str) -> None:
    """On a1 one GPU less is one pod of 4 less, on a2 one pod of 3 less: which of the two is lost is for the order of sizes to say."""
    nodes = [node("a1", "4 gpu"), node("a2", "6 gpu")]
    assert stands(f"{KEEPING} {sizes}", "1 gpu", on, nodes=nodes) == []


# --- what pods ask for -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("pods", "on"),
    [
        ("gang of 3 x 4 gpu within rack", "b1, b2"),
        ("gang of 3 x 4 gpu within block", "c1, c2"),
        ("gang of 3 x 4 gpu near rack", "b1, b2"),
        ("gang of 6 x 4 gpu near rack", "a2, b1, b2"),
        ("gang of 10 x 4 gpu near rack", "a2, b1, b2, c1, c2"),
        ("gang of 10 x 4 gpu anywhere", "a2, b1, b2, c1, c2"),
        ("3 gpu within host", "a1"),
    ],
)
def test_within_near_and_anywhere(pods: str, on: str) -> None:
    """With 5 GPUs of a1 in use: within a level all stand in one domain of it; near it, in a wider one where they have to."""
    assert stands(PACKED, pods, on, "5 gpu") == []


@pytest.mark.parametrize(
    ("pods", "reason"),
    [
        ("gang of 5 x 4 gpu within rack", "TopologyPlacementFailed"),
        ("gang of 9 x 4 gpu within block", "TopologyPlacementFailed"),
        ("gang of 8 x 4 gpu within block", "TopologyPlacementFailed"),
        ("gang of 3 x 2 gpu within block in slices of 2 within host", "TopologyPlacementFailed"),
        ("gang of 2 x 9 gpu anywhere", "PodTooLarge"),
    ],
)
def test_what_finds_no_places_waits(pods: str, reason: str) -> None:
    """For ever where empty nodes have none either, else until there are some, though as many GPUs are free."""
    assert in_vain(PACKED, pods, reason, "5 gpu") == []


@pytest.mark.parametrize(
    ("choice", "pods", "on"),
    [
        (PACKED, "gang of 4 x 4 gpu within block in slices of 2 within host", "c1, c2"),
        (SPREAD, "gang of 4 x 4 gpu within block in slices of 2 within host", "a2, b1"),
        (PACKED, "gang of 6 x 1 gpu within block in slices of 3 within rack in slices of 3 within host", "c1"),
        (SPREAD, "gang of 6 x 1 gpu within block in slices of 3 within rack in slices of 3 within host", "a2, b1"),
        (PACKED, "gang of 12 x 2 gpu near rack in slices of 4 within host", "a2, b1, b2"),
    ],
)
def test_slices(choice: str, pods: str, on: str) -> None:
    """With 5 GPUs of a1 in use: the pods of a slice stand in one domain of its level, and slices are packed or spread."""
    assert stands(choice, pods, on, "5 gpu") == []


def test_a_leader_stands_where_its_group_does() -> None:
    """Together they need a rack that has room for both; by themselves they may stand in two, and a leader too many is one too many."""
    group = "group first {{ {} within rack, gang of 3 x 4 gpu within rack }}"
    assert stands(PACKED, group.format("4 gpu"), "b1, b2", "4 gpu", "1 gpu") == []
    assert stands(PACKED, group.format("2 cpu"), "a1, a2", "2 gpu") == []
    assert stands(PACKED, "4 gpu within rack, gang of 3 x 4 gpu within rack", "a1, a2", "2 gpu") == ["w runs on a1, b1, b2"]
    assert in_vain(PACKED, group.format("5 gpu"), "TopologyPlacementFailed") == []


# --- nodes that take no pods -----------------------------------------------------------------------------------------


def test_cordoned_nodes_take_no_pods() -> None:
    """What waits for a rack gets it as soon as its node is open again; whoever runs stays."""
    closed = {**CLUSTER, "a1": node("a1", more=", cordoned")}
    assert stands(PACKED, "2 gpu", "a2", nodes=closed.values()) == []
    assert stands(PACKED, "gang of 2 x 8 gpu within rack", "b1, b2", nodes=closed.values()) == []
    only = [node("a1", more=", cordoned"), node("a2")]
    assert (
        played(
            PACKED,
            only,
            "at 1s submit w by lab { gang of 2 x 8 gpu within rack }",
            "expect w pending",
            node("a1", at="2s"),
            "expect w admitted on nodes a1, a2",
            node("a1", more=", cordoned", at="3s"),
            "expect w admitted on nodes a1, a2",
        )
        == []
    )


@pytest.mark.parametrize(
    ("effect", "tolerates", "on"),
    [
        ("NoSchedule", "worth 1", "a2"),
        ("NoExecute", "worth 1", "a2"),
        ("PreferNoSchedule", "worth 1", "a1"),
        ("NoSchedule", "tolerates slow", "a1"),
        ("NoSchedule", "tolerates other", "a2"),
        ("NoExecute", "tolerates anything", "a1"),
    ],
)
def test_tainted_nodes_take_no_pods_that_do_not_tolerate_it(effect: str, tolerates: str, on: str) -> None:
    """The flavor's tolerations are those of its pods."""
    nodes = [node("a1", more=f", taint slow {effect}"), node("a2")]
    text = POLICY.format(choice=PACKED).replace("placed in fabric", f"placed in fabric\n  {tolerates}")
    steps = (*nodes, "at 1s submit w by lab { 2 gpu }", f"expect w admitted on nodes {on}")
    assert failures(text + "".join(f"  {step}\n" for step in steps) + "}\n") == ()


# --- what is told ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("pods", "wanted", "found"),
    [
        ("gang of 2 x 8 gpu on h100", "a2, a1", None),
        ("gang of 2 x 4 gpu on h100", "a1", None),
        ("8 gpu on h100", "a2", ("w admitted on nodes a2", "w runs on a1")),
        ("gang of 2 x 8 gpu on h100", "a1", ("w admitted on nodes a1", "w runs on a1, a2")),
        ("8 gpu on h100", "b1, a1", ("w admitted on nodes a1, b1", "w runs on a1")),
        ("2 gpu on a100", "a1", ("w admitted on nodes a1", "w runs on no known nodes")),
        ("2 gpu on a100, 2 gpu on h100", "a1", None),
    ],
)
def test_nodes_of_an_admission_are_compared(pods: str, wanted: str, found: tuple[str, str] | None) -> None:
    """All nodes on which its pods stand, each once and in any order; pods of a flavor that is an amount stand nowhere."""
    text = POLICY.format(choice=PACKED).replace("queue lab", "flavor a100 { gpu 8 }\nqueue lab").replace("owns 0 gpu", "owns 0 gpu on a100")
    steps = [*CLUSTER.values(), f"at 1s submit w by lab {{ {pods} }}", f"expect w admitted on nodes {wanted}"]
    text += "".join(f"  {step}\n" for step in steps)
    assert failures(text + "}\n") == (() if found is None else (UnmetExpectation(text.count("\n"), *found),))


# --- whom to evict for a rack ----------------------------------------------------------------------------------------

RACKS_POLICY = (Path(__file__).parent / "gang_in_one_rack.gpol").read_text(encoding="utf-8")
ORDERS = {"desc": ["v4", "v5"], "asc": ["v1", "v2"]}
"""The order of victims by their admission, and whom a search goes for that only counts GPUs."""


def results(text: str) -> list[tuple[UnmetExpectation, ...]]:
    """What is not met in each test of a policy."""
    checked = check(text, "gang_in_one_rack.gpol")
    assert checked.errors == ()
    return [run_test(Policy.of(checked), test).failures for test in checked.tests]


@pytest.mark.parametrize("order", sorted(ORDERS))
def test_the_victim_that_helps_is_found(order: str) -> None:
    """In whichever order victims are tried, one alone has to go, and where nobody helps nobody goes."""
    assert results(RACKS_POLICY.replace("victim.admitted desc", f"victim.admitted {order}")) == [(), (), ()]


@pytest.mark.parametrize("order", sorted(ORDERS))
def test_by_totals_other_victims_have_to_go(order: str) -> None:
    """The same cluster where the flavor is an amount, so that nobody asks for a rack: two others are evicted, also where nobody helps."""
    text = RACKS_POLICY.replace("victim.admitted desc", f"victim.admitted {order}").replace("  placed in fabric\n", "")
    text = re.sub(r" on nodes .*", "", text).replace(" within rack", "")
    helped, nobody, _ = results(text)
    evicted = [f"{name} is pending because WaitingForQuota" for name in ORDERS[order]]
    assert [failure.found for failure in helped] == ["v3 is running, and was never evicted", *evicted]
    assert [failure.found for failure in nobody][:3] == [
        "train is running",
        "v1 is pending because WaitingForQuota",
        "v2 is pending because WaitingForQuota",
    ]


# --- the reference ---------------------------------------------------------------------------------------------------


def test_the_test_of_the_reference_is_played(root: Path) -> None:
    """The gang of docs/language.md stands in its rack, once the racks of its queue are no longer moved."""
    page = root / "tests" / "dsl" / "test_language_reference.py"
    spec = importlib.util.spec_from_file_location(page.stem, page)
    assert spec is not None
    assert spec.loader is not None
    reference = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(reference)
    text = re.sub(r"^hold drained .*\n", "", reference.assembled(), flags=re.MULTILINE)
    checked = check(text, "acme.gpol")
    test = next(test for test in checked.tests if test.name.text == "a gang in one rack")
    assert run_test(Policy.of(checked), test).failures == ()
