"""Tests of hybrids: one policy with a single thing as another has it."""

import pytest
from gpol.dsl.analysis.checker import check
from gpol.dsl.diff.differences import differences
from gpol.sim.drive.policy import Policy
from gpol.sim.witness.single_change import with_change

TEXT = """policy "p" {
  preempt by reclaim-owned, fair-share, make-room
}
flavor h100 { gpu 8 }
flavor a100 {
  gpu 8
  worth 2
}
priority batch 100
cohort research {
  queue nlp {
    owns 4 gpu on h100
    only h100
  }
  queue vision { owns 4 gpu on h100 }
}
cohort teaching {
  queue students { owns nothing }
}
protect warm-up for nlp, vision { where victim.running < 10m }
deny too-big for students { where workload.gpu > 4 } because "too big"
hold racks for teaching because "moving"
"""

VISION = "queue vision { owns 4 gpu on h100 }"

CYCLES = """policy "p" { use kueue.fair }
flavor h100 { gpu as owned }
flavor a100 { gpu as owned }
cohort research {
  queue nlp {
    serves gpu from h100, a100
    owns 4 gpu on h100
    reclaims from anyone
    borrows by evicting lower priority up to 5
  }
  queue vision { serves gpu from a100 }
}
"""


def policy(text: str) -> Policy:
    """A policy of a text without errors."""
    checked = check(text, "p.gpol")
    assert checked.errors == ()
    return Policy.of(checked)


PLACES = """policy "p" { use kueue.fair }
topology fabric {
  level rack from label "rack"
  level host from node
}
topology islands { level host from node }
flavor a100 {
  gpu as owned
  placed in islands
}
flavor h100 { gpu as owned }
queue nlp { serves gpu from h100, a100 }
"""


@pytest.mark.parametrize(
    ("text", "old", "new"),
    [
        (TEXT, "only h100", "only a100, h100"),
        (TEXT, "owns 4 gpu on h100\n    only", "owns 3 gpu on h100\n    only"),
        (TEXT, "owns 4 gpu on h100\n    only", "owns 4 gpu on h100\n    weight 2\n    only"),
        (TEXT, "  queue vision {", "  weight 3\n  queue vision {"),
        (TEXT, "worth 2", "worth 3"),
        (TEXT, "worth 2", 'worth 2\n  label zone = "a"'),
        (TEXT, "batch 100", "batch 99"),
        (TEXT, "priority batch 100", "priority batch 100\npriority high 200"),
        (TEXT, "reclaim-owned, fair-share", "fair-share, reclaim-owned"),
        (TEXT, "10m", "20m"),
        (TEXT, "for nlp, vision", "for vision"),
        (TEXT, "for nlp, vision", "for research, students"),
        (TEXT, "workload.gpu > 4", "workload.gpu > 5"),
        (TEXT, 'hold racks for teaching because "moving"\n', ""),
        (TEXT, "hold racks", 'deny more for nlp { where workload.gpu > 7 } because "no"\nhold racks'),
        (
            TEXT,
            "  queue vision { owns 4 gpu on h100 }\n}\ncohort teaching {",
            "}\ncohort teaching {\n  queue vision { owns 4 gpu on h100 }",
        ),
        (CYCLES, "reclaims from anyone", "reclaims from lower priority"),
        (CYCLES, " up to 5", ""),
        (CYCLES, "flavor h100 { gpu as owned }", "flavor h100 {\n  gpu as owned\n  placed on nodes\n}"),
        (PLACES, "  placed in islands\n", ""),
        (PLACES, "placed in islands", "placed in fabric"),
        (PLACES, "placed in islands", "placed on nodes"),
        (PLACES, 'label "rack"', 'label "row"'),
        (PLACES, "flavor h100 { gpu as owned }", "flavor h100 {\n  gpu as owned\n  placed in fabric\n}"),
        (CYCLES, "vision { serves gpu from a100 }", "vision { serves gpu from h100, a100 }"),
        (CYCLES, "use kueue.fair", "use kueue.fair\n  preempt fairly by final share"),
        (CYCLES, "use kueue.fair", "use kueue.fair\n  decide in cycles of 2s"),
        (CYCLES, "use kueue.fair", "use kueue.fair\n  usage halves every 7d, sampled every 5m"),
    ],
)
def test_all_changes_one_after_the_other_make_the_other_policy(text: str, old: str, new: str) -> None:
    """Each change carried over is no difference any more, and nothing else becomes one."""
    assert old in text
    base, other = policy(text), policy(text.replace(old, new, 1))
    changes = list(differences(base.graph, other.graph))
    while changes:
        made = with_change(base, other, changes[0])
        assert made is not None
        left = list(differences(made.graph, other.graph))
        assert len(left) < len(changes)
        base, changes = made, left
    assert base.graph.nodes[0].children == other.graph.nodes[0].children


def test_numbers_are_those_of_the_place_of_arrival() -> None:
    """What is carried to a policy that has other queues and flavors means the same there by name."""
    other = TEXT.replace("only h100", "only h100, a100").replace("10m", "20m").replace("for nlp, vision", "for nlp")
    other = other.replace("flavor h100", "flavor a0 { gpu 1 }\nflavor h100").replace("  queue nlp", "  queue all { }\n  queue nlp")
    base, new = policy(TEXT), policy(other)
    carried = [change for change in differences(base.graph, new.graph) if change.subject.name in ("nlp", "warm-up")]
    assert [change.about for change in carried] == ["flavors", "for", "where"]
    for change in carried:
        made = with_change(base, new, change)
        assert made is not None
        [left] = differences(base.graph, made.graph)
        assert (left.subject, left.about, left.old, left.new) == (change.subject, change.about, change.old, change.new)


@pytest.mark.parametrize(
    ("old", "new"),
    [("queue vision", "queue image"), ("cohort teaching {\n", "cohort teaching {\n  queue more { }\n"), ("flavor a100", "flavor v100")],
)
def test_what_cannot_stand_alone_has_no_graph_with_change(old: str, new: str) -> None:
    """A queue or flavor that is new, gone or renamed is what other things hang on."""
    text = TEXT.replace("nlp, vision", "nlp")
    base, other = policy(text), policy(text.replace(old, new))
    whole = [change for change in differences(base.graph, other.graph) if not change.about]
    assert whole
    assert {with_change(base, other, change) for change in whole} == {None}
