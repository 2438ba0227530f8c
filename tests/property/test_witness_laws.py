"""Laws of witnesses and verdicts, over generated policies and small edits of them."""

import pytest
from cycle_policies import cycle_policies
from generators import BARE, Case, activation, cases, fact_of, gpus, name, policies
from gpol.dsl import tree
from gpol.dsl.checker import check
from gpol.dsl.differences import differences
from gpol.dsl.formatter import print_tree
from gpol.dsl.profiles import shipped
from gpol.engine.events import PodSet, WorkloadAdmitted, WorkloadSubmitted
from gpol.engine.reference import Core
from gpol.sim.comparison import findings, verdicts
from gpol.sim.policy import Policy
from gpol.sim.policytest import run_test
from hypothesis import assume, given, settings
from hypothesis import strategies as st

FEW = settings.get_profile(settings.get_current_profile_name()).max_examples // 5


def profiles(title: str) -> str | None:
    """The bare profile of generated policies, and those that are shipped."""
    return BARE if title == "test.bare" else shipped(title)


def policy(text: str) -> Policy:
    """A policy of a text; a text that an edit broke is no example."""
    checked = check(text, "p.gpol", profiles)
    assume(checked.graph is not None)
    return Policy.of(checked)


@st.composite
def edited(draw: st.DrawFn, file: tree.File) -> tree.File:
    """A file with one thing more, less or other."""
    index = draw(st.integers(0, len(file.items) - 1))
    item = file.items[index]
    return tree.File((*file.items[:index], *draw(_edits(item)), *file.items[index + 1 :]))


@st.composite
def _edits(draw: st.DrawFn, item: tree.Spanned) -> tuple[tree.Spanned, ...]:
    match item:
        case tree.Cohort(title, body) | tree.Queue(title, body) if body:
            index = draw(st.integers(0, len(body) - 1))
            nested = isinstance(body[index], tree.Cohort | tree.Queue)
            part = draw(_edits(body[index])) if nested else ()
            return (type(item)(title, (*body[:index], *part, *body[index + 1 :])),)  # type: ignore[arg-type]
        case tree.Queue(title, body):
            return (tree.Queue(title, (*body, tree.Quota("borrows", "up-to", gpus(draw(st.integers(0, 4))), name("a100")))),)
        case tree.Flavor(title, (tree.Capacity(resource, number), *rest)):
            more = tree.Number(str(int(number.text) + draw(st.integers(0, 4))))
            return (tree.Flavor(title, (tree.Capacity(resource, more), *rest)),)  # type: ignore[arg-type]
        case tree.Priority(title, number, pinned):
            return (tree.Priority(title, tree.Number(str(int(number.text) + 15)), pinned),)
        case tree.Protect():
            return ()
        case tree.Header(keyword, title, choices):
            kept = draw(st.integers(0, len(choices) - 1))
            return (tree.Header(keyword, title, (*choices[:kept], *choices[kept + 1 :])),)
        case _:
            return (item,)


@pytest.mark.slow
@settings(max_examples=FEW)
@given(st.one_of(policies(), cycle_policies()), st.data())
def test_each_witness_really_differs(file: tree.File, data: st.DataObject) -> None:
    """Pasted into the policies, its tests pass there, and what becomes of its workload differs; the same again gives the same."""
    texts = [print_tree(each) for each in (file, data.draw(edited(file)))]
    old, new = map(policy, texts)
    changes = differences(old.graph, new.graph)
    found = list(findings(old, new, changes[:4], most=30))
    assert found == list(findings(old, new, changes[:4], most=30))
    for searched in (each.searched for each in found):
        if searched is None or searched.witness is None:
            continue
        witness = searched.witness
        assert witness.old.expect != witness.new.expect
        for text, pasted in zip(texts, (witness.old_test, witness.new_test), strict=True):
            if pasted is not None:
                checked = check(text + pasted, "p.gpol", profiles)
                assert checked.errors == ()
                assert run_test(Policy.of(checked), checked.tests[-1]).failures == ()


@settings(max_examples=FEW)
@given(cases(), st.data())
def test_no_difference_decides_alike(case: Case, data: st.DataObject) -> None:
    """A policy whose text was turned around decides a random history as before, but for lines."""
    items = check(case.text, "generated.gpol", profiles).parsed.tree.items
    turned = policy(print_tree(tree.File((items[0], *data.draw(st.permutations(items[1:]))))))
    assert differences(case.graph, turned.graph) == ()
    cores = Core(), Core()
    cores[0].step(activation(case), case.graph)
    cores[1].step(turned.activation(0), turned.graph)
    for number, step in enumerate(case.steps):
        fact = fact_of(cores[0], case, number, step)
        decisions = [[decision.model_dump(exclude={"why"}) for decision in core.step(fact)] for core in cores]
        assert decisions[0] == decisions[1]


@given(policies(), st.data())
def test_verdicts_hold(file: tree.File, data: st.DataObject) -> None:
    """What may be admitted alone still may where the verdict is equal or more, and what may now could before where it is equal or less."""
    old, new = (policy(print_tree(each)) for each in (file, data.draw(edited(file))))
    judged = verdicts(old, new)
    assume(judged)
    queue = data.draw(st.sampled_from(sorted(judged)))
    gpu, flavors = data.draw(st.integers(1, 14)), data.draw(st.sampled_from([(), ("a100",), ("h100",)]))
    before, after = (_is_admitted(each, queue, gpu, flavors) for each in (old, new))
    if judged[queue] in ("equal", "more"):
        assert after or not before
    if judged[queue] in ("equal", "less"):
        assert before or not after


def _is_admitted(policy: Policy, queue: str, gpu: int, flavors: tuple[str, ...]) -> bool:
    """Whether a workload is admitted alone in the cluster."""
    core = Core()
    core.step(policy.activation(0), policy.graph)
    pods = PodSet(requests={"gpu": gpu * 1000}, flavors=flavors)
    return any(
        isinstance(each, WorkloadAdmitted) for each in core.step(WorkloadSubmitted(time=0, workload="w", queue=queue, pod_sets=(pods,)))
    )
