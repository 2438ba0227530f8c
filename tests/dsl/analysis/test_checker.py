"""Tests for checking as a whole."""

import pytest
from gpol.dsl.analysis.checker import check, check_parsed, compile_policy
from gpol.dsl.analysis.profiles import shipped, shipped_names
from gpol.dsl.diagnostics import PolicyError
from gpol.dsl.syntax import tree
from gpol.dsl.syntax.parser import Parsed

PLAIN = {"x.y": 'profile "x.y" { }\n'}


def codes(text: str, profiles=shipped) -> list[tuple[str, str]]:
    """Code and file of everything found in a text."""
    return [(diagnostic.code, diagnostic.file) for diagnostic in check(text, "p.gpol", profiles).diagnostics]


def test_a_sound_policy_has_a_graph_and_nothing_to_say(base):
    """A policy without a flaw gives its graph, its profile's text and its tests."""
    checked = check(base + 'test "t" {\n  at 0s submit w by nlp { 1 gpu on h100 }\n  expect w admitted\n}\n', "p.gpol")
    assert checked.diagnostics == ()
    assert checked.graph is not None
    assert checked.graph.name == "p"
    assert checked.profiles == (("gpol.fair", shipped("gpol.fair")),)
    assert [test.name.text for test in checked.tests] == ["t"]
    assert sorted(checked.texts) == ["gpol/fair.gpol", "p.gpol"]


def test_a_file_without_a_header_says_so(find):
    """The one thing a file must have is its header; the help writes one."""
    [finding] = find("queue q { }\n")
    assert (finding.code, finding.line) == ("GP028", 1)
    assert '`policy "name" { }`' in finding.help
    [empty] = find("")
    assert empty.code == "GP028"


def test_a_file_has_one_header(find, base):
    """A second header is an error at its name."""
    [finding] = find(base + 'policy "other" { }\n')
    assert (finding.code, finding.marked, finding.help) == ("GP022", '"other"', "keep one")


@pytest.mark.parametrize("name", shipped_names())
def test_a_shipped_profile_checks_clean(name):
    """A profile is no policy, so it has no graph, and nothing is wrong with it."""
    checked = check(shipped(name) or "", f"{name}.gpol")
    assert checked.diagnostics == ()
    assert checked.graph is None
    assert checked.profiles == ()


@pytest.mark.parametrize(
    ("item", "marked"),
    [
        ("queue q { }", "q"),
        ("cohort c { }", "c"),
        ("flavor f { gpu 1 }", "f"),
        ("resource r", "r"),
        ('test "t" { at 0s }', '"t"'),
    ],
)
def test_a_profile_says_nothing_of_what_exists(find, item, marked):
    """Queues, flavors, resources and tests do not belong in a profile."""
    [finding] = find(f'profile "x.y" {{ }}\n{item}\n')
    assert (finding.code, finding.marked) == ("GP029", marked)
    assert "move it to a policy" in finding.help


def test_a_profile_uses_no_other(find):
    """Profiles are one deep."""
    [finding] = find('profile "x.y" { use gpol.fair }\n')
    assert (finding.code, finding.marked) == ("GP029", "use gpol.fair")


def test_an_unknown_profile_is_one_error_with_the_one_meant(find):
    """The rules that the profile would have brought are not reported as unknown as well."""
    [finding] = find('policy "p" {\n  use gpol.fiar\n  preempt by reclaim-owned, fair-share\n}\n')
    assert (finding.code, finding.marked) == ("GP020", "use gpol.fiar")
    assert finding.help == "did you mean `gpol.fair`?"
    [other] = find('policy "p" { use zzz }\n')
    assert "shipped profiles: armada.default, gpol.fair, " in other.help


def test_a_missing_default_profile_is_marked_at_the_header():
    """Where no `use` stands, the policy's name is the place."""
    text = 'policy "p" { }\n'
    [error] = check(text, "p.gpol", lambda name: None).errors
    assert (error.code, text[error.span.start : error.span.end]) == ("GP020", '"p"')


def test_with_a_mapping_no_shipped_profile_is_used():
    """At replay the recorded profiles are the only ones."""
    with pytest.raises(PolicyError) as caught:
        compile_policy('policy "p" { use gpol.fair }\n', "p.gpol", PLAIN)
    assert [diagnostic.code for diagnostic in caught.value.diagnostics] == ["GP020"]


def test_a_broken_profile_is_an_error_in_its_own_file():
    """A rule that a profile says wrongly is not lost: the error names the profile's file."""
    broken = {"x.y": 'profile "x.y" { }\npreempt a { evict everybody }\n'}
    checked = check('policy "p" { use x.y }\n', "p.gpol", broken.get)
    assert checked.graph is None
    assert [diagnostic.file for diagnostic in checked.diagnostics] == ["x/y.gpol"]
    assert checked.texts["x/y.gpol"] == broken["x.y"]


def test_a_wrong_guard_in_a_profile_is_cited_there():
    """Errors of meaning in a profile have its file as well."""
    wrong = {"x.y": 'profile "x.y" { }\nprotect a { where victim.nothing = 1 }\n'}
    assert codes('policy "p" { use x.y }\n', wrong.get) == [("GP020", "x/y.gpol")]


def test_a_profile_in_use_is_checked_like_one():
    """What does not belong in a profile is not taken over from it."""
    assert codes('policy "p" { use x.y }\n', {"x.y": 'profile "x.y" { }\nqueue q { }\n'}.get) == [("GP029", "x/y.gpol")]


def test_a_policy_is_no_profile():
    """`use` takes profiles only."""
    assert codes('policy "p" { use x.y }\n', {"x.y": 'policy "x.y" { }\n'}.get) == [("GP029", "p.gpol")]


def test_errors_in_the_tree_name_the_policys_file():
    """Even where the profile's rules were looked at last, a queue's errors and lines are the policy's."""
    assert codes('policy "p" { }\nqueue a { }\nqueue a { weight -1 }\nqueue b { weight -1 }\n') == [
        ("GP021", "p.gpol"),
        ("GP023", "p.gpol"),
    ]
    made = compile_policy('policy "p" { }\n\n\nqueue a { }\n', "p.gpol")
    assert [(node.source.file, node.source.line) for node in made.nodes] == [("p.gpol", 1), ("p.gpol", 4)]


def test_ignored_resources_of_a_profile_leave_the_queues_lines_alone():
    """A choice that comes from a profile does not move the sources of queues."""
    text = 'policy "p" { use x.y }\npriority low 1\nqueue a { priority at most low }\n'
    made = compile_policy(text, "p.gpol", {"x.y": 'profile "x.y" { ignore cpu }\n'})
    source = made.queues[0].ceiling_source
    assert made.ignored == ("cpu",)
    assert source is not None
    assert (source.file, source.line) == ("p.gpol", 3)


def test_all_errors_come_in_one_run_in_order(find, base):
    """Independent mistakes in different items, and a syntax error, are all reported, by place."""
    text = base + "queue x { owns 1 gpu on v100 }\nqueue y { weigth 2 }\nprotect z { where victim.pods < 1m }\nqueue nlp { }\n"
    assert [(finding.code, finding.marked) for finding in find(text)] == [
        ("GP020", "v100"),
        ("GP007", "weigth"),
        ("GP023", "1m"),
        ("GP021", "nlp"),
    ]


def test_compile_policy_raises_with_the_errors_and_the_text():
    """Without a graph there is an exception that holds every error, and no warning."""
    text = 'policy "p" { }\nqueue a { weight -1 }\nqueue a { }\n'
    with pytest.raises(PolicyError) as caught:
        compile_policy(text, "p.gpol")
    assert [diagnostic.code for diagnostic in caught.value.diagnostics] == ["GP023", "GP021"]
    assert caught.value.text == text


def test_a_flavor_said_twice_gives_no_crash(find):
    """Amounts of what only the second declaration says are the first one's business no more; one error."""
    text = 'policy "p" { }\nflavor h { gpu 5 }\nflavor h { cpu 5 }\nqueue q { owns 5 cpu on h }\n'
    assert [(finding.code, finding.marked) for finding in find(text)] == [("GP021", "h")]
    nodes = 'policy "p" { }\nflavor h {\n  gpu from nodes where a = "x"\n  cpu from nodes where a = "y"\n}\nqueue q { owns 5 cpu on h }\n'
    assert [finding.code for finding in find(nodes)] == ["GP022"]


def test_warnings_do_not_cost_the_graph(find, base):
    """A policy with a warning is usable, and its digest is there."""
    checked = check(base + "queue x {\n  owns nothing\n  borrows nothing\n}\n", "p.gpol")
    assert [diagnostic.severity for diagnostic in checked.diagnostics] == ["warning"]
    assert checked.errors == ()
    assert checked.graph is not None
    assert checked.graph.digest.startswith("sha256:")


def test_with_an_error_there_are_no_warnings(find, base):
    """Warnings are about policies that are otherwise right."""
    findings = find(base + "queue x {\n  owns nothing\n  borrows nothing\n}\nqueue y { weight -1 }\n")
    assert [finding.code for finding in findings] == ["GP023"]


def test_a_thousand_queues_check():
    """A policy of 1,000 queues and 4,000 lines checks; how fast is measured by `make bench`."""
    cohorts = []
    for cohort in range(10):
        queues = "".join(f"  queue q{cohort}-{number} {{\n    owns 8 gpu\n    weight 2\n  }}\n" for number in range(100))
        cohorts.append(f"cohort c{cohort} {{\n{queues}}}\n")
    text = 'policy "big" { }\nflavor h100 { gpu 8000 }\n' + "".join(cohorts)
    checked = check(text, "big.gpol")
    assert checked.graph is not None
    assert len(checked.graph.queues) == 1000
    assert checked.diagnostics == ()


def built(*items: tree.Item, choices: tuple[tree.Choice, ...] = ()) -> Parsed:
    """A tree that a program made: without text and places."""
    return Parsed(tree.File((tree.Header("policy", tree.Text("built"), choices), *items)), (), (), "", "built.gpol")


def flavor(gpus: str) -> tree.FlavorItem:
    """The flavor h100 with so many GPUs."""
    return tree.FlavorItem(tree.Name("h100"), (tree.CapacityStatement(tree.Name("gpu"), tree.Number(gpus)),))


def queue(name: str, gpus: str) -> tree.QueueItem:
    """A queue that owns so many GPUs."""
    return tree.QueueItem(tree.Name(name), (tree.QuotaStatement("owns", "amount", tree.Amount(tree.Number(gpus), tree.Name("gpu")), None),))


def test_a_tree_without_text_has_the_graph_of_its_text():
    """What a program builds means what its print means; all its lines are the first."""
    checked = check_parsed(built(flavor("64"), queue("a", "8"), queue("b", "16")))
    assert checked.diagnostics == ()
    assert checked.graph is not None
    text = 'policy "built" { }\nflavor h100 { gpu 64 }\nqueue a { owns 8 gpu }\nqueue b { owns 16 gpu }\n'
    assert checked.graph.digest == compile_policy(text, "text.gpol").digest
    assert {(node.source.file, node.source.line) for node in checked.graph.nodes} == {("built.gpol", 1)}


def test_a_tree_without_text_is_refused_with_every_error():
    """Without places no error hides another or counts as its consequence: not even owning more than exists."""
    checked = check_parsed(built(flavor("4"), queue("a", "8")))
    assert checked.graph is None
    assert [diagnostic.code for diagnostic in checked.diagnostics] == ["GP026"]
    checked = check_parsed(built(flavor("4%"), queue("a", "8x"), queue("b", "9y"), choices=(tree.Use("x.y"),)))
    assert {diagnostic.message.partition("`")[2].partition("`")[0] for diagnostic in checked.diagnostics} >= {"4%", "8x", "9y", "x.y"}
