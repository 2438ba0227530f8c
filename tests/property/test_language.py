"""Laws of the language, over generated syntax trees and over text with damaged tokens."""

import re

from generators import BARE, policies
from gpol.dsl.analysis.checker import check, compile_policy
from gpol.dsl.analysis.profiles import shipped
from gpol.dsl.print.formatter import format_text, print_tree
from gpol.dsl.syntax import tree
from gpol.dsl.syntax.parser import parse
from hypothesis import given
from hypothesis import strategies as st

PROFILES = {"test.bare": BARE}

SAMPLE = """# A policy to damage.
policy "sample" {
  use gpol.fair
  share used
}

resource license
flavor h100 { gpu 64 }
flavor a100 {
  gpu 32
  worth 1/2
}
priority high 100 { never evicted }
priority low -5

cohort research {
  weight 3
  queue nlp {
    for namespace "nlp-*" and label "tier" = "prod"
    owns 16 gpu on h100
    lends all but 4 gpu on h100
    prefer h100, a100
    priority at most high
  }
  queue "6214" { owns nothing }
}

protect warm-up { where victim.running < 10m and not (victim.gpu > 8 or victim.user = "ada") }
deny big for "6214" { where workload.gpu > 8 } because "too \\"big\\""

test "plays" {
  at 0s submit a by nlp { gang of 4 x 1 gpu on h100 or a100, priority high }
  expect a admitted on h100
  at 1h finish a
}
"""

_names = st.one_of(
    st.from_regex(r"[A-Za-z_][A-Za-z0-9_-]{0,8}", fullmatch=True),
    st.sampled_from(["queue", "owns", "nothing", "on", "and", "6214e9", "a b", 'q"uote', "back\\slash", "prefer", "x", "é"]),
).map(tree.Name)
_texts = st.text(st.characters(exclude_categories=["Cs", "Cc", "Zl", "Zp"]), max_size=12).map(tree.Text)
_numbers = st.sampled_from(["8", "2.5", "500m", "80Gi", "10m", "1h30m", "3/2", "0"]).map(tree.Number)
_amounts = st.builds(tree.Amount, _numbers, _names)
_fields = st.one_of(
    st.sampled_from(["priority", "gpu", "queue.share", "running"]).map(lambda path: tree.FieldRef("victim", path)),
    st.builds(lambda key: tree.FieldRef("workload", "label", key), _texts),
)
_bare = st.from_regex(r"[A-Za-z_][A-Za-z0-9_-]{0,8}", fullmatch=True).map(tree.Name)
_comparisons = st.builds(
    tree.FieldComparison, st.sampled_from(["<", "<=", "=", "!=", ">", ">="]), _fields, st.one_of(_fields, _bare, _texts, _numbers, _amounts)
)


def _joined(guards: st.SearchStrategy[tree.Guard]) -> st.SearchStrategy[tree.Guard]:
    def join(kind: type, items: list[tree.Guard]) -> tree.Guard:
        flat = [inner for item in items for inner in (item.items if isinstance(item, kind) else (item,))]  # type: ignore[attr-defined]
        return kind(tuple(flat))  # type: ignore[no-any-return]

    several = st.lists(guards, min_size=2, max_size=3)
    return st.one_of(
        several.map(lambda items: join(tree.AllOf, items)), several.map(lambda items: join(tree.AnyOf, items)), guards.map(tree.Negation)
    )


_guards = st.recursive(_comparisons, _joined, max_leaves=6)
_keys = st.lists(st.builds(tree.Key, st.sampled_from(["victim.priority", "victim.gpu"]), st.booleans()), min_size=1, max_size=2).map(tuple)
_scopes = st.lists(_names, max_size=2).map(tuple)
_wheres = st.builds(tree.Where, _guards)
_keys_of_labels = _texts.map(lambda text: text.text)
_node_entries = st.one_of(
    st.builds(tree.NodeAmounts, st.lists(_amounts, min_size=1, max_size=2).map(tuple)),
    st.builds(tree.NodeLabel, st.builds(tree.LabelEquals, _keys_of_labels, _texts)),
    st.builds(tree.TaintStatement, _keys_of_labels, st.none() | _texts, st.sampled_from(["NoSchedule", "NoExecute"])),
    st.just(tree.Cordoned()),
)
_sizes = st.lists(st.builds(tree.PodSize, st.lists(_amounts, min_size=1, max_size=2).map(tuple)), min_size=1, max_size=3).map(tuple)
_choices = st.one_of(
    st.builds(tree.PlacePods, st.sampled_from(["packed", "spread"])),
    st.builds(tree.PlacePods, st.just("keeping-room"), _sizes),
    st.builds(tree.LostNodes, st.sampled_from(["replace", "evict", "wait"])),
)
_items = st.one_of(
    st.builds(tree.ResourceItem, _names),
    st.builds(tree.Header, st.just("policy"), _texts, st.lists(_choices, max_size=2).map(tuple)),
    st.builds(
        lambda name, check: tree.QueueItem(name, (check,)),
        _names,
        st.builds(tree.NeedsCheck, _names, st.lists(_names, max_size=2).map(tuple), st.booleans()),
    ),
    st.builds(
        tree.TopologyItem, _names, st.lists(st.builds(tree.LevelStatement, _names, st.none() | _keys_of_labels), max_size=3).map(tuple)
    ),
    st.builds(lambda name, topology: tree.FlavorItem(name, (tree.PlacedIn(topology),)), _names, st.none() | _names),
    st.builds(
        lambda name, node, entries, nodes: tree.PolicyTest(
            name,
            (
                tree.At(tree.Number("1s"), tree.SetNode(node, entries)),
                tree.Expect(node, "admitted", nodes=nodes),
                tree.At(tree.Number("2s"), tree.RemoveNode(node)),
            ),
        ),
        _texts,
        _names,
        st.lists(_node_entries, min_size=1, max_size=3).map(tuple),
        st.lists(_names, max_size=2).map(tuple),
    ),
    st.builds(tree.PriorityItem, _names, _numbers, st.booleans()),
    st.builds(tree.ProtectItem, _names, _scopes, st.none() | _wheres),
    st.builds(tree.AdmissionItem, st.sampled_from(["deny", "hold"]), _names, _scopes, st.none() | _wheres, _texts),
    st.builds(tree.PreemptItem, _names, st.lists(st.one_of(_wheres, st.builds(tree.OrderBy, _keys)), max_size=3).map(tuple)),
    st.builds(
        lambda name, match: tree.QueueItem(name, (match,)),
        _names,
        st.builds(
            tree.Match,
            st.lists(st.builds(tree.MatchCondition, st.just("label"), _texts, _texts), min_size=1, max_size=2).map(tuple),
        ),
    ),
    st.builds(
        lambda name, workload, pods, value: tree.PolicyTest(
            name,
            (
                tree.At(
                    tree.Number("1s"),
                    tree.Submit(workload, None, (pods, tree.PodSetGroup(workload, (pods, pods))), (tree.Attribute("user", None, value),)),
                ),
                tree.Expect(workload, "pending"),
            ),
        ),
        _texts,
        _names,
        st.builds(
            tree.Pods,
            st.none() | _numbers,
            st.lists(_amounts, min_size=1, max_size=2).map(tuple),
            st.lists(_names, max_size=2).map(tuple),
            st.none() | st.builds(tree.PlaceWish, st.sampled_from(["within", "near"]), _names) | st.just(tree.PlaceWish("anywhere", None)),
            st.lists(st.builds(tree.InSlices, _numbers, _names), max_size=2).map(tuple),
        ),
        _texts,
    ),
)
_files = st.lists(_items, max_size=4).map(lambda items: tree.File(tuple(items)))


@given(st.one_of(_files, policies()))
def test_print_then_parse(file: tree.File) -> None:
    """Whatever a tree says, its text says the same: parse(print(tree)) == tree."""
    parsed = parse(print_tree(file), "generated.gpol")

    assert parsed.diagnostics == ()
    assert parsed.tree == file


@given(st.one_of(_files, policies()))
def test_formatting_settles(file: tree.File) -> None:
    """Formatting the formatted text changes nothing."""
    once = format_text(print_tree(file), "generated.gpol")

    assert format_text(once, "generated.gpol") == once


@given(st.data())
def test_comments_survive(data: st.DataObject) -> None:
    """Comments put anywhere between tokens of a line's end or on lines of their own are all kept, in order, and formatting settles."""
    lines = SAMPLE.splitlines()
    for number in range(data.draw(st.integers(0, 6))):
        at = data.draw(st.integers(0, len(lines) - 1))
        if data.draw(st.booleans()):
            lines[at] += f"  # note {number}"
        else:
            lines.insert(at, data.draw(st.sampled_from(["", "  ", "    "])) + f"# own {number}")
    text = "\n".join(lines) + "\n"
    formatted = format_text(text, "sample.gpol")

    def comments(source: str) -> list[str]:
        return [source[span.start : span.end].strip() for span in parse(source, "s").comments]

    assert comments(formatted) == comments(text)
    assert format_text(formatted, "sample.gpol") == formatted


@given(policies())
def test_digest_is_of_the_meaning(file: tree.File) -> None:
    """Layout, comments and the order of items do not change the digest."""
    text = print_tree(file)
    shuffled = print_tree(tree.File((file.items[0], *reversed(file.items[1:]))))
    spread = "# a comment\n" + text.replace(" {\n", "   {   # why\n").replace("\n", "\n\n")

    digest = compile_policy(text, "a.gpol", PROFILES).digest
    assert compile_policy(shuffled, "b.gpol", PROFILES).digest == digest
    assert compile_policy(spread, "c.gpol", PROFILES).digest == digest


_TOKEN = re.compile(r'"(?:\\.|[^"\\\n])*"|#[^\n]*|[A-Za-z0-9_./%-]+|[^\sA-Za-z0-9]|\n|[ ]+')


@given(st.data())
def test_damaged_text(data: st.DataObject) -> None:
    """Text with tokens deleted, doubled, swapped or replaced never crashes the checker; spans lie inside; what is refused is told."""
    tokens = _TOKEN.findall(SAMPLE)
    for _ in range(data.draw(st.integers(1, 4))):
        at = data.draw(st.integers(0, len(tokens) - 1))
        match data.draw(st.sampled_from(["delete", "double", "swap", "junk"])):
            case "delete":
                del tokens[at]
            case "double":
                tokens.insert(at, tokens[at])
            case "swap":
                other = data.draw(st.integers(0, len(tokens) - 1))
                tokens[at], tokens[other] = tokens[other], tokens[at]
            case "junk":
                tokens[at] = data.draw(st.sampled_from(['"', "{", "}", "$", "é", "9q", ";", "during", "50%", "\t", "\\", "queue"]))
    text = "".join(tokens)
    checked = check(text, "damaged.gpol", shipped)

    for diagnostic in checked.diagnostics:
        assert 0 <= diagnostic.span.start <= diagnostic.span.end <= len(checked.texts[diagnostic.file])
    assert (checked.graph is None) == bool(checked.errors)
