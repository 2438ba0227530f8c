"""Laws of differences, witnesses and verdicts, over generated policies and edits of them; what is decided the core says alone."""

from itertools import islice, product

from core_play import Stage, fates, shows
from cycle_policies import cycle_policies
from example_counts import one_example_in
from generators import BARE, PRIORITIES, Case, activation, cases, fact_of, policies
from gpol.dsl.analysis.checker import check
from gpol.dsl.analysis.profiles import shipped
from gpol.dsl.diff.differences import Change, differences
from gpol.dsl.diff.statements import Thing
from gpol.dsl.print.formatter import format_text, print_tree
from gpol.dsl.syntax import tree
from gpol.engine.default_core import new_core
from gpol.engine.event_parts import PodSet
from gpol.engine.facts import WorkloadCancelled, WorkloadSubmitted
from gpol.engine.policy_graph import PolicyGraph
from gpol.sim.drive.policy import Policy
from gpol.sim.witness.boundary_values import BoundaryValues, Side
from gpol.sim.witness.policy_comparison import findings, queue_changes
from gpol.sim.witness.scenarios import scenarios
from gpol.sim.witness.untestable_changes import why_untestable
from gpol.sim.witness.witness_search import Witness
from hypothesis import assume, given
from hypothesis import strategies as st
from policy_edits import edited, respelled, ruled, unseen_edits

any_policy = st.one_of(policies(), policies().flatmap(ruled), cycle_policies())


def profiles(title: str) -> str | None:
    """The bare profile of generated policies, and those that are shipped."""
    return BARE if title == "test.bare" else shipped(title)


def policy(text: str) -> Policy:
    """A policy of a text; a text that an edit broke is no example."""
    checked = check(text, "p.gpol", profiles)
    assume(checked.graph is not None)
    return Policy.of(checked)


# --- no difference --------------------------------------------------------------------------------------------------


@given(any_policy, st.data())
def test_another_way_to_say_the_same_is_no_difference(file: tree.File, data: st.DataObject) -> None:
    """Turned around where order means nothing, laid out anew, in other units and words: no change, and all queues may be given the same."""
    text = print_tree(data.draw(respelled(file))).replace("\n", "\n\n\n").replace("  ", "      ")
    old, new = policy(print_tree(file)), policy(text)
    assert differences(old.graph, new.graph) == ()
    assert differences(new.graph, policy(format_text(text, "p.gpol")).graph) == ()
    assert {*queue_changes(old, new).values()} <= {"equal"}


@given(cases(), st.data())
def test_no_difference_decides_alike(case: Case, data: st.DataObject) -> None:
    """A policy that says the same in another way decides a random history as before, but for lines."""
    file = check(case.text, "generated.gpol", profiles).parsed.tree
    turned = policy(print_tree(data.draw(respelled(file))))
    assert differences(case.graph, turned.graph) == ()
    cores = new_core(), new_core()
    cores[0].step(activation(case), case.graph)
    cores[1].step(turned.activation(0), turned.graph)
    for number, step in enumerate(case.steps):
        fact = fact_of(cores[0], case, number, step)
        decisions = [[decision.model_dump(exclude={"why"}) for decision in core.step(fact)] for core in cores]
        assert decisions[0] == decisions[1]


# --- witnesses ------------------------------------------------------------------------------------------------------


@one_example_in(2)  # one costs 0.9 s
@given(any_policy, st.data())
def test_witnesses_show_what_they_say(file: tree.File, data: st.DataObject) -> None:
    """Played by the core alone, its workload fares under each policy as the witness says, and not alike; so say its tests when pasted."""
    texts = [print_tree(each) for each in (file, data.draw(edited(file).flatmap(edited)))]
    old, new = map(policy, texts)
    changes = differences(old.graph, new.graph)
    found = list(findings(old, new, changes[:4], most=30))
    assert found == list(findings(old, new, changes[:4], most=30))
    for finding in found:
        witness = finding.searched.witness if finding.searched is not None else None
        if witness is None:
            continue
        assert witness.old.expect != witness.new.expect
        steps = _steps(texts, witness)
        ends = []
        for made, outcome in ((old, witness.old), (new, witness.new)):
            played = fates(made.graph, steps)
            assert played is not None
            assert shows(played[witness.workload], outcome.expect)
            ends.append(played[witness.workload])
        assert ends[0] != ends[1]


def _steps(texts: list[str], witness: Witness) -> tuple[tree.At, ...]:
    """The steps of a witness as both of its tests have them, each read where it is pasted; its expectations are what it says."""
    read = []
    for text, pasted, outcome in zip(texts, (witness.old_test, witness.new_test), (witness.old, witness.new), strict=True):
        if pasted is not None:
            checked = check(text + pasted, "p.gpol", profiles)
            assert checked.errors == ()
            *steps, end = checked.tests[-1].steps
            assert end == outcome.expect
            read.append(tuple(step for step in steps if isinstance(step, tree.At)))
    assert len({*read}) == 1
    return read[0]


@one_example_in(2)  # one costs 0.3 s
@given(st.one_of(policies(), cycle_policies()), st.data())
def test_what_no_test_can_show_decides_nothing_in_tests(file: tree.File, data: st.DataObject) -> None:
    """Where of all differences it is said that no test can show them, every scenario about one of them comes out alike."""
    old, new = (policy(print_tree(each)) for each in (file, data.draw(unseen_edits(file))))
    changes = differences(old.graph, new.graph)
    assume(changes and all(why_untestable(old.graph, new.graph, change) for change in changes))
    constants = BoundaryValues(Side.of(old.graph), Side.of(new.graph))
    for change in changes:
        for scenario in islice(scenarios(constants, change), 20):
            assert fates(old.graph, scenario) == fates(new.graph, scenario)


# --- verdicts -------------------------------------------------------------------------------------------------------

lone_policy = st.one_of(policies(), policies().flatmap(ruled))

GIVES_MORE: tuple[Thing, ...] = ("owns", "borrows", "lends", "has", "flavors", "stopped")
"""What of flavors, queues and cohorts above them decides how much a queue may be given, alone in the cluster."""

OF_OTHERS: tuple[Thing, ...] = ("weight", "worth", "share", "order queues", "when borrowing", "when evicting", "preempt by", "queueing")
"""What decides nothing where nobody else is."""


@one_example_in(2)  # one costs 0.9 s
@given(lone_policy, st.data())
def test_larger_gives_no_less(file: tree.File, data: st.DataObject) -> None:
    """Where all that matters to a queue became larger, and rules narrower, what was admitted alone still is; and the other way round."""
    old, new = (policy(print_tree(each)) for each in (file, data.draw(edited(file))))
    changes = differences(old.graph, new.graph)
    for queue in queue_changes(old, new):  # those of both
        effects = {_effect(old.graph, change, queue) for change in changes} - {"none"}
        if effects <= {"more"} or effects <= {"less"}:
            before, after = (_admitted(each.graph, queue) for each in (old, new))
            assert before <= after or "less" in effects
            assert after <= before or "more" in effects


def _effect(graph: PolicyGraph, change: Change, queue: str) -> str:
    """What a change says of a workload that is alone in a queue: it is given `more`, `less` or as before (`none`), or that is `unknown`."""
    if change.thing in OF_OTHERS or change.subject.kind == "protect rule" or (change.subject.kind == "priority" and not graph.admission):
        return "none"
    if change.subject.kind in ("deny rule", "hold rule"):
        return {"larger": "less", "smaller": "more", "new": "less", "gone": "more"}.get(change.direction, "unknown")
    if change.thing in GIVES_MORE and (change.subject.kind == "flavor" or change.subject.name in _above(graph, queue)):
        return {"larger": "more", "smaller": "less"}.get(change.direction, "unknown")
    return "unknown"


def _above(graph: PolicyGraph, queue: str) -> list[str]:
    """A queue and the cohorts above it."""
    node = next(each for each in graph.nodes if each.name == queue)
    names = [node.name]
    while node.parent >= 0:
        node = graph.nodes[node.parent]
        names.append(node.name)
    return names


@one_example_in(2)  # one costs 0.9 s
@given(lone_policy, st.data())
def test_verdicts_hold(file: tree.File, data: st.DataObject) -> None:
    """What may be admitted alone is what the verdict says: the same, more, less, or more of some and less of other.

    Without rules that keep workloads out it always can be told, and is. With them more or less may turn out to be the same.
    """
    old, new = (policy(print_tree(each)) for each in (file, data.draw(edited(file).flatmap(edited).flatmap(edited))))
    for queue, judged in queue_changes(old, new).items():
        before, after = (_admitted(each.graph, queue) for each in (old, new))
        seen = "equal" if before == after else "more" if before < after else "less" if after < before else "incomparable"
        if old.graph.admission or new.graph.admission:
            assert judged in (seen, "changed") or (seen == "equal" and judged in ("more", "less")), queue
        else:
            assert judged == seen, queue


ASKS = [
    *product(range(1, 16), [(), ("a100",), ("h100",)], [None]),
    *product((1, 4, 15), [()], [*PRIORITIES, 5, 100]),
]
"""GPUs, the flavors that will do (none: any), and priorities: all that generated policies tell apart of a workload that is alone."""


def _admitted(graph: PolicyGraph, queue: str) -> set[object]:
    """What of `ASKS` is admitted in a queue, each alone in the cluster."""
    stage, found = Stage(graph), set()
    for gpu, flavors, priority in ASKS:
        pods = PodSet(requests={"gpu": gpu * 1000}, flavors=flavors)
        stage.step(WorkloadSubmitted(time=0, workload="w", queue=queue, priority=priority, pod_sets=(pods,)))
        state = stage.fate("w").state
        if state == "admitted":
            found.add((gpu, flavors, priority))
        if state != "rejected":
            stage.step(WorkloadCancelled(time=0, workload="w"))
    return found
