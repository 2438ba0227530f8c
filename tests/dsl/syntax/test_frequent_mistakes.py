"""The frequent mistakes: each is recognised for what it is, once, at its place, with its own remedy."""

import pytest
from gpol.dsl.codes import SYNTAX
from gpol.dsl.syntax.parser import parse

MISTAKES = [
    # words of coming versions
    ('queue a { owns 8 gpu during "x" }', "GP009", "during", "remove it"),
    ('policy "p" { zone "x" }', "GP009", "zone", "remove it"),
    # texts
    ('queue a { for user "ada }', "GP006", '"ada }', 'close it with `"`'),
    ('queue a { for user "', "GP006", '"', 'close it with `"`'),
    (r'queue a { for user "a\"\n\\" }', "GP006", r"\n", "only"),
    ('queue a { "x" }', "GP003", '"x"', "`borrows`"),
    # blocks
    ("queue a }", "GP003", "}", "delete it"),
    ("queue a { owns nothing } }", "GP003", "}", "delete it"),
    ("queue a { owns nothing", "GP004", "{", "close it"),
    ('queue a { for user "{" } # {\nqueue b { owns nothing # }', "GP004", "{", "close it"),
    ("cohort a {\n  queue b {\n    owns 8 gpu\n}\nqueue c { owns nothing }", "GP004", "queue b {", "close it"),
    ("cohort a {\n  queue b {\n    weight 2\n  queue c { weight 1 }\n}", "GP004", "queue b {", "close it"),
    ("cohort a {\n  queue b {\n  cohort c { }\n  }\n}", "GP004", "queue b {", "close it"),
    ("cohort a {\n  queue b {\n    queue c { }\n  }\n}", "GP007", "queue", "make `queue b` a cohort"),
    ("queue b {\n  cohort c { }\n}", "GP007", "cohort", "make `queue b` a cohort"),
    ("preempt p {\n  queue c { }\n}", "GP007", "queue", "`evict`"),
    ("queue b { queue c { } }", "GP007", "queue", "make `queue b` a cohort"),
    ("flavor h {\n  queue a { }\n}", "GP003", "a", "a number"),
    ("queue a\n{\n  owns nothing\n}", "GP003", "a", "put the `{` at the end of this line"),
    ("queue a # why\n  {\n}", "GP003", "a", "here may stand `{`"),
    # lines
    ("queue a { } queue b { }", "GP005", "queue", "start a new line before `queue`"),
    ("queue a { }\n\n  # b\n  flavor h { gpu 4 }", "GP005", "flavor", "delete the space"),
    ("flavor h { gpu 8 cpu 4 }", "GP003", "cpu", "start a new line before `cpu`"),
    ("flavor h { gpu 8, cpu 4 }", "GP003", ",", "without `,`, and start a new one with `cpu`"),
    ("queue a { owns 8 gpu weight 3 }", "GP003", "weight", "start a new line before `weight`"),
    ("queue a { owns 8 gpu,\t weight 3 }", "GP003", ",", "without `,`, and start a new one with `weight`"),
    ("queue a { prefer h, b weight 3 }", "GP003", "weight", "start a new line before `weight`"),
    ("queue a { prefer h b }", "GP003", "b", "write `, b`"),
    ("preempt p { order by victim.gpu desc victim.cpu }", "GP003", "victim.cpu", "write `, victim.cpu`"),
    ('test "t" { at 0s submit a by b { 1 gpu priority x } }', "GP003", "priority", "write `, priority`"),
    ("protect p {\n  where victim.gpu > 8\n  where victim.gpu < 9\n}", "GP003", "where", "join the two guards"),
    ("protect p { where victim.gpu > 1, victim.gpu < 2 }", "GP003", ",", "`and`"),
    ('test "t" { at 0s node n1 { 8 gpu taint a NoSchedule } }', "GP003", "taint", "write `, taint`"),
    ('topology t { level a from label "a", level b from node }', "GP003", ",", "start a new one with `level`"),
    # numbers and resources
    ("queue a { owns 8 }", "GP003", "8", "write `8 gpu`"),
    ("queue a { owns 8 on h }", "GP003", "8", "write `8 gpu on h`"),
    ("queue a { owns 80Gimemory }", "GP003", "80Gimemory", "write `80Gi memory`"),
    ("queue a { owns 8-gpu5 on h }", "GP003", "8-gpu5", "write `8 gpu5 on h`"),
    ("queue a { owns 8 on", "GP004", "{", "close it"),
    ("flavor h { 8 gpu }", "GP003", "8", "write `gpu 8`"),
    ("queue a { 8 gpu }", "GP003", "8", "`borrows`"),
    ("queue a { owns 1,000,000 gpu }", "GP003", "1,000,000", "write `1000000`"),
    ("queue a { owns 1, 000 gpu }", "GP003", "1", "write `1 gpu`"),
    ("protect p { where victim.running < 1h 30m }", "GP003", "30m", "here may stand"),
    # names and texts without quotes
    ("topology t { level rack from label rack }", "GP008", "rack", 'write `"rack"`'),
    ("queue a { for user ada }", "GP008", "ada", 'write `"ada"`'),
    ("policy acme { }", "GP008", "acme", 'write `"acme"`'),
    ("queue 6214-e9 { }", "GP008", "6214-e9", 'write `"6214-e9"`'),
    ("queue my.queue { }", "GP008", "my.queue", 'write `"my.queue"`'),
    ("queue zürich { }", "GP008", "zürich", 'write `"zürich"`'),
    ("queue équipe { }", "GP008", "équipe", 'write `"équipe"`'),
    ("queue a { prefer victim.gpu }", "GP003", ".", "`,`"),
    ("queue - { }", "GP003", "-", "a name"),
    # signs of other languages
    ("queue a { weight: 3 }", "GP003", ":", "without `:`"),
    ("queue a { weight = 3 }", "GP003", "=", "without `=`"),
    ("queue a { weight 3; }", "GP003", ";", "end the statement with the line"),
    ("queue a { for user 'ada' }", "GP003", "'", "double quotes"),
    ("queue a { for user \u201cada\u201d }", "GP003", "\u201c", "straight double quotes"),
    ("protect p { where victim.gpu == 8 }", "GP003", "==", "write `=`"),
    ("protect p { where victim.gpu => 8 }", "GP003", "=>", "write `>=`"),
    ("protect p { where victim.gpu =< 8 }", "GP003", "=<", "write `<=`"),
    ("protect p { where victim.gpu <> 8 }", "GP003", "<>", "write `!=`"),
    ("protect p { where !(victim.gpu > 8) }", "GP003", "!", "write `not`"),
    ("protect p { where victim.gpu > 1 && victim.gpu < 2 }", "GP003", "&", "write `and`"),
    ("protect p { where victim.gpu > 1 || victim.gpu < 2 }", "GP003", "|", "write `or`"),
    ("queue a { } // why", "GP003", "//", "a comment starts with `#`"),
    ("queue a { /* why */ weight 3 }", "GP003", "/*", "a comment starts with `#`"),
    # deciding in cycles
    ('queue a { for namespace where label "a" exists }', "GP003", "where", "`for namespaces where ...`"),
    ('queue a { for namespaces where label "a" = "b" }', "GP003", "=", 'write `in "value"`'),
    ('queue a { for namespaces where label a in "b" }', "GP008", "a", 'write `"a"`'),
    ("queue a { serves gpu on h }", "GP003", "on", "`from`"),
    ("queue a { reclaims from any }", "GP003", "any", "did you mean `anyone`?"),
    ("queue a { borrows by evicting }", "GP003", "}", "`lower priority`"),
    ("queue a { stopped and drain }", "GP003", "drain", "did you mean `drained`?"),
    ("queue a { local queue team/x }", "GP008", "team/x", 'write `"team/x"`'),
    ('queue a {\n  local queue "t/x" { owns nothing }\n}', "GP007", "owns", "`stopped`"),
    ('flavor h { label pool: "x" }', "GP003", ":", "write `=`"),
    ("flavor h { taint pool = spot NoSchedule }", "GP008", "spot", 'write `"spot"`'),
    ("flavor h { taint pool noschedule }", "GP003", "noschedule", "`NoSchedule`"),
    ("flavor h { gpu 8 as owned }", "GP003", "as", "without a number"),
    ("flavor h { nvidia.com/gpu as owned }", "GP008", "nvidia.com/gpu", 'write `"nvidia.com/gpu"`'),
    ('policy "p" { decide in cycle of 1s }', "GP003", "cycle", "did you mean `cycles`?"),
    ('policy "p" { order head by priority }', "GP003", "head", "did you mean `heads`?"),
    ('policy "p" { preempt classical }', "GP003", "classical", "did you mean `classically`?"),
    ('policy "p" { preempt fairly by final share initial share }', "GP003", "initial", "write `, initial`"),
    ('policy "p" { usage halves every 7d, sampling every 5m }', "GP003", "sampling", "did you mean `sampled`?"),
    ('policy "p" { usage weighs 1 cpu }', "GP003", "1", "write `cpu 1`"),
    # what is not complete, and what has no advice of its own
    ("queue", "GP003", "e", "here may stand a name"),
    ("deny a { where workload.gpu > 8 }", "GP003", "}", 'because "..."'),
    ("queue a { owns nothing weigth }", "GP003", "weigth", "`}`"),
    ("queue a { owns notting }", "GP003", "notting", "did you mean `nothing`?"),
    ("queue a { Owns nothing }", "GP007", "Owns", "did you mean `owns`?"),
    ("protect p { victim.gpu > 8 }", "GP007", "victim.gpu", "`where`"),
    ("queue a { borrows 8 gpu }", "GP003", "8", "`borrows up to 8 gpu`"),
    ("Queue a { }", "GP007", "Queue", "did you mean `queue`?"),
    ("share used", "GP007", "share", "indent it"),
    ("budget gentle { }", "GP009", "budget", "remove it"),
    ("? { }", "GP007", "?", "an item starts with"),
]


@pytest.mark.parametrize(("text", "code", "marked", "help_piece"), MISTAKES)
def test_each_mistake_is_recognised(text: str, code: str, marked: str, help_piece: str) -> None:
    """One mistake gives one diagnostic: its code, on the piece of text that is wrong, with what to write instead."""
    [diagnostic] = parse(text + "\n", "p.gpol").diagnostics
    start, end = diagnostic.span.start, diagnostic.span.end
    if code == "GP004":  # the brace is told by what stands before it
        start = end - len(marked)

    assert (diagnostic.code, text[start:end]) == (code, marked)
    assert help_piece in diagnostic.help
    assert diagnostic.label or code == "GP002"


def test_every_code_of_a_single_item_is_met() -> None:
    """The table leaves no code of the syntax out, but those of whole files."""
    assert {code for _, code, _, _ in MISTAKES} == set(SYNTAX) - {"GP001", "GP002"}


def test_what_is_found_is_shortened() -> None:
    """A word that goes on and on leaves headline and help readable."""
    [diagnostic] = parse(f"queue a {{ for user {'x' * 4000} }}\n", "p.gpol").diagnostics

    assert diagnostic.help == f'write `"{"x" * 77}..."`'


def test_a_deep_guard_is_refused_wherever_it_stands() -> None:
    """Guards are nested 32 deep at most, in each kind of rule; at the limit they are fine."""
    for rule in ("protect r {{ where {} }}\n", 'hold r {{ where {} }} because "b"\n', "preempt r {{ where {} }}\n"):
        assert parse(rule.format("not " * 31 + "victim.gpu > 1"), "p.gpol").diagnostics == ()
        [diagnostic] = parse(rule.format("not " * 32 + "victim.gpu > 1"), "p.gpol").diagnostics
        assert (diagnostic.code, diagnostic.help) == ("GP002", "flatten it")


def test_a_file_of_broken_items_is_given_up() -> None:
    """After 500 broken items the rest is not read, which is said at its start; whether item or line is broken."""
    for line in ("queue a { own nothing }\n", "queue a {\nowns nothing\n}\n"):
        diagnostics = parse(line * 502, "p.gpol").diagnostics
        assert len(diagnostics) == 501
        assert (diagnostics[-1].code, diagnostics[-1].span.start) == ("GP002", 500 * len(line))
        assert len(parse(line * 500, "p.gpol").diagnostics) == 500


@pytest.mark.parametrize(
    ("text", "block"),
    [
        ("topology t { rack }", "a topology"),
        ('test "t" { at 0s node n1 { rack } }', "a node"),
        ('test "t" { at 0s submit node { rack } }', "a submission"),
    ],
)
def test_the_block_is_named(text: str, block: str) -> None:
    """What starts no statement is told with the block in which it stands."""
    [diagnostic] = parse(text, "p.gpol").diagnostics
    assert diagnostic.message == f"`rack` starts no statement of {block}"
