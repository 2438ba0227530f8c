"""Formatting: the one layout, comments in their places, and never a word lost."""

import re
from collections.abc import Callable

import pytest
from gpol.dsl.diagnostics import PolicyError
from gpol.dsl.print import printer
from gpol.dsl.print.formatter import FormatError, format_text, print_tree
from gpol.dsl.syntax import tree
from gpol.dsl.syntax.parser import parse
from hypothesis import given
from hypothesis import strategies as st


@pytest.mark.parametrize("item", ["protect p {{ {} }}\n", 'deny d {{ {} }} because "b"\n', 'hold h {{ {} }} because "b"\n'])
def test_a_second_where_is_refused_and_not_dropped(item: str) -> None:
    """A rule takes one guard; a second one is an error, never silently left out of the rule and of the formatted file."""
    text = item.format("\n  where workload.gpu > 1\n  where workload.gpu > 2\n")

    with pytest.raises(PolicyError) as caught:
        format_text(text, "p.gpol")

    [diagnostic] = caught.value.diagnostics
    assert text[diagnostic.span.start :].startswith("where workload.gpu > 2")


SAMPLE = """\
# A policy.
policy "sample" {
  use gpol.fair
  order queues by share asc, submitted asc
  preempt by nothing
  ignore license
  decide at once
}

policy "in cycles" {
  use kueue.fair
  decide in cycles of 1s
  order heads by borrowing asc, priority desc
  preempt classically
  preempt fairly by final share, initial share
  preempt fairly by initial share
  usage halves every 7d, sampled every 5m
  usage weighs cpu 1, memory 0, "nvidia.com/gpu" 1/2
}

policy "by passes" {
  use kai.default
  decide in cycles of 1s by nominate
  decide in cycles of 1s by enqueue, allocate, consolidate, reclaim, preempt, backfill, balance, end broken gangs
  entitle as owned
  entitle by weight
  entitle owned first, then by weight
  entitle owned first, then by weight in whole units by priority
  entitle by weight up to demand, in at most 10 rounds, to 1/100
  share of entitlement where nothing is due counts x1000
  share of owned where nothing is due counts 1
  share of cost where nothing is due counts 0 weighing gpu 4, "nvidia.com/gpu" 1/2
  place pods by fits-now desc, free gpu asc, free "nvidia.com/gpu" in steps of 2 desc
  score nodes packed 5, packed 2 for "nvidia.com/gpu", least used 1, most used 2, balanced 1, near 5
  admit within limits, entitlement, owned if never evicted
  enqueue within limits, 6/5 of what exists
  gangs broken for 60s end
  start up to 1/4 of gpu, 1/2 of "nvidia.com/gpu" a cycle
}

flavor h100 {
  gpu 64
  worth 1/2
}

flavor spot {
  gpu, cpu as owned
  memory as owned
  label pool = "spot"
  label "a b" = ""
  taint pool = "spot" NoSchedule
  taint "anything" PreferNoSchedule
  tolerates pool = "spot" NoExecute
  tolerates "anything/kind" = "x"
  tolerates kind/name
  tolerates "anything" NoSchedule
  tolerates anything
  tolerates anything NoSchedule
  missing
}

flavor pool { gpu, cpu from nodes where zone = "b" and gpu/model = "x" }

topology fabric {
  level block from label "cloud/block"
  level "cloud/rack" from label "cloud/rack"
  level host from node
}

topology islands { level "node" from node }

flavor placed-twice {
  gpu as owned
  placed in fabric
  placed in "nodes"
  placed on nodes
}

priority high 100 { never evicted }
priority low -5

priority capped 10 { queues use up to 1/4 of gpu, 1/2 of "nvidia.com/gpu" }

priority both 20 {
  never evicted
  queues use up to 1 of gpu
}

cohort research {
  weight 3
  queue nlp {
    for namespace "nlp-*" and label "tier" = "prod"
    owns 16 gpu on h100
    lends all but 4 gpu on h100
    borrows anything
    prefer h100, pool
    priority at most high
    default priority low
    queueing strict fifo
  }
  queue "6214" { owns nothing }
  queue reclaim {
    owns anything
    owns anything on h100
    uses up to 8 gpu on h100
    weight 2 for "nvidia.com/gpu"
    priority 100
    never reclaimed
  }
  queue "team/x" {
    serves gpu, "nvidia.com/gpu" from h100, spot
    serves cpu from pool
    when borrowing try next flavor
    when evicting take flavor
    rather evict than borrow
    rather borrow than evict
    evicts its own of lower priority
    evicts its own of lower priority or newer
    reclaims from lower priority
    reclaims from anyone
    borrows by evicting lower priority
    borrows by evicting lower priority up to -5
    stopped
    stopped and drained
    for namespaces where label "a" in "b", "c" and label "a" not in "d" and label "e" exists and label "f" absent
    for no namespaces
    needs check prov for nodes
    needs check "a/b" on h100, spot
    admits by usage
    local queue "team/x"
    local queue "team/y" { weight 2 }
    local queue "team/z" {
      weight 1/2
      stopped and drained
    }
  }
  queue tenants {
    local queue "team/w" { stopped }
  }
}

preempt passes {
  in end broken gangs
  when workload fits what its queue is entitled to
  when workload fits what its queue is entitled to in any resource, up to 2 levels above
  when workload may be evicted
  evict from other queues
  search by scenarios
  search by scenarios, moving whom it can
  search by scenarios, moving everybody, at most 16 workloads
  search node by node, sparing whom it can
  search by rescheduling
  take whole workloads
  take single pods
  take surplus pods one by one, then the rest together
  accept where victim side is over its entitlement or victim side is over 1/2 of its uncapped entitlement
  accept where workload side is owed what it owns or 3/2 of workload side stays less saturated
  votes { gang, conformance } then { deserved } then { priority, share }
}

preempt make-way {
  when workload fits what its cohort owns
  evict from any queue, in the same cohort
  where victim.priority < low and not (victim.gpu > 8 gpu or victim.label "a" = "b")
  order by victim.priority asc, victim.queue.share desc
}

protect warm-up { where victim.running < 10m }

hold moving for nlp, "6214" because "too \\"hot\\""
deny big for "6214" { where workload.gpu > 8 } because "too big"

test "plays" {
  at 0s
  at 0s submit a by nlp { gang of 4 x 1 gpu and 2 cpu on h100 or pool, 8 gpu, priority high, user "ada", label "k" = "v" }
  expect a admitted borrowing on h100
  at 1h capacity h100 32 gpu
  at 1h evict a
  expect a evicted by make-way
  expect a pending because OnHold by moving
  expect a rejected by big
  at 2h node n1 { 8 gpu and 64 cpu, label rack = "r 1", label "a b" = "", taint gone NoSchedule, taint a = "b" NoExecute, cordoned }
  at 2h node "n.2" { 8 gpu, 64 cpu }
  at 2h remove node "n.2"
  at 2h submit b { gang of 4 x 1 gpu on h100 within "cloud/rack", 1 gpu near block, 1 gpu anywhere }
  at 2h submit c { gang of 16 x 1 gpu within block in slices of 8 within "cloud/rack" in slices of 4 within host }
  at 2h submit d { 1 gpu in slices of 1 within host }
  at 2h submit e { group "first one" { 1 gpu within block, gang of 2 x 1 gpu within block }, 1 gpu, group second { 1 gpu }, group "g" }
  expect b admitted borrowing on h100 on nodes n1, "n.2"
  expect c admitted on nodes n1
}
"""
"""Every statement of the language, in the one layout."""

WORD = re.compile(r'"(?:\\.|[^"\\\n])*"|#[^\n]*|[\w./-]+|[^\s\w]|\n')
"""A word, text, sign, comment or line end."""


def comments(text: str) -> list[str]:
    """The comments of a text, in order."""
    return [text[span.start : span.end].rstrip() for span in parse(text, "p.gpol").comments]


def test_the_sample_is_in_the_one_layout() -> None:
    """What is written as the formatter writes is left alone, whichever statement it is."""
    assert format_text(SAMPLE, "p.gpol") == SAMPLE


@pytest.mark.parametrize("comment", ["  # why {\n", pytest.param('\n# "own\n', marks=pytest.mark.slow)])
def test_a_comment_may_stand_wherever_a_line_may_end(comment: str) -> None:
    """Put behind every word in turn, it makes a broken item or is kept, and formatting settles; nothing else changes."""
    kept = 0
    for item in SAMPLE.split("\n\n"):
        said = parse(item, "p.gpol").tree
        for gap in (match.end() for match in WORD.finditer(item)):
            text = item[:gap] + comment + item[gap:]
            parsed = parse(text, "p.gpol")
            if parsed.diagnostics:
                continue
            kept += 1
            formatted = format_text(text, "p.gpol")
            assert comments(formatted) == comments(text)
            assert parse(formatted, "p.gpol").tree == parsed.tree == said
            assert format_text(formatted, "p.gpol") == formatted
    assert kept > SAMPLE.count("\n")  # behind each line at least


@pytest.mark.parametrize(
    "disguise",
    [
        lambda text: text.replace("\n", "\r\n"),
        lambda text: text.replace("  ", "\t"),
        lambda text: text.replace("\n", " \t \n"),
        lambda text: text.replace("\n", "\n\n\n"),
        lambda text: re.sub(
            r"(?<=\S) (?=\S)", "   ", re.sub(r'"[^"\n]*"|#[^\n]*', lambda piece: piece[0].replace(" ", "\0"), text)
        ).replace("\0", " "),
        lambda text: text.rstrip("\n"),
    ],
    ids=["CRLF", "tabs", "trailing spaces", "empty lines", "wide spaces", "no end of line"],
)
def test_space_never_matters(disguise: Callable[[str], str]) -> None:
    """Line ends, tabs and spaces of any kind come out as the one layout; empty lines inside blocks shrink to one."""
    formatted = format_text(disguise(SAMPLE), "p.gpol")

    assert [line for line in formatted.splitlines() if line] == [line for line in SAMPLE.splitlines() if line]
    assert "\n\n\n" not in formatted
    assert format_text(formatted, "p.gpol") == formatted


def test_names_of_any_script_and_long_lines_stay() -> None:
    """A list of 300 names stays one line, and a name is quoted only where it must be."""
    names = ", ".join(f'"机器-{number}"' for number in range(300))
    text = f'queue "nlp" {{ prefer {names} }}\n'

    assert format_text(text, "p.gpol") == f"queue nlp {{\n  prefer {names}\n}}\n"


LONG = "x" * 120


@pytest.mark.parametrize(
    "rule",
    [
        f'hold h[] because "{LONG}"\n',
        f'deny d for q[] because "{LONG}"\n',
        f"protect {LONG}[]\n",
        f'queue q {{\n  local queue "a/{LONG}"[]\n}}\n',
    ],
)
def test_what_has_no_block_gets_none_however_long_it_is(rule: str) -> None:
    """A line too long is no reason to open a block with nothing in it, and a block with nothing in it is closed up."""
    line = rule.replace("[]", "")

    assert format_text(line, "p.gpol") == line
    assert format_text(rule.replace("[]", " { }"), "p.gpol") == line


_WORDS = st.text(st.characters(categories=["L", "N", "P", "Zs"], exclude_characters="\\"), min_size=1, max_size=150).map(
    lambda text: f"x{text}x"
)


@given(st.sampled_from(["hold", "deny"]), _WORDS, st.lists(_WORDS, max_size=3), _WORDS)
def test_rules_of_any_length_are_laid_out_once_and_for_all(action: str, title: str, scope: list[str], why: str) -> None:
    """The layout of a rule without a block says the same as the rule, and laid out again it stays."""
    rule = tree.AdmissionItem(action, tree.Name(title), tuple(map(tree.Name, scope)), None, tree.Text(why))
    file = tree.File((rule, tree.ProtectItem(tree.Name(title), tuple(map(tree.Name, scope)), None)))

    once = print_tree(file)

    assert parse(once, "p.gpol").tree == file
    assert format_text(once, "p.gpol") == once
    assert len(once.splitlines()) == 3


@pytest.mark.parametrize(
    ("written", "formatted"),
    [
        ("priority a 1\n\n\npriority b 2\npriority c 3 {\n}\n", "priority a 1\n\npriority b 2\npriority c 3\n"),
        ("queue a {owns nothing}\nqueue b {\n}\n", "queue a { owns nothing }\nqueue b { }\n"),
        ("protect p { }\n", "protect p\n"),
        ('policy "p"{}\n', 'policy "p" { }\n'),
        ("queue a { } # one\n# two\nqueue b { }\n", "queue a { }  # one\n# two\nqueue b { }\n"),
        ("# alone", "# alone\n"),
        ("", ""),
        ("\n \n", ""),
        ("protect p { where ((victim.gpu>1)) and (victim.gpu<9) }\n", "protect p { where victim.gpu > 1 and victim.gpu < 9 }\n"),
        ("preempt p { order by victim.gpu }\n", "preempt p { order by victim.gpu asc }\n"),
        ('resource "gang"\nresource "plain"\n', 'resource "gang"\nresource plain\n'),
    ],
)
def test_the_one_layout(written: str, formatted: str) -> None:
    """Short blocks on one line, neighbours together, everything else apart by one empty line."""
    assert format_text(written, "p.gpol") == formatted


def test_a_layout_that_would_change_the_meaning_is_never_written(monkeypatch: pytest.MonkeyPatch) -> None:
    """Should the printer ever say something else, the formatter refuses instead of writing it."""
    monkeypatch.setattr(printer, "quoted", lambda text: f'"{text}!"')

    with pytest.raises(FormatError, match="would not say the same"):
        format_text('queue a { for user "ada" }\n', "p.gpol")
