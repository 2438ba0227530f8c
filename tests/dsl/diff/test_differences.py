"""Tests for the comparison of two policies' meanings."""

from dataclasses import replace

import graph_mutants
import pytest
from gpol.dsl.analysis.checker import compile_policy
from gpol.dsl.diff.differences import Change, differences, mirrored
from gpol.engine.policy_graph import PolicyGraph

AT_ONCE = """policy "p" {
  order queues by share asc, submitted asc
  preempt by reclaim-owned, fair-share, make-room, cohorts
  default priority batch
  ignore memory
  place pods keeping room for 8 gpu and 2 license, 4 gpu
  when a node is lost evict
}
resource license
flavor h100 {
  gpu 100
  license 4
  worth 2.5
}
flavor a100 {
  gpu from nodes where zone = "b" and rack = "7"
  placed in fabric
}
topology fabric {
  level rack from label "rack"
  level host from node
}
topology islands { level host from node }
priority production 1000 { never evicted }
priority batch 100
cohort research {
  weight 3
  owns 8 gpu on h100
  borrows up to 50 gpu on h100
  queue nlp {
    for namespace "nlp-*" and label "tier" = "prod"
    for user "ada"
    owns 40 gpu on h100
    lends up to 16 gpu on h100
    borrows up to 20 gpu on h100
    weight 2
    prefer h100
    priority at most batch
  }
  queue vision {
    borrows up to 4 gpu on a100
    queueing strict fifo
  }
}
queue serving {
  owns 1 license
  lends nothing on h100
}
preempt cohorts {
  when workload fits what its cohort owns
  evict from queues that borrow, in the same cohort
  where not victim.label "exam" = "yes" and (victim.gpu > 8 or victim.queue.share > workload.queue.share)
  order by victim.gpu asc, victim.admitted desc
}
protect warm-up for nlp, vision { where victim.running < 1h and victim.priority < batch }
deny too-big for nlp { where workload.gpu > 8 } because "at most 8"
hold racks for vision because "moving"
"""

IN_CYCLES = """policy "p" {
  use kueue.fair
  usage halves every 7d, sampled every 5m
  usage weighs cpu 2, memory 0
}
flavor h100 {
  gpu, cpu as owned
  label pool = "a"
  taint pool = "a" NoSchedule
  tolerates pool = "a" NoExecute
  tolerates zone
}
topology fabric { level rack from label "rack" }
topology islands { level host from node }
flavor a100 {
  gpu as owned
  placed in islands
}
flavor lost {
  memory as owned
  missing
}
queue nlp {
  serves gpu from h100, a100
  serves memory from lost
  owns 40 gpu on h100
  when borrowing try next flavor
  when evicting take flavor
  rather evict than borrow
  evicts its own of lower priority
  reclaims from anyone
  borrows by evicting lower priority up to 100
  stopped
  for namespaces where label "a" in "b", "c" and label "d" exists
  needs check prov on h100 for nodes
  needs check other
  admits by usage
  local queue "t/a" {
    weight 2
    stopped
  }
}
"""

ON_NODES = """flavor gpus {
  gpu, cpu from nodes where pool = "a"
  placed on nodes
}
"""

BY_SCENARIOS = f"""policy "p" {{
  use kai.default
  admit within owned if never evicted, limits
}}
{ON_NODES}cohort research {{
  owns anything
  queue nlp {{
    owns 8 gpu
    uses up to 16 gpu
    weight 3 for gpu
    priority 100
  }}
  queue vision {{ weight 2 }}
}}
"""

NODE_BY_NODE = f"""policy "p" {{ use volcano.proportion }}
{ON_NODES}queue nlp {{
  guarantees 2 gpu
  uses up to 16 gpu
  weight 3
}}
queue vision {{ weight 2 }}
"""

BY_RESCHEDULING = f"""policy "p" {{
  use armada.default
  share of cost where nothing is due counts 0 weighing gpu 4, cpu 1
  start up to 1/2 of gpu a cycle
}}
{ON_NODES}priority low 10 {{ queues use up to 1/4 of gpu }}
queue nlp {{ weight 1/3 }}
queue vision {{ weight 2 }}
"""

POLICIES = {
    "at once": AT_ONCE,
    "in cycles": IN_CYCLES,
    "by scenarios": BY_SCENARIOS,
    "node by node": NODE_BY_NODE,
    "by rescheduling": BY_RESCHEDULING,
}
GRAPHS = {name: compile_policy(text, "p.gpol") for name, text in POLICIES.items()}
MUTANTS = [(name, path, mutant) for name in sorted(GRAPHS) for path, mutant in graph_mutants.mutants(GRAPHS[name])]


@pytest.mark.parametrize(("name", "path", "mutant"), MUTANTS, ids=[f"{name}: {'.'.join(path[-1])}" for name, path, _ in MUTANTS])
def test_no_field_changes_unsaid(name: str, path: graph_mutants.Path, mutant: PolicyGraph) -> None:
    """Whatever single field of a graph is another, there is a difference, and the mirrored one the other way round."""
    forth, back = differences(GRAPHS[name], mutant), differences(mutant, GRAPHS[name])
    assert forth, path
    assert turned(forth) == turned(tuple(replace(change, direction=mirrored(change.direction)) for change in back), back=True)


PLACED = """policy "p" {
  use gpol.fair
  CHOICES
}
flavor a {
  gpu from nodes where x = "1"
  placed on nodes
}
queue q { owns 8 gpu on a }
"""


@pytest.mark.parametrize(
    ("choices", "count"),
    [("when a node is lost replace pods\n  place pods packed", 0), ("when a node is lost wait\n  place pods spread", 2)],
)
def test_what_holds_by_default_is_no_difference(choices: str, count: int) -> None:
    """To write out how pods are placed, and what becomes of them where a node is lost, changes nothing; another choice does."""
    without, written = (compile_policy(PLACED.replace("  CHOICES\n", said), "p.gpol") for said in ("", f"  {choices}\n"))
    assert (len(differences(without, written)), len(differences(written, without))) == (count, count)


def test_every_field_is_tried() -> None:
    """The two policies say so much that every field of every part of a graph is changed, but for those that mean nothing by themselves."""
    assert {field for _, path, _ in MUTANTS for field in path} == graph_mutants.every_field() - set(graph_mutants.DERIVED)


def turned(found: tuple[Change, ...], back: bool = False) -> list[tuple[str, ...]]:
    """Differences by what they say of the two sides; with `back` the sides are exchanged."""
    sides = ("new", "old") if back else ("old", "new")
    return sorted((change.subject.kind, change.about, change.direction, *(getattr(change, side) for side in sides)) for change in found)


def found(old: str, new: str, text: str = AT_ONCE) -> list[tuple[str, str, str, str, str]]:
    """The differences between a text and the same with one passage replaced."""
    assert old in text
    changes = differences(compile_policy(text, "p.gpol"), compile_policy(text.replace(old, new), "q.gpol"))
    return [(str(change.subject), change.about, change.direction, change.old, change.new) for change in changes]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("  owns 40 gpu on h100\n", "  owns 40000m gpu on h100   # forty\n"),
        ('namespace "nlp-*" and label "tier" = "prod"', 'label "tier" = "prod" and namespace "nlp-*"'),
        ("lends up to 16 gpu", "lends all but 24 gpu"),
        ("victim.running < 1h and", "victim.running < 60m and"),
        ("victim.priority < batch", "victim.priority < 100"),
        ("prefer h100", "prefer h100, a100"),
        ("  ignore memory", "  ignore memory\n  use gpol.fair\n  queueing best effort"),
        ("hold racks", 'test "t" { at 0s }\nhold racks'),
    ],
)
def test_another_way_to_say_the_same_is_no_difference(old: str, new: str) -> None:
    """Layout, comments, synonyms, what the profile says anyway, tests and file names differ in nothing."""
    assert found(old, new) == []


def test_a_profile_written_out_is_no_difference() -> None:
    """A rule that a policy brings itself is the profile's where it means the same."""
    rule = "preempt make-room {\n  evict from the same queue\n  where victim.priority < workload.priority\n}\n"
    assert found("preempt cohorts {", rule + "preempt cohorts {") == []


@pytest.mark.parametrize(
    ("old", "new", "difference"),
    [
        ("owns 40 gpu on h100", "owns 48 gpu on h100", ("queue nlp", "owns gpu on h100", "larger", "40", "48")),
        ("borrows up to 20 gpu on h100", "borrows anything", ("queue nlp", "borrows gpu on h100", "larger", "up to 20", "anything")),
        ("borrows up to 20 gpu", "borrows up to 19 gpu", ("queue nlp", "borrows gpu on h100", "smaller", "up to 20", "up to 19")),
        ("lends up to 16 gpu", "lends up to 8 gpu", ("queue nlp", "lends gpu on h100", "larger", "up to 16", "up to 8")),
        ("lends up to 16 gpu on h100", "lends anything", ("queue nlp", "lends gpu on h100", "smaller", "up to 16", "anything")),
        ("weight 3", "weight 1/2", ("cohort research", "weight", "smaller", "3", "1/2")),
        ("prefer h100", "only h100", ("queue nlp", "flavors", "smaller", "h100, a100", "h100")),
        ("prefer h100", "prefer a100", ("queue nlp", "flavors", "changed", "h100, a100", "a100, h100")),
        ("at most batch", "at most production", ("queue nlp", "priority at most", "larger", "100", "1000")),
        ("    priority at most batch\n", "", ("queue nlp", "priority at most", "larger", "100", "anything")),
        (
            '    for user "ada"\n',
            "",
            ("queue nlp", "for", "smaller", 'label "tier" = "prod" and namespace "nlp-*"; user "ada"',
                 'label "tier" = "prod" and namespace "nlp-*"'),
        ),
        ("license 4", "license 5", ("flavor h100", "has license", "larger", "4", "5")),
        ("production 1000 { never evicted }", "production 1000", ("priority production", "never evicted", "smaller", "yes", "no")),
        (
            "warm-up for nlp, vision",
            "warm-up for nlp",
            ("protect rule warm-up", "for", "smaller", "nlp, vision", "nlp"),
        ),
        (
            "workload.gpu > 8",
            "workload.gpu >= 8",
            ("deny rule too-big", "where", "larger", "workload.gpu > 8 gpu", "workload.gpu >= 8 gpu"),
        ),
        ("where workload.gpu > 8 }", "}", ("deny rule too-big", "where", "larger", "workload.gpu > 8 gpu", "always")),
        ('label "rack"\n', 'label "row"\n', (
            "topology fabric", "levels", "changed", 'rack from label "rack", host from node', 'rack from label "row", host from node')),
        ("placed in fabric", "placed in islands", ("flavor a100", "placed in", "changed", "fabric", "islands")),
        ("  placed in fabric\n", "", ("flavor a100", "placed in", "changed", "fabric", "none")),
        ("placed in fabric", "placed on nodes", ("flavor a100", "placed in", "changed", "fabric", "nodes")),
        ('"moving"', '"moved"', ("hold rule racks", "because", "changed", '"moving"', '"moved"')),
        (", in the same cohort", "", (
            "preempt rule cohorts", "evict from", "larger", "queues that borrow, in the same cohort", "queues that borrow")),
        ("fair-share, make-room", "make-room, fair-share", (
            "policy", "preempt by", "changed", "reclaim-owned, fair-share, make-room, cohorts",
            "reclaim-owned, make-room, fair-share, cohorts")),
    ],
)  # fmt: skip
def test_what_became_larger_or_smaller(old: str, new: str, difference: tuple[str, ...]) -> None:
    """A single edit is a single difference, with its direction from the point of view of whom it is about."""
    assert found(old, new) == [difference]


def test_each_side_has_its_line() -> None:
    """A difference names the lines on both sides: of the statement, or of the subject where one leaves it out."""
    text = AT_ONCE.replace("    owns 40 gpu on h100\n", "").replace("    lends up to 16 gpu on h100\n", "")
    changes = {change.about: change for change in differences(GRAPHS["at once"], compile_policy(text, "q.gpol"))}
    owns = changes["owns gpu on h100"]
    line = AT_ONCE.splitlines().index("    owns 40 gpu on h100") + 1
    queue = text.splitlines().index("  queue nlp {") + 1
    assert (owns.old_source, owns.new_source) == (
        replace(owns.old_source, file="p.gpol", line=line),
        replace(owns.old_source, file="q.gpol", line=queue),
    )  # type: ignore[type-var]
    assert owns.slot == ("h100", "gpu")


def test_a_queue_that_is_there_on_one_side_only() -> None:
    """It is new or gone as a whole, with all that it says."""
    added = "queue edu {\n  owns 3 gpu on h100\n  priority at most batch\n}\nhold racks for"
    [(subject, about, direction, old, new)] = found("hold racks for", added)
    assert (subject, about, direction, old) == ("queue edu", "", "new", "")
    assert "owns gpu on h100 3" in new
    assert "priority at most 100" in new


def test_a_rename_is_told_where_it_is_certain() -> None:
    """A queue that says the same under another name is renamed, and rules that follow it are no difference."""
    assert found("vision", "image") == [("queue image", "", "renamed", "vision", "image")]


def test_a_cohort_takes_its_queues_along() -> None:
    """A cohort of another name with the same queues is renamed, and the queues stay where they are."""
    assert found("research", "science") == [("cohort science", "", "renamed", "research", "science")]


def test_a_rename_is_not_guessed() -> None:
    """With anything else changed one queue is gone and one is new, with a note."""
    text = AT_ONCE.replace("vision", "image").replace("borrows up to 4 gpu on a100", "borrows up to 5 gpu on a100")
    changes = [change for change in differences(GRAPHS["at once"], compile_policy(text, "q.gpol")) if change.subject.kind == "queue"]
    assert [(str(change.subject), change.direction, change.note) for change in changes] == [
        ("queue image", "new", "maybe renamed from vision"),
        ("queue vision", "gone", "maybe renamed to image"),
    ]


def test_twins_are_not_taken_for_each_other() -> None:
    """Of two that say the same nobody knows which one became the third."""
    twins = "queue one { owns nothing }\nqueue two { owns nothing }\nhold racks for"
    text = AT_ONCE.replace("hold racks for", twins)
    new = text.replace("queue one {", "queue three {").replace("queue two { owns nothing }\n", "")
    changes = differences(compile_policy(text, "p.gpol"), compile_policy(new, "q.gpol"))
    assert [(str(change.subject), change.direction) for change in changes] == [
        ("queue one", "gone"),
        ("queue three", "new"),
        ("queue two", "gone"),
    ]
