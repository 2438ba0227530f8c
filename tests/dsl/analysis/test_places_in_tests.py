"""Tests for the checks of nodes and places in `test` blocks."""

import pytest
from gpol.dsl.diagnostics import Diagnostic

POLICY = """policy "p" { use gpol.fair }
topology fabric {
  level block from label "block"
  level rack from label "rack"
  level host from node
}
flavor h100 {
  gpu from nodes where pool = "h"
  placed in fabric
}
flavor a100 {
  gpu from nodes where pool = "a"
  placed on nodes
}
queue nlp { owns 8 gpu on h100 }
"""

CYCLES = """policy "p" { use kueue.fair }
flavor h100 {
  gpu as owned
  placed on nodes
}
queue nlp { owns 8 gpu }
"""

UNPLACED = 'policy "p" { use gpol.fair }\nflavor h100 { gpu from nodes where pool = "h" }\nqueue nlp { owns 8 gpu }\n'
"""Nodes count in it, and pods get no places."""

AMOUNTS = 'policy "p" { use gpol.fair }\nflavor h100 { gpu 8 }\nqueue nlp { owns 8 gpu }\n'

NODE = "at 0s node n1 { 8 gpu }"
SUBMIT = "at 0s submit t by nlp { 1 gpu }"


def steps(*lines: str) -> str:
    """A test of these steps; it expects something, so that there is nothing to warn of."""
    end = ("at 9h submit last by nlp { 1 gpu }", "expect last pending")
    return 'test "t" {\n' + "".join(f"  {line}\n" for line in (*lines, *end)) + "}\n"


@pytest.mark.parametrize(
    "lines",
    [
        (NODE,),
        ('at 0s node n1 { 8 gpu and 64 cpu, label rack = "r1", taint maintenance NoSchedule, taint a = "b" NoExecute, cordoned }',),
        ("at 0s node n1 { 8 gpu, 64 cpu }",),
        ("at 0s node n1 { 8 gpu and 110 pods }",),
        ('at 0s node n1 {\n    8 gpu\n    label "rack" = "r1"\n  }',),
        (NODE, "at 1m node n1 { 0 gpu }", "at 2m remove node n1", "at 3m node n1 { 8 gpu }"),
        ("at 0s submit t by nlp { gang of 16 x 8 gpu within rack }",),
        ("at 0s submit t by nlp { 1 gpu near block, gang of 2 x 1 gpu anywhere }",),
        ("at 0s submit t by nlp { 1 gpu on a100 within node }",),
        ("at 0s submit t by nlp { gang of 16 x 1 gpu on h100 or a100 in slices of 4 within host }",),
        ("at 0s submit t by nlp { gang of 16 x 1 gpu within block in slices of 8 within rack in slices of 4 within host }",),
        ("at 0s submit t by nlp { gang of 16 x 1 gpu within rack in slices of 8 within rack }",),
        ('at 0s submit t by nlp { group a { 1 gpu within rack, gang of 2 x 1 gpu within rack }, group b { 1 gpu }, group "g" }',),
        ("at 0s submit t by nlp { group a { 1 gpu, gang of 2 x 1 gpu within rack } }",),
        ("at 0s submit t by nlp { group a { gang of 2 x 1 gpu, gang of 3 x 1 gpu within rack } }",),
        (NODE, SUBMIT, 'expect t admitted on nodes "n1"', "expect t admitted borrowing on h100 on nodes n1"),
        (NODE, "at 1s remove node n1", SUBMIT.replace("0s", "2s"), "expect t admitted on nodes n1"),
    ],
)
def test_what_may_be_said(find, lines):
    """Nodes come, change and go, pods have wishes, and workloads are expected on nodes."""
    assert find(POLICY + steps(*lines)) == []


@pytest.mark.parametrize(
    ("lines", "code", "marked", "help_piece"),
    [
        (("at 0s node n1 { cordoned }",), "GP034", "n1", "`0 gpu` for nothing"),
        (("at 0s node n1 { 8 gpux }",), "GP020", "gpux", "did you mean `gpu`?"),
        (("at 0s node n1 { 8 gpu and 1.5 pods }",), "GP023", "1.5", "`8 pods`"),
        (("at 0s node n1 { 8y gpu }",), "GP023", "8y", "`8 gpu`"),
        (("at 0s node n1 { 8 gpu and 4 gpu }",), "GP022", "4 gpu", "keep one"),
        (("at 0s node n1 { 8 gpu, 4 gpu }",), "GP022", "4 gpu", "keep one"),
        (('at 0s node n1 { 8 gpu, label a = "b", label a = "c" }',), "GP022", 'label a = "c"', "keep one"),
        (("at 0s node n1 { 8 gpu, taint a NoSchedule, taint a NoSchedule }",), "GP022", "taint a NoSchedule", "keep one"),
        (("at 0s node n1 { 8 gpu, cordoned, cordoned }",), "GP022", "cordoned", "keep one"),
        (('at 0s node n1 { 8 gpu, label "" = "b" }',), "GP036", 'label "" = "b"', "1 to 253 characters"),
        (('at 0s node "" { 8 gpu }',), "GP036", '""', "1 to 253 characters"),
        (("at 0s remove node n1",), "GP034", "n1", "`at 0s node n1 { 8 gpu }`"),
        (("at 0s node node-one { 8 gpu }", "at 1s remove node node-on"), "GP034", "node-on", "did you mean `node-one`?"),
        ((NODE, "at 1s remove node n1", "at 2s remove node n1"), "GP034", "n1", "add it first"),
        (("at 0s submit t by nlp { 1 gpu within rak }",), "GP020", "rak", "did you mean `rack`?"),
        (("at 0s submit t by nlp { 1 gpu near zone }",), "GP020", "zone", "`rack`"),
        (("at 0s submit t by nlp { 1 gpu in slices of 4 within hots }",), "GP020", "hots", "did you mean `host`?"),
        (("at 0s submit t by nlp { 1 gpu in slices of 0 within host }",), "GP023", "0", "from 1"),
        (
            ("at 0s submit t by nlp { 1 gpu in slices of 6 within rack in slices of 4 within host }",),
            "GP034",
            "4",
            "sizes of which one divides the other",
        ),
        (("at 0s submit t by nlp { 1 gpu within host in slices of 4 within rack }",), "GP034", "rack", "from wide to narrow"),
        (("at 0s submit t by nlp { 1 gpu within rack in slices of 4 within node }",), "GP034", "node", "of one topology"),
        (
            ("at 0s submit t by nlp { 1 gpu in slices of 4 within rack in slices of 4 within rack }",),
            "GP034",
            "rack",
            "from wide to narrow",
        ),
        (("at 0s submit t by nlp { group a { 1 gpu }, group a { 1 gpu } }",), "GP022", "a", "keep one"),
        (('at 0s submit t by nlp { group "" { 1 gpu } }',), "GP036", '""', "1 to 253 characters"),
        (
            ("at 0s submit t by nlp { group a { 1 gpu within rack, gang of 2 x 7 gpu } }",),
            "GP034",
            "within rack",
            "the same as its workers, or for nothing",
        ),
        (
            ("at 0s submit t by nlp { group a { gang of 2 x 7 gpu within rack, gang of 1 x 1 gpu in slices of 2 within host } }",),
            "GP034",
            "in slices of 2 within host",
            "the same as its workers, or for nothing",
        ),
        (("at 0s submit t by nlp { group a { 1 gpu within rak } }",), "GP020", "rak", "did you mean `rack`?"),
        ((SUBMIT, "expect t admitted on nodes n1"), "GP034", "n1", "add it first"),
        ((NODE, SUBMIT, "expect t admitted on nodes n1, n1"), "GP022", "n1", "keep one"),
    ],
)
def test_each_mistake_is_found_alone(find, lines, code, marked, help_piece):
    """A step that cannot be played gives its own code on its own text, with advice."""
    [finding] = find(POLICY + steps(*lines))
    assert (finding.code, finding.marked) == (code, marked)
    assert help_piece in finding.help


@pytest.mark.parametrize(
    ("policy", "line", "marked", "help_piece"),
    [
        (AMOUNTS, NODE, "n1", "`gpu from nodes where ...`"),
        (CYCLES.replace("  placed on nodes\n", ""), NODE, "n1", "`placed on nodes`"),
        (UNPLACED, "at 0s submit t by nlp { 1 gpu anywhere }", "anywhere", "`placed on nodes`"),
        (UNPLACED, "at 0s submit t by nlp { 1 gpu within rack }", "within rack", "`placed on nodes`"),
        (UNPLACED, "at 0s submit t by nlp { 1 gpu in slices of 2 within host }", "in slices of 2 within host", "`placed on nodes`"),
    ],
)
def test_what_would_mean_nothing_is_refused(find, policy, line, marked, help_piece):
    """Nodes in a policy that counts none, and places in one that gives none."""
    [finding] = find(policy + steps(line))
    assert (finding.code, finding.marked) == ("GP034", marked)
    assert help_piece in finding.help


def test_a_node_has_so_many_pods_where_they_get_places(find):
    """Elsewhere nobody counts the pods of a node."""
    [finding] = find(UNPLACED + steps("at 0s node n1 { 8 gpu and 110 pods }"))
    assert (finding.code, finding.marked) == ("GP020", "pods")


def test_nodes_are_expected_only_where_pods_get_places(find):
    """Without places nothing could be compared."""
    [finding] = find(UNPLACED + steps(NODE, SUBMIT, "expect t admitted on nodes n1"))
    assert (finding.code, finding.marked) == ("GP034", "n1")


def test_a_policy_in_cycles_has_nodes_where_a_flavor_is_placed(find):
    """Then its quotas and its nodes are two things."""
    assert find(CYCLES + steps(NODE, "at 0s submit t by nlp { 1 gpu within node }", "expect t admitted on nodes n1")) == []


def test_a_broken_flavor_is_told_alone(find):
    """It may be the one that takes from nodes."""
    text = UNPLACED.replace("gpu from nodes where", "gpu from nodes wher").replace("owns 8 gpu", "owns nothing")
    found: list[Diagnostic] = find(text + steps(NODE).replace("1 gpu", "1 cpu"))
    assert [finding.code for finding in found] == ["GP003"]


@pytest.mark.parametrize(
    ("entry", "most", "what"),
    [('label l{} = ""', 256, "labels"), ("taint t{} NoSchedule", 64, "taints")],
)
def test_a_node_holds_as_much_as_its_event(find, entry, most, what):
    """One more than the event of a node can hold is told."""

    def node(count: int) -> str:
        return POLICY + steps("at 0s node n1 { 8 gpu, " + ", ".join(entry.format(number) for number in range(count)) + " }")

    assert find(node(most)) == []
    [finding] = find(node(most + 1))
    assert (finding.code, finding.message) == ("GP034", f"the node has {most + 1} {what}; at most {most} are read")


def test_slices_in_slices_end_somewhere(find):
    """A pod set has 16 kinds of slices at most."""
    levels = [f"l{number}" for number in range(17)]
    declared = "topology deep {\n" + "".join(f'  level {level} from label "{level}"\n' for level in levels) + "  level host from node\n}\n"
    declared += 'flavor far {\n  gpu from nodes where pool = "far"\n  placed in deep\n}\n'
    text = POLICY.replace("topology fabric", declared + "topology fabric", 1)
    slices = [f" in slices of 4 within {level}" for level in levels]
    assert find(text + steps(f"at 0s submit t by nlp {{ 1 gpu{''.join(slices[:16])} }}")) == []
    [finding] = find(text + steps(f"at 0s submit t by nlp {{ 1 gpu{''.join(slices)} }}"))
    assert (finding.code, finding.marked) == ("GP034", slices[16].strip())


@pytest.mark.parametrize(
    ("pods", "said"),
    [
        (
            "1 gpu within rack, gang of 2 x 7 gpu",
            "the first pod set of group `a` is its leader, as it has one pod: it stands where the second",
        ),
        (
            "gang of 2 x 7 gpu, 1 gpu within rack",
            "the second pod set of group `a` is its leader, as it has one pod: it stands where the first",
        ),
        ("1 gpu, 1 gpu within rack", "the second pod set of group `a` is its leader, as both have one pod: it stands where the first"),
    ],
)
def test_which_pod_set_is_taken_as_the_leader(find, pods, said):
    """The finding names it: of two single pods nobody could tell."""
    [finding] = find(POLICY + steps(f"at 0s submit t by nlp {{ group a {{ {pods} }} }}"))
    assert finding.message.startswith(said)
    assert (finding.marked, finding.label) == ("within rack", "has no effect")
