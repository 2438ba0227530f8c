"""Tests of what a queue may be given under another policy, as far as the graphs prove it."""

import pytest
from gpol.dsl.analysis.checker import check
from gpol.sim.drive.policy import Policy
from gpol.sim.witness.policy_comparison import queue_changes

TEXT = """policy "p" { ignore memory }
flavor h100 { gpu 8 }
flavor a100 { gpu 8 }
flavor v100 { gpu from nodes where zone = "b" }
priority batch 100
cohort research {
  queue nlp {
    owns 4 gpu on h100
    borrows up to 2 gpu on h100
    borrows up to 4 gpu on a100
    only h100, a100
  }
  queue vision {
    owns 4 gpu on h100
    only h100, v100
  }
}
deny too-big for nlp { where workload.gpu > 6 } because "too big"
protect warm-up { where victim.running < 10m }
"""


def verdict(old: str, new: str, queue: str = "nlp", text: str = TEXT) -> str:
    """The verdict on a queue for one passage replaced."""
    assert old in text
    made = [check(each, "p.gpol") for each in (text, text.replace(old, new, 1))]
    assert [each.errors for each in made] == [(), ()]
    return queue_changes(Policy.of(made[0]), Policy.of(made[1]))[queue]


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("10m", "20m", "equal"),
        ("owns 4", "weight 3\n    owns 4", "equal"),
        ("only h100, a100", "only a100, h100", "equal"),
        ("up to 2 gpu", "up to 3 gpu", "more"),
        ("up to 2 gpu", "up to 1 gpu", "less"),
        ("owns 4 gpu on h100\n    borrows", "owns 3 gpu on h100\n    borrows", "less"),
        ("only h100, a100", "only a100", "less"),
        ("    borrows up to 4 gpu on a100\n", "", "more"),
        ("gpu > 6", "gpu > 7", "more"),
        ("gpu > 6", "gpu > 5", "less"),
        ("gpu > 6", 'gpu > 5 and workload.user = "ada"', "changed"),
        ("only h100, a100", "only h100, a100\n    stopped", "less"),
        ("priority batch 100", "priority batch 100\npriority high 200", "more"),
        ("ignore memory", "ignore cpu", "changed"),
        ("flavor h100 { gpu 8 }", 'flavor h100 {\n  gpu 8\n  taint a NoSchedule\n}', "changed"),
    ],
)  # fmt: skip
def test_what_is_proved_of_a_queue(old: str, new: str, expected: str) -> None:
    """Monotone in what it reaches and in what rules refuse; where neither can be told, it says so."""
    assert verdict(old, new) == expected


MORE_AND_LESS = "up to 3 gpu on h100\n    borrows up to 3 gpu"


def test_more_of_one_flavor_and_less_of_another() -> None:
    """Incomparable is said where amounts alone part, and rules look at nothing."""
    old = "up to 2 gpu on h100\n    borrows up to 4 gpu"
    free = TEXT.replace("for nlp", "for vision")
    assert verdict(old, MORE_AND_LESS, text=free) == "incomparable"
    assert verdict(old, MORE_AND_LESS) == "changed"


def test_a_stopped_queue_stays_stopped() -> None:
    """Where nobody is admitted under either policy, whatever else changes is equal."""
    text = TEXT.replace("only h100, a100", "only h100, a100\n    stopped")
    assert verdict("up to 2 gpu", "up to 3 gpu", text=text) == "equal"
    assert verdict("    stopped\n", "", text=text) == "more"


def test_rules_that_look_at_priorities() -> None:
    """What such a rule refuses hangs on what classes count for."""
    text = TEXT.replace("workload.gpu > 6", "workload.priority > 50")
    assert verdict("batch 100", "batch 99", text=text) == "changed"
    assert verdict("batch 100", "batch 99", text=TEXT) == "equal"


def test_flavors_of_nodes() -> None:
    """Of a flavor whose nodes say how much there is only equal quotas are comparable."""
    assert verdict("10m", "20m", "vision") == "equal"
    assert verdict("only h100, v100", "lends up to 0 gpu on v100\n    only h100, v100", "vision") == "changed"


PLACES = """policy "p" { use kueue.fair }
topology fabric {
  level rack from label "rack"
  level host from node
}
topology islands { level host from node }
flavor h100 {
  gpu as owned
  placed in fabric
}
flavor a100 { gpu as owned }
queue nlp {
  serves gpu from h100
  owns 8 gpu on h100
}
queue vision {
  serves gpu from a100
  owns 8 gpu on a100
}
"""


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("placed in fabric", "placed in islands", "changed"),
        ("  placed in fabric\n", "", "changed"),
        ('label "rack"', 'label "row"', "changed"),
        ("serves gpu from h100", "serves gpu from h100, a100", "changed"),
        ("owns 8 gpu on h100", "owns 9 gpu on h100", "more"),
        ("topology islands", "topology isles", "equal"),
    ],
)
def test_who_gets_places_is_not_compared(old: str, new: str, expected: str) -> None:
    """Of other places nothing is proved; with the same ones, more quota is more."""
    assert verdict(old, new, text=PLACES) == expected


@pytest.mark.parametrize("new", ["  placed in islands\n", ""])
def test_places_of_others_do_not_count(new: str) -> None:
    """A queue whose flavors give no places may be given what it was, whatever other flavors do."""
    assert verdict("  placed in fabric\n", new, queue="vision", text=PLACES) == "equal"
