"""Laws of comparing policies, over generated ones of both ways of deciding."""

import graph_mutants
from cycle_policies import cycle_policies
from generators import BARE, policies
from gpol.dsl.analysis.checker import compile_policy
from gpol.dsl.analysis.digest import digest
from gpol.dsl.analysis.profiles import shipped
from gpol.dsl.diff.differences import differences, mirrored
from gpol.dsl.print.formatter import format_text, print_tree
from gpol.dsl.syntax import tree
from hypothesis import given
from hypothesis import strategies as st

PROFILES = {"test.bare": BARE, **{name: shipped(name) or "" for name in ("kueue.classical", "kueue.fair")}}

any_policy = st.one_of(policies(), cycle_policies())


@given(any_policy)
def test_a_policy_does_not_differ_from_itself(file: tree.File) -> None:
    """diff(p, p) is empty, and so it is with p formatted, its items turned around, and under another file name."""
    text = print_tree(file)
    graph = compile_policy(text, "a.gpol", PROFILES)
    turned = print_tree(tree.File((file.items[0], *reversed(file.items[1:]))))

    assert differences(graph, graph) == ()
    assert differences(graph, compile_policy(format_text("# why\n" + text, "b.gpol"), "b.gpol", PROFILES)) == ()
    assert differences(graph, compile_policy(turned, "b.gpol", PROFILES)) == ()


@given(any_policy, any_policy, st.data())
def test_no_difference_means_the_same_digest(file: tree.File, other: tree.File, data: st.DataObject) -> None:
    """Two policies have no difference where their digests are the same, and there alone; also where one field alone was changed."""
    graph = compile_policy(print_tree(file), "a.gpol", PROFILES)
    changed = data.draw(st.sampled_from([mutant for _, mutant in graph_mutants.mutants(graph)]))
    for second in (compile_policy(print_tree(other), "b.gpol", PROFILES), changed):
        assert (differences(graph, second) == ()) == (digest(graph) == digest(second))


@given(any_policy, any_policy)
def test_differences_are_mirrored(file: tree.File, other: tree.File) -> None:
    """From new to old what was larger is smaller, and what was new is gone; texts and lines change sides."""
    old, new = (compile_policy(print_tree(each), "p.gpol", PROFILES) for each in (file, other))
    forth = {(*each.subject, each.about, each.direction, each.old, each.new) for each in differences(old, new)}
    back = {(*each.subject, each.about, mirrored(each.direction), each.new, each.old) for each in differences(new, old)}
    renamed = [{each for each in side if "renamed" in each} for side in (forth, back)]

    assert forth - renamed[0] == back - renamed[1]
    assert {each[3:] for each in renamed[0]} == {each[3:] for each in renamed[1]}  # told of the queue by its new name
