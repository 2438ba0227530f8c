"""Tests for the quota tree."""

from fractions import Fraction

import pytest
from gpol.dsl.analysis.checker import compile_policy
from gpol.engine.policy_graph import ROOT, Quota

HEADER = 'policy "p" { }\nflavor h100 { gpu 100 }\n'


def queue(*statements: str) -> str:
    """A queue named x with these statements."""
    return "queue x {\n" + "".join(f"  {statement}\n" for statement in statements) + "}\n"


@pytest.mark.parametrize(
    ("addition", "code", "marked", "help_piece"),
    [
        ("queue nlp { }\n", "GP021", "nlp", "another name"),
        ("cohort nlp { }\n", "GP021", "nlp", "another name"),
        ("queue cluster { }\n", "GP021", "cluster", "another name"),
        ("cohort a {\n  cohort a { }\n}\n", "GP021", "a", "another name"),
        (queue("owns 8 gpu"), "GP024", "8 gpu", "`8 gpu on a100`"),
        (queue("owns 8 gpu on h10"), "GP020", "h10", "did you mean `h100`?"),
        (queue("owns 8 cpu on h100"), "GP020", "h100", "`a100`"),
        (queue("owns 8 memory"), "GP020", "memory", "add `memory` to a flavor"),
        (queue("owns 8 licence on h100"), "GP020", "licence", "did you mean `license`?"),
        (queue("borrows nothing on x100"), "GP020", "x100", "did you mean"),
        (queue("owns 8 gpu on h100", "owns 9 gpu on h100"), "GP022", "owns 9 gpu on h100", "keep one"),
        (queue("owns 8 cpu", "owns 9 cpu on a100"), "GP022", "owns 9 cpu on a100", "keep one"),
        (queue("weight 1", "weight 2"), "GP022", "weight 2", "keep one"),
        (queue("weight -1"), "GP023", "-1", "at least 0"),
        (queue("owns 8z gpu on h100"), "GP023", "8z", "`8 gpu`"),
        (queue("owns 8% gpu on h100"), "GP023", "8%", "later version"),
        (queue("owns nothing", "owns 8 gpu on h100"), "GP027", "owns nothing", "keep one of the two"),
        (queue("borrows anything", "borrows up to 8 gpu on h100"), "GP027", "borrows anything", "keep one of the two"),
        (queue("owns 8 cpu", "lends anything", "guarantees 2 cpu"), "GP027", "lends anything", "keep one of the two"),
        (queue("owns 8 cpu", "guarantees 2 cpu", "lends up to 1 cpu"), "GP022", "lends up to 1 cpu", "keep one"),
        (queue("owns 8 cpu", "lends nothing", "guarantees 2 cpu"), "GP022", "guarantees 2 cpu", "keep one"),
        (queue("owns 8 cpu", "lends up to 12 cpu"), "GP025", "12 cpu", "at most `8 cpu`"),
        (queue("owns 8 cpu", "guarantees 12 cpu"), "GP025", "12 cpu", "at most `8 cpu`"),
        (queue("owns 8 cpu", "lends all but 9 cpu"), "GP025", "9 cpu", "at most `8 cpu`"),
        (queue("owns nothing", "lends up to 1 cpu"), "GP025", "1 cpu", "raise what it owns"),
        ("cohort c {\n  lends up to 9 cpu\n  queue x { owns 8 cpu }\n}\n", "GP025", "9 cpu", "at most `8 cpu`"),
        ("cohort c {\n  guarantees 2 cpu\n  cohort d { queue x { } }\n}\n", "GP025", "2 cpu", "at most `0 cpu`"),
        ("cohort c {\n  owns 3 cpu\n  lends all but 12 cpu\n  queue x { owns 8 cpu }\n}\n", "GP025", "12 cpu", "at most `11 cpu`"),
        ("cohort c {\n  lends up to 9 cpu\n  queue x { owns 8y cpu }\n}\n", "GP023", "8y", "`8 cpu`"),
        (queue("owns 51 gpu on h100"), "GP026", "owns 51 gpu on h100", "1 gpu less"),
    ],
)
def test_each_mistake_is_found_alone(find_one, addition, code, marked, help_piece):
    """A mistake in the tree of queues gives its own code on its own text, with advice."""
    finding = find_one(addition)
    assert (finding.code, finding.marked, finding.file) == (code, marked, "p.gpol")
    assert help_piece in finding.help


def test_owning_exactly_what_exists_is_fine(find, base):
    """The limit itself may be owned: 40 + 10 + 50 of 100."""
    assert find(base + queue("owns 50 gpu on h100")) == []


def test_more_owned_than_exists_counts_the_whole_tree(find_one):
    """The message names all owners, cohorts included, their sum and what exists."""
    finding = find_one("cohort c {\n  owns 30 gpu on h100\n  queue x { owns 21 gpu on h100 }\n}\n")
    assert finding.message == "`c`, `nlp`, `vision`, `x` together own 101 gpu on h100, but 100 exist"
    assert finding.marked == "owns 40 gpu on h100"


def test_a_flavor_from_nodes_is_not_compared_with_its_capacity():
    """What nodes will report is not known, so anything may be owned of it."""
    made = compile_policy('policy "p" { }\nflavor a { gpu from nodes where a = "b" }\nqueue q { owns 5000 gpu }\n', "p.gpol")
    assert made.nodes[1].quotas[0].nominal == 5_000_000


def test_lending_labels_say_what_is_owned(find_one):
    """The label quantifies: what the queue owns stands at the amount that is too big."""
    finding = find_one(queue("owns 8 cpu", "lends up to 12 cpu"))
    assert finding.label == "owns 8 cpu"
    assert finding.message == "queue `x` lends more than it owns"


def test_the_tree_is_in_order_of_name():
    """Node 0 is the root, the others follow by name; children and parents are indices; queues are numbered by name."""
    made = compile_policy(HEADER + "queue zed { }\ncohort mid {\n  queue b { }\n  cohort in { queue a { } }\n}\n", "p.gpol")
    assert [node.name for node in made.nodes] == [ROOT, "a", "b", "in", "mid", "zed"]
    assert [node.parent for node in made.nodes] == [-1, 3, 4, 4, 0, 0]
    assert [node.children for node in made.nodes] == [(4, 5), (), (), (1,), (2, 3), ()]
    assert [node.queue for node in made.nodes] == [-1, 0, 1, -1, -1, 2]
    assert [queue.node for queue in made.queues] == [1, 2, 5]


def quota(*statements: str) -> Quota:
    """The quota of queue x in the only slot."""
    made = compile_policy(HEADER + queue(*statements), "p.gpol")
    return made.nodes[1].quotas[0]


def test_each_verb_sets_its_limit_and_its_line():
    """owns, borrows and lends give nominal, borrowing and lending limit, each with its own line."""
    made = quota("owns 8 gpu", "borrows up to 4 gpu", "lends up to 2 gpu")
    assert (made.nominal, made.borrowing_limit, made.lending_limit) == (8000, 4000, 2000)
    sources = (made.nominal_source, made.borrowing_source, made.lending_source)
    assert [source.line for source in sources if source] == [4, 5, 6]


@pytest.mark.parametrize(
    ("statements", "limits"),
    [
        (("owns 8 gpu",), (8000, None, None)),
        (("owns 8 gpu", "borrows anything", "lends anything"), (8000, None, None)),
        (("owns 8 gpu", "borrows nothing", "lends nothing"), (8000, 0, 0)),
        (("owns 8 gpu", "borrows nothing on h100", "lends nothing on h100"), (8000, 0, 0)),
        (("owns 8 gpu", "lends all but 3 gpu"), (8000, None, 5000)),
        (("owns 8 gpu", "guarantees 3 gpu"), (8000, None, 5000)),
        (("owns nothing", "borrows up to 1 gpu"), (0, 1000, None)),
    ],
)
def test_quota_statements_and_what_they_mean(statements, limits):
    """Nothing is 0, anything is no limit, keeping a part lends the rest."""
    made = quota(*statements)
    assert (made.nominal, made.borrowing_limit, made.lending_limit) == limits


def test_nothing_on_one_flavor_leaves_the_other_open(base):
    """`borrows nothing on h100` limits h100 alone."""
    made = compile_policy(base + queue("borrows nothing on h100"), "p.gpol")
    node = next(node for node in made.nodes if node.name == "x")
    limits = {name: node.quotas[slot].borrowing_limit for slot, name in enumerate(made.slot_names)}
    assert limits == {("a100", "cpu"): None, ("a100", "gpu"): None, ("h100", "gpu"): 0}


def test_a_cohort_guarantees_out_of_all_that_its_subtree_offers():
    """A cohort keeps a part of what it owns and of what its children lend it: 10 + 6 offered of 8, less 4 kept."""
    text = "cohort c {\n  owns 10 gpu\n  guarantees 4 gpu\n  queue x {\n    owns 8 gpu\n    lends up to 6 gpu\n  }\n}\n"
    made = compile_policy(HEADER + text, "p.gpol")
    assert made.nodes[1].quotas[0].lending_limit == 12_000


def test_weights_are_exact():
    """A weight is an exact fraction, 1 where nothing is said, and may be 0."""
    made = compile_policy(HEADER + "queue a { weight 0.1 }\nqueue b { weight 0 }\nqueue c { }\n", "p.gpol")
    assert [node.weight for node in made.nodes[1:]] == [Fraction(1, 10), Fraction(0), Fraction(1)]


@pytest.mark.parametrize(
    "statements",
    [
        "owns 3 cpu\n  lends up to 11 cpu\n  queue x { owns 8 cpu }",
        "owns 3 cpu\n  lends all but 11 cpu\n  queue x { owns 8 cpu }",
        "guarantees 8 cpu\n  cohort d { cohort e { queue x { owns 8 cpu } } }",
        "lends up to 8 cpu\n  queue x {\n    owns 8 cpu\n    lends nothing\n  }",
        "borrows up to 900 cpu\n  queue x { owns 8 cpu }",
    ],
)
def test_a_cohort_may_lend_what_all_below_it_own(find, base, statements):
    """Up to that sum nothing is said, whatever the queues lend today; a borrowing limit may look ahead to more capacity."""
    assert find(f"{base}cohort c {{\n  {statements}\n}}\n") == []


@pytest.mark.parametrize(
    ("flavor", "owners", "message"),
    [
        ("gpu 16", "cohort c {\n  owns 8 gpu\n  queue a { owns 8 gpu }\n}\n", None),
        ("gpu 16", "cohort c {\n  owns 8 gpu\n  queue a { owns 8001m gpu }\n}\n", "`a`, `c` together own 16001m gpu on h, but 16 exist"),
        ("gpu 16", "queue a { owns 17 gpu }\n", "`a` owns 17 gpu on h, but 16 exist"),
        ("gpu 0", "queue a { owns 0 gpu }\n", None),
        ("gpu 0", "queue a { owns 1m gpu }\n", "`a` owns 1m gpu on h, but 0 exist"),
        ("gpu 16\n  cpu 4", "queue a { owns 16 gpu }\nqueue b { owns 5 cpu }\n", "`b` owns 5 cpu on h, but 4 exist"),
        ('gpu from nodes where a = "b"', "queue a { owns 9000000 gpu }\n", None),
        ("gpu 16x", "queue a { owns 17 gpu }\n", "`16x` is no amount of gpu"),
        ("gpu 16", "queue a { owns 17x gpu }\n", "`17x` is no amount of gpu"),
        (
            "gpu 16",
            "cohort c {\n  cohort d { queue a { owns 16 gpu } }\n  queue b { owns 1 gpu }\n}\n",
            "`a`, `b` together own 17 gpu on h, but 16 exist",
        ),
    ],
)
def test_all_together_own_what_exists_at_most(find, flavor, owners, message):
    """The sum over all cohorts and queues is compared flavor by flavor; nothing is known of what comes from nodes or cannot be read."""
    findings = find(f'policy "p" {{ }}\nflavor h {{\n  {flavor}\n}}\n{owners}')
    assert [finding.message.split(":")[0] for finding in findings] == ([] if message is None else [message])


def test_the_same_resource_is_compared_in_each_flavor(find):
    """What one flavor has left does not make up for what another lacks."""
    text = 'policy "p" { }\nflavor g { gpu 100 }\nflavor h { gpu 8 }\nqueue a {\n  owns 10 gpu on g\n  owns 9 gpu on h\n}\n'
    [finding] = find(text)
    assert (finding.code, finding.marked) == ("GP026", "owns 9 gpu on h")


def test_of_many_owners_the_first_are_listed(find):
    """The note stays readable."""
    queues = "".join(f"queue q{number:02} {{ owns 1 gpu }}\n" for number in range(14))
    [finding] = find(f'policy "p" {{ }}\nflavor h {{ gpu 13 }}\n{queues}')
    assert finding.notes[0].startswith("owned: `q00` 1, `q01` 1,")
    assert finding.notes[0].endswith("`q11` 1 and 2 more")
