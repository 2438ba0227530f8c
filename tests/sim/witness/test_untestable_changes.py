"""Tests of the differences that no test can show: which they are, what is said of them, and which are searched all the same."""

import pytest
from gpol.dsl.analysis.checker import compile_policy
from gpol.dsl.diff.differences import differences
from gpol.sim.witness.untestable_changes import why_untestable

TEXT = """policy "p" { use gpol.fair }
flavor h100 {
  gpu 8
}
flavor a100 { gpu 8 }
flavor rest { cpu 64 }
flavor v100 { gpu from nodes where zone = "b" }
topology fabric { level host from node }
queue nlp { owns nothing }
deny big { where workload.gpu > 4 } because "too big"
"""

CYCLES = """policy "p" {
  use kueue.fair
  usage halves every 7d, sampled every 5m
}
flavor h100 {
  gpu as owned
}
flavor a100 { gpu as owned }
queue nlp {
  serves gpu from h100, a100
  owns 4 gpu on h100
  local queue "t/a"
}
"""


NO_TEST = "no test can show it"
NO_NODES = "not looked for: the tests that are tried have no nodes; one that adds nodes may show it"
NOTHING = "nothing is decided by it"


def told(old: str, new: str, text: str = TEXT) -> list[tuple[str, str]]:
    """What is said of each difference that one passage makes, by the thing that it is about; nothing where it is searched."""
    assert old in text
    before, after = (compile_policy(each, "p.gpol") for each in (text, text.replace(old, new, 1)))
    return [(change.about or str(change.subject), why_untestable(before, after, change)) for change in differences(before, after)]


def tainted(old: str, new: str) -> list[tuple[str, str]]:
    """The same where h100 says one thing of its taints, and then another."""
    lines = [f"flavor h100 {{\n  gpu 8\n  {said}\n" for said in (old, new)]
    return told(*lines, text=TEXT.replace("flavor h100 {\n  gpu 8\n", lines[0]))


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ('policy "p"', 'policy "q"', [("name", "nothing is decided by it")]),
        ('"too big"', '"no"', [("because", "nothing is decided by it")]),
        ("gpu > 4", "gpu > 5", [("where", "")]),
        ("gpu 8", "gpu 9", [("has gpu", "")]),
        (
            "gpu 8",
            'gpu 8\n  label pool = "spot"\n  label zone = "b"',
            [("label", f"{NO_TEST}: tests have no selectors, and it decides about pod sets alone that select nodes by `pool`, `zone`")],
        ),
        ('zone = "b"', 'zone = "c"', [("nodes where", NO_NODES)]),
        ('{ gpu from nodes where zone = "b" }', '{\n  gpu from nodes where zone = "b"\n  placed in fabric\n}', [("placed in", NO_NODES)]),
        ("level host", "level server", [("levels", f"{NOTHING}: no flavor is placed in it")]),
        (
            "topology fabric",
            "topology more { level host from node }\ntopology fabric",
            [("topology more", f"{NOTHING}: no flavor is placed in it")],
        ),
        ('gpu from nodes where zone = "b"', "gpu 2", [("has gpu", ""), ("nodes where", "")]),
        ("use gpol.fair }", "place pods spread }", [("place pods", f"{NOTHING}: no flavor places pods")]),
        ("use gpol.fair }", "when a node is lost wait }", [("when a node is lost", f"{NOTHING}: no flavor places pods")]),
    ],
)  # fmt: skip
def test_what_is_said_of_a_difference(old: str, new: str, expected: list[tuple[str, str]]) -> None:
    """What is only shown, what tests cannot say, and nothing of what is searched."""
    assert told(old, new) == expected


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("  owns 4", "  needs check prov\n  owns 4", [("needs check prov", "nothing is decided by it: it is Kueue that waits for checks")]),
        ("owns 4", "owns 5", [
            ("has gpu", "nothing is decided by it: in cycles there is what is owned"), ("owns gpu on h100", "")]),
        ('"t/a"', '"t/b"', [("local queue t/a", f"{NO_TEST}: tests have no local queues"),
                            ("local queue t/b", f"{NO_TEST}: tests have no local queues")]),
        ("halves every 7d", "halves every 8d", [
            ("usage halves every", f"{NO_TEST}: tests have no local queues, whose usage it is about")]),
        ("  owns 4", "  admits by usage\n  owns 4", [
            ("by usage", f"{NO_TEST}: tests have no local queues, whose usage it is about")]),
    ],
)  # fmt: skip
def test_what_is_said_in_cycles(old: str, new: str, expected: list[tuple[str, str]]) -> None:
    """What is Kueue's to decide, the sum of what is owned, and what local queues are needed for."""
    assert told(old, new, CYCLES) == expected


ALIKE = "nothing is decided by it: the same pod sets are kept off h100 under both policies"
NOBODY = "nothing is decided by it: it keeps nobody off h100 and lets nobody on it"
TOLERATES = (
    f"{NO_TEST}: tests have no tolerations; a pod set that tolerates {{}}, and nothing else, is kept off h100 under the {{}} policy only"
)


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("", "taint a NoSchedule", [("taint", "")]),
        ("taint a NoSchedule", "taint a NoSchedule\n  tolerates a", [("tolerates", "")]),
        ("taint a NoSchedule", "tolerates a", [("taint", ""), ("tolerates", "")]),
        ("taint a NoSchedule", "tolerates b", [("taint", ""), ("tolerates", NOBODY)]),
        ("", "taint a PreferNoSchedule", [("taint", ALIKE)]),
        ("", "tolerates a", [("tolerates", ALIKE)]),
        ("", "taint a NoSchedule\n  tolerates a", [("taint", ALIKE), ("tolerates", ALIKE)]),
        (
            'taint a = "1" NoSchedule',
            'taint a = "1" NoSchedule\n  taint b NoExecute',
            [("taint", TOLERATES.format('a = "1" NoSchedule', "new"))],
        ),
        (
            "taint a NoSchedule\n  taint b NoExecute",
            "taint a NoSchedule\n  taint b NoExecute\n  tolerates b",
            [("tolerates", TOLERATES.format("a NoSchedule", "old"))],
        ),
        (
            "taint a NoSchedule\n  taint b NoExecute",
            "taint a NoSchedule\n  taint c NoExecute",
            [("taint", TOLERATES.format("a NoSchedule and b NoExecute", "new"))],
        ),
    ],
)
def test_what_is_said_of_taints(old: str, new: str, expected: list[tuple[str, str]]) -> None:
    """Searched where it decides about pod sets without tolerations; else whom it decides about, or that it decides about nobody."""
    assert tainted(old, new) == expected


NO_SHARES = "nothing is decided by it: nothing goes by shares"
CANCELS = "nothing is decided by it: no other flavor has a resource of {}, so that its worth cancels out of every share"


@pytest.mark.parametrize(
    ("old", "new", "header", "expected"),
    [
        ("gpu 8\n", "gpu 8\n  worth 2\n", "use gpol.fair", ""),
        ("gpu 8\n", "gpu 8\n  worth 2\n", "share none", NO_SHARES),
        ("gpu 8\n", "gpu 8\n  worth 2\n", "order queues by submitted asc\n  preempt by nothing", NO_SHARES),
        ("gpu 8\n", "gpu 8\n  worth 2\n", "order queues by submitted asc", ""),  # the rules of the profile read shares
        ("gpu 8\n", "gpu 8\n  worth 2\n", "preempt by nothing", ""),  # and so does its order
        ("cpu 64 }", "\n  cpu 64\n  worth 2\n}", "use gpol.fair", CANCELS.format("rest")),
        ("cpu 64 }", "\n  cpu 64\n  worth 2\n}", "share borrowed rounded", ""),
        ("cpu 64 }", "\n  cpu 64\n  gpu 1\n  worth 2\n}", "use gpol.fair", ""),
    ],
)
def test_what_is_said_of_worth(old: str, new: str, header: str, expected: str) -> None:
    """Nothing goes by shares, or it cancels out; where either may be otherwise, it is searched."""
    found = dict(told(old, new, TEXT.replace('"p" { use gpol.fair }', f'"p" {{\n  {header}\n}}')))
    assert found["worth"] == expected


@pytest.mark.parametrize(("profile", "expected"), [("kueue.fair", ""), ("kueue.classical", NO_SHARES)])
def test_what_is_said_of_worth_in_cycles(profile: str, expected: str) -> None:
    """Fair preemption goes by shares, classical does not."""
    text = CYCLES.replace("kueue.fair", profile)
    assert told("gpu as owned\n", "gpu as owned\n  worth 2\n", text) == [("worth", expected)]


# --- places -----------------------------------------------------------------------------------------------------------

PLACED = TEXT.replace('{ gpu from nodes where zone = "b" }', '{\n  gpu from nodes where zone = "b"\n  placed in fabric\n}')
PLACED_IN_CYCLES = CYCLES.replace("flavor h100 {\n  gpu as owned", "flavor h100 {\n  gpu as owned\n  placed on nodes")


@pytest.mark.parametrize(
    ("choice", "about", "why"),
    [
        ("place pods spread", "place pods", NO_NODES),
        ("place pods keeping room for 1 gpu", "place pods", NO_NODES),
        ("when a node is lost evict", "when a node is lost", NO_NODES),
    ],
)
def test_choices_about_places(choice: str, about: str, why: str) -> None:
    """Where a flavor is placed, they show where there are nodes."""
    assert told("use gpol.fair }", f"{choice} }}", text=PLACED) == [(about, why)]


@pytest.mark.parametrize("default", ["place pods packed", "when a node is lost replace pods"])
def test_a_default_that_is_written_out(default: str) -> None:
    """It is no change."""
    assert told("use gpol.fair }", f"{default} }}", text=PLACED) == []


@pytest.mark.parametrize(
    ("check", "why"),
    [("prov for nodes", NO_NODES), ("prov on h100 for nodes", NO_NODES), ("prov on a100 for nodes", ""), ("prov", "")],
)
def test_checks_for_nodes(check: str, why: str) -> None:
    """They say when pods get places, where a flavor of theirs is placed; Kueue waits for all others."""
    nothing = f"{NOTHING}: it is Kueue that waits for checks"
    found = told("  owns 4", f"  needs check {check}\n  owns 4", text=PLACED_IN_CYCLES)
    assert found == [("needs check prov", why or nothing)]
