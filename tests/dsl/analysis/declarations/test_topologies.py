"""Tests for topologies and for the flavors that are placed in them."""

import pytest
from gpol.dsl.analysis.checker import check, check_parsed, compile_policy
from gpol.dsl.syntax import tree
from gpol.dsl.syntax.parser import Parsed
from gpol.engine.policy_graph import Level, PolicyGraph, Source, Topology

FABRIC = 'topology fabric {\n  level rack from label "cloud/rack"\n  level host from node\n}\n'


def at_once(*flavors: str, topologies: str = FABRIC) -> str:
    """A policy that decides at once, with flavors from nodes that say these statements."""
    return _policy("gpol.fair", 'gpu from nodes where pool = "p{}"', flavors, topologies)


def in_cycles(*flavors: str, topologies: str = FABRIC) -> str:
    """The same, deciding in cycles."""
    return _policy("kueue.fair", "gpu as owned", flavors, topologies)


def _policy(use: str, capacity: str, flavors: tuple[str, ...], topologies: str) -> str:
    text = f'policy "p" {{ use {use} }}\n{topologies}'
    for number, statement in enumerate(flavors):
        text += f"flavor f{number} {{\n  {capacity.format(number)}\n  {statement}\n}}\n"
    return text


def made(text: str) -> PolicyGraph:
    """The graph of a policy without a flaw."""
    checked = check(text, "p.gpol")
    assert checked.diagnostics == ()
    assert checked.graph is not None
    return checked.graph


# --- the graph ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("policy", [at_once, in_cycles])
def test_a_topology_has_its_levels_in_order(policy):
    """The graph has names, labels and the line; the flavor has the index."""
    graph = made(policy("placed in fabric"))
    assert graph.topologies == (Topology("fabric", (Level("rack", "cloud/rack"), Level("host", None)), Source("p.gpol", 2)),)
    assert graph.topologies[0].ends_at_nodes
    assert [flavor.topology for flavor in graph.flavors] == [0]


@pytest.mark.parametrize("policy", [at_once, in_cycles])
def test_nodes_alone_are_a_topology_of_one_level(policy):
    """It is there once, where a flavor says so, at the line that says so first."""
    graph = made(policy("placed on nodes", "placed on nodes", topologies=""))
    assert graph.topologies == (Topology("nodes", (Level("node", None),), Source("p.gpol", 4)),)
    assert [flavor.topology for flavor in graph.flavors] == [0, 0]


def test_topologies_are_in_order_of_name():
    """Declared ones, used or not, and that of nodes between them; flavors refer to them by that order."""
    topologies = "topology zebra { level host from node }\n" + FABRIC
    graph = made(at_once("placed in zebra", "placed on nodes", "placed in fabric", "worth 2", topologies=topologies))
    assert [topology.name for topology in graph.topologies] == ["fabric", "nodes", "zebra"]
    assert [flavor.topology for flavor in graph.flavors] == [2, 1, 0, -1]


def test_names_are_quoted_where_they_have_to_be():
    """A level may be called as its label."""
    topologies = 'topology "my fabric" {\n  level "cloud/rack" from label "cloud/rack"\n  level node from node\n}\n'
    [topology] = made(at_once('placed in "my fabric"', topologies=topologies)).topologies
    assert topology.name == "my fabric"
    assert topology.levels == (Level("cloud/rack", "cloud/rack"), Level("node", None))


def test_without_topologies_there_are_none():
    """A policy that says nothing of places has neither topologies nor placed flavors."""
    graph = made(at_once("worth 2", topologies=""))
    assert (graph.topologies, graph.flavors[0].topology) == ((), -1)


def test_in_cycles_domains_above_nodes_will_do():
    """Kueue places pods in the lowest level there is."""
    [topology] = made(in_cycles("placed in racks", topologies='topology racks { level rack from label "rack" }\n')).topologies
    assert not topology.ends_at_nodes


def test_a_tree_without_text_is_enough():
    """An import writes such trees."""
    name = tree.Name
    items = (
        tree.Header("policy", tree.Text("p"), (tree.Use("kueue.fair"),)),
        tree.TopologyItem(name("fabric"), (tree.LevelStatement(name("cloud/rack"), "cloud/rack"), tree.LevelStatement(name("host"), None))),
        tree.FlavorItem(name("h100"), (tree.AsOwned((name("gpu"),)), tree.PlacedIn(name("fabric")))),
        tree.FlavorItem(name("a100"), (tree.AsOwned((name("gpu"),)), tree.PlacedIn(None))),
    )
    checked = check_parsed(Parsed(tree.File(items), (), (), "", "p.gpol"))
    assert checked.errors == ()
    assert checked.graph is not None
    assert [topology.name for topology in checked.graph.topologies] == ["fabric", "nodes"]
    assert [flavor.topology for flavor in checked.graph.flavors] == [1, 0]


# --- what is refused ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("levels", "code", "marked", "help_piece"),
    [
        ((), "GP043", "t", "level host from node"),
        (("level host from node", 'level rack from label "rack"'), "GP043", "level host from node", "put this level last"),
        (('level rack from label "a"', 'level rack from label "b"'), "GP022", 'level rack from label "b"', "keep one"),
        (('level rack from label "a"', 'level row from label "a"'), "GP022", 'level row from label "a"', "keep one"),
        (('level rack from label ""',), "GP036", 'level rack from label ""', "1 to 253 characters"),
        (('level "" from label "a"',), "GP036", '""', "1 to 253 characters"),
    ],
)
def test_levels_that_do_not_fit(find_one, levels, code, marked, help_piece):
    """Each mistake in a topology is told alone, whether a flavor is placed in it or not."""
    finding = find_one("topology t {\n" + "".join(f"  {level}\n" for level in levels) + "}\n")
    assert (finding.code, finding.marked) == (code, marked)
    assert help_piece in finding.help


@pytest.mark.parametrize(
    ("addition", "code", "marked", "help_piece"),
    [
        (FABRIC + FABRIC, "GP021", "fabric", "give it another name"),
        ("topology nodes { level host from node }\n", "GP021", "nodes", "`placed on nodes` needs no topology"),
        (
            FABRIC + 'flavor n {\n  license from nodes where a = "b"\n  placed in fabrik\n}\n',
            "GP020",
            "fabrik",
            "did you mean `fabric`?",
        ),
        ('flavor n {\n  license from nodes where a = "b"\n  placed in fabric\n}\n', "GP020", "fabric", "the policy declares no topology"),
        ('flavor n {\n  license from nodes where a = "b"\n  placed in "nodes"\n}\n', "GP020", '"nodes"', "write `placed on nodes`"),
        (
            FABRIC + 'flavor n {\n  license from nodes where a = "b"\n  placed in fabric\n  placed on nodes\n}\n',
            "GP022",
            "placed on nodes",
            "keep one",
        ),
        (
            "flavor n {\n  license 8\n  placed on nodes\n}\n",
            "GP027",
            "placed on nodes",
            '`license from nodes where LABEL = "value"`, or remove `placed`',
        ),
        ("flavor n {\n  license as owned\n  placed on nodes\n}\n", "GP027", "placed on nodes", "from nodes where"),
        (
            'topology racks { level rack from label "rack" }\nflavor n {\n  license from nodes where a = "b"\n  placed in racks\n}\n',
            "GP037",
            "placed in racks",
            "add a level `from node` to it, or say `decide in cycles of 1s`",
        ),
    ],
)
def test_what_flavors_cannot_be_placed_in(find_one, addition, code, marked, help_piece):
    """Each mistake is told alone, at its place and with its remedy."""
    finding = find_one(addition)
    assert (finding.code, finding.marked) == (code, marked)
    assert help_piece in finding.help


def test_a_capacity_of_its_own_in_cycles_is_told_once(find):
    """There the remedy is the same with or without places."""
    [finding] = find('policy "p" { use kueue.fair }\nflavor n {\n  gpu 8\n  placed on nodes\n}\n')
    assert (finding.code, finding.marked) == ("GP039", "gpu 8")


def test_a_missing_flavor_is_placed_nowhere(find):
    """Nothing defines it, so it has no nodes."""
    [finding] = find('policy "p" { use kueue.fair }\nflavor n {\n  gpu as owned\n  missing\n  placed on nodes\n}\n')
    assert (finding.code, finding.marked) == ("GP027", "placed on nodes")


@pytest.mark.parametrize(
    ("first", "second", "marked"),
    [
        ('x = "1"', 'x = "1"', ["a", "b"]),
        ('x = "1"', 'x = "1" and y = "2"', ["b"]),
        ('x = "1"', 'x = "2"', []),
        ('x = "1" and y = "1"', 'x = "1" and z = "1"', []),
    ],
)
def test_flavors_that_would_have_no_nodes_of_their_own(find, first, second, marked):
    """A node of two flavors is refused, so one of which every node is of the other as well has none. Without places it is as before."""
    text = 'policy "p" {{ }}\nflavor a {{\n  gpu from nodes where {}\n  {}\n}}\nflavor b {{ cpu from nodes where {} }}\n'
    findings = find(text.format(first, "placed on nodes", second))
    assert [(finding.code, finding.message.split("`")[1]) for finding in findings] == [("GP027", name) for name in marked]
    assert [finding.marked for finding in findings] == [
        {"a": f"gpu from nodes where {first}", "b": f"cpu from nodes where {second}"}[name] for name in marked
    ]
    assert find(text.format(first, "", second)) == []


def test_a_broken_topology_is_told_alone(find):
    """Flavors and tests that name it are not told of as well."""
    text = at_once("placed in fabric", topologies="topology fabric { level rack }\n")
    text += 'queue q { }\ntest "t" {\n  at 0s submit a by q { 1 gpu within rack }\n  expect a pending\n}\n'
    assert [finding.code for finding in find(text)] == ["GP003"]


def test_a_profile_has_no_topology():
    """What exists is a policy's to say."""
    text = 'profile "x" { }\ntopology t { level host from node }\n'
    assert [(each.code, each.help) for each in check(text, "p.gpol").diagnostics] == [
        ("GP029", "move it to a policy that uses the profile")
    ]


def test_of_two_topologies_of_a_name_the_first_counts():
    """So nothing else follows from the mistake."""
    text = at_once("placed in fabric", topologies=FABRIC + "topology fabric { level host from node }\n")
    assert [each.code for each in check(text, "p.gpol").diagnostics] == ["GP021"]


def test_an_old_policy_says_what_it_said():
    """`topology` was a word of a later version; as a name it stays one."""
    graph = compile_policy('policy "p" { }\nflavor f { gpu 8 }\nqueue "topology" { owns 8 gpu }\nqueue level { }\n', "p.gpol")
    assert [node.name for node in graph.nodes] == ["cluster", "level", "topology"]
