"""Habits from other systems: words of Kueue, YARN, Slurm, SQL and configuration files, and what to write instead."""

import re
from collections.abc import Callable

from ...diagnostics import Diagnostic
from ..items import word_at
from ..tree import Span
from .frequent_mistakes import Stop, block_of
from .lookalikes import described, plain

_QUEUE = "write `queue NAME { ... }`"
_FLAVOR = "write `flavor NAME { gpu 8 }`"

ITEMS = {
    "clusterqueue": _QUEUE,
    "localqueue": 'write `local queue "namespace/name"` in a queue',
    "partition": _QUEUE,
    "partitionname": _QUEUE,
    "account": _QUEUE,
    "pool": _QUEUE,
    "tenant": _QUEUE,
    "team": _QUEUE,
    "group": "write `cohort NAME { ... }` around queues",
    "qos": "write `priority NAME 100`",
    "priorityclass": "write `priority NAME 100`",
    "workloadpriorityclass": "write `priority NAME 100`",
    "resourceflavor": _FLAVOR,
    "node": _FLAVOR,
    "nodes": _FLAVOR,
    "nodename": _FLAVOR,
    "gres": _FLAVOR,
    "gpu": _FLAVOR,
    "rule": "write `preempt`, `protect`, `deny` or `hold`, and the rule's name",
    "allow": 'everything is allowed that no rule denies: write `deny NAME { where ... } because "..."`',
    "limit": 'write `deny NAME { where workload.gpu > 8 } because "..."`, or `borrows nothing` in a queue',
    "include": "a policy is one file; what several have in common is in a profile: `use NAME` in the header",
    "import": "a policy is one file; what several have in common is in a profile: `use NAME` in the header",
    "apiversion": "this looks like Kubernetes objects: `gpol import kueue FILE` makes a policy of those of Kueue",
    "metadata": "this looks like Kubernetes objects: `gpol import kueue FILE` makes a policy of those of Kueue",
}
"""Words, in small letters, with which items of other systems start."""

_OWNS, _BORROWS = "write `owns 8 gpu`", "write `borrows up to 8 gpu`, which is counted beyond what the queue owns"

_STATEMENTS = {
    **dict.fromkeys(("nominalquota", "quota", "capacity", "limit", "resources", "has"), _OWNS),
    **dict.fromkeys(("borrowinglimit", "max", "maximum", "maxresources", "maxcapacity", "grptres", "maxtres"), _BORROWS),
    "lendinglimit": "write `lends up to 8 gpu`",
    **dict.fromkeys(("min", "minimum", "minresources", "minshare", "reserve", "reserved"), "write `guarantees 8 gpu`"),
    **dict.fromkeys(("parent", "cohortname"), "put the queue into the block of its parent: `cohort NAME { queue ... }`"),
    **dict.fromkeys(("user", "users", "allowusers"), 'write `for user "ada"`'),
    **dict.fromkeys(("namespace", "namespaces", "namespaceselector"), 'write `for namespace "nlp-*"`'),
    **dict.fromkeys(("group", "groups", "allowgroups"), 'write `for group "nlp"`'),
    **dict.fromkeys(("state", "stoppolicy", "disabled"), "write `stopped`"),
    "if": "write `where`",
    "submit": "say when: `at 0s submit ...`",
    "finish": "say when: `at 1h finish ...`",
    "assert": "write `expect w admitted`",
}

_TIME = re.compile(r"(?:\d{4}-\d\d-\d\d[Tt])?(\d{1,2}):(\d\d)(?::(\d\d))?[Zz]?(?![\w:])")
_TURNED = {"<": ">", "<=": ">=", "=": "=", "!=": "!=", ">": "<", ">=": "<="}


def foreign_item(text: str, start: int) -> tuple[str, str] | None:
    """What stands in place of an item, and what to write; None for what is not known."""
    for sign in ("//", "/*", "--", "%", ";"):
        if text.startswith(sign, start) and not text.startswith("---", start):
            return sign, "a comment starts with `#`"
    if text.startswith("<", start):
        return "<", "this looks like XML; a policy is a text of items such as `queue NAME { owns 8 gpu }`"
    if text.startswith("---", start):
        return "---", ITEMS["apiversion"]
    word = word_at(text, start)
    return (word, ITEMS[word.casefold()]) if word.casefold() in ITEMS else None


def _clock(stop: Stop) -> Diagnostic | None:
    """`20:00`, a time of day, or `00:10:00`, a duration of other systems."""
    start = stop.span.start
    while start > stop.place.start and (stop.text[start - 1].isdigit() or stop.text[start - 1] in ":-Tt"):
        start -= 1
    found = _TIME.match(stop.text, start)
    if found is None or stop.found not in (":", ""):
        return None
    span = Span(start, found.end())
    if "-" in found[0]:
        help_text = "remove it; rules compare durations, such as `victim.running < 10m`"
        return stop.error("GP003", f"`{found[0]}` is a moment, and no rule can look at that", help_text, "a moment", span)
    if re.search(r"\.(running|waiting)\s*[<>=!]+\s*$", stop.text[stop.place.start : start]):
        hours, minutes, seconds = int(found[1]), int(found[2]), int(found[3] or 0)
        parts = ((hours, "h"), (minutes, "m"), (seconds, "s"))
        written = "".join(f"{number}{unit}" for number, unit in parts if number) or "0s"
        return stop.error("GP003", f"`{found[0]}` is no duration", f"write `{written}`", "with `:`", span)
    help_text = "remove it, and activate another policy at that time; rules compare durations, such as `victim.running < 10m`"
    return stop.error("GP003", f"`{found[0]}` is a time of day, and no rule can look at that", help_text, "a time of day", span)


def _lookalike(stop: Stop) -> Diagnostic | None:
    """A letter, digit or space of another script, which looks like the one that was meant."""
    start = stop.span.start
    while stop.found.strip() and start > stop.place.start and (stop.text[start - 1].isalnum() or stop.text[start - 1] in "_-"):
        start -= 1
    run = re.compile(r"[^\s{}()\",#=<>:;]+|\s").match(stop.text, start)
    odd = next((char for char in run[0] if plain(char) != char), None) if run is not None else None
    if run is None or odd is None:
        return None
    meant = plain(run[0])
    if not meant.isascii():  # a word of another language
        return None
    help_text = f"write `{meant}` in plain letters and digits" if meant.strip() else "write a plain space"
    return stop.error("GP003", f"{described(odd)} stands here", help_text, "looks like another", Span(run.start(), run.end()))


def _limit_without_up_to(stop: Stop) -> Diagnostic | None:
    """`borrows 8 gpu`, `lends at most 8 gpu`."""
    verb = re.search(r"\b(borrows|lends)$", stop.before)
    rest = re.compile(r"(?:at most |max )?(-?\d[^\s}#]*(?: [A-Za-z][\w-]*)?)").match(stop.text, stop.span.start)
    if verb is None or rest is None:
        return None
    return stop.error("GP003", f"`{verb[1]}` has a limit", f"write `{verb[1]} up to {rest[1]}`", "`up to` is missing")


def _other_alternative(stop: Stop) -> Diagnostic | None:
    """`for user "a" or user "b"`."""
    if stop.found != "or" or not re.search(r"(^|[\n{])[ \t]*for [^\n]*$", stop.before):
        return None
    other = stop.text[stop.span.end :].split("\n", 1)[0].split("}")[0].strip()
    return stop.error(
        "GP003", "the conditions of a `for` are joined by `and` alone", f"write a second line: `for {other}`", "an alternative"
    )


def _priority_in_queue(stop: Stop) -> Diagnostic | None:
    if stop.accepted != {"AT", "NUMBER"} or not stop.before.endswith("priority"):
        return None
    help_text = f"write `default priority {stop.shown}`, or `priority at most {stop.shown}` for the highest one that counts"
    return stop.error("GP003", "a queue has a default priority and a highest one", help_text, "which of the two?")


_OPERATORS = {
    "in": 'write one comparison for each value: `workload.user = "a" or workload.user = "b"`',
    "like": 'write `=` and a pattern with `*` and `?`: `workload.user = "a*"`',
    "matches": 'write `=` and a pattern with `*` and `?`: `workload.user = "a*"`',
    "is": "write `=`",
    "not": "write `!=`, or `not` in front of the comparison",
    "between": "write two comparisons: `workload.gpu >= 2 and workload.gpu <= 8`",
}


def _other_operator(stop: Stop) -> Diagnostic | None:
    """`in`, `like`, arithmetic in guards."""
    if "OPERATOR" in stop.accepted and stop.found in _OPERATORS:
        return stop.error("GP003", f"`{stop.found}` is no comparison", _OPERATORS[stop.found], "no comparison")
    guard = re.search(r"\bwhere\b[^{}]*$", stop.before)
    if guard is not None and stop.found in ("+", "-", "*", "/", "%"):
        return stop.error(
            "GP003", "there is no arithmetic in guards", "compare one field with a value: `workload.gpu > 8`", "a calculation"
        )
    return None


def _value_first(stop: Stop) -> Diagnostic | None:
    """`8 < workload.gpu`."""
    turned = re.compile(r'("[^"\n]*"|-?\d\S*) *(<=|>=|!=|<|>|=) *((?:workload|victim)\.[\w.-]+)').match(stop.text, stop.span.start)
    if turned is None or "FIELD" not in stop.accepted:
        return None
    help_text = f"write `{turned[3]} {_TURNED[turned[2]]} {turned[1]}`"
    return stop.error("GP003", "a comparison starts with its field", help_text, "the value")


def _guard_without_where(stop: Stop) -> Diagnostic | None:
    if "WHERE" not in stop.accepted or not re.match(r"(workload|victim)\.|not\b|\(", stop.text[stop.span.start :]):
        return None
    return stop.error("GP007", "a guard starts with `where`", f"put `where` in front: `where {stop.shown} ...`", "`where` is missing")


def _text_of_words(stop: Stop) -> Diagnostic | None:
    """`because too big`."""
    if stop.accepted != {"STRING"} or not stop.before.endswith("because"):
        return None
    words = stop.text[stop.span.start :].split("\n", 1)[0].split("#")[0].strip()
    span = Span(stop.span.start, stop.span.start + len(words))
    return stop.error("GP008", "the reason has to stand in quotes", f'write `"{words}"`', "a text", span) if words else None


def _plural_condition(stop: Stop) -> Diagnostic | None:
    """`for users "ada"`."""
    singular = stop.found.removesuffix("s")
    if "ATTRIBUTE" not in stop.accepted or singular == stop.found or singular not in ("user", "group", "kind", "label"):
        return None
    return stop.error("GP003", f"`{stop.found}` is not expected here", f"write `for {singular}`, one line for each")


def _other_statement(stop: Stop) -> Diagnostic | None:
    """A statement of another system, where statements start."""
    word = word_at(stop.text, stop.span.start).replace("-", "").replace("_", "").casefold()
    if word not in _STATEMENTS or not stop.starts_statement or stop.accepted & {"NAME", "$END"}:
        return None
    place = block_of(stop)
    fitting = {"a queue": "OWNS", "a cohort": "OWNS"}.get(place)
    said = _STATEMENTS[word]
    if said.startswith(("write `where`", "say when", "write `expect")) == (fitting is not None):
        return None
    return stop.error("GP007", f"`{stop.shown}` starts no statement of {place}", said, "not known here")


def _in_tests(stop: Stop) -> Diagnostic | None:
    """`expect w running`, `expect w is admitted`, `submit w to q`."""
    if "ADMITTED" in stop.accepted and stop.found in ("running", "started", "is"):
        help_text = "write `admitted`" if stop.found != "is" else "leave it out: `expect w admitted`"
        return stop.error("GP003", f"`{stop.found}` is not expected here", help_text)
    if stop.found in ("to", "in", "from") and {"BY", "LBRACE"} <= stop.accepted:
        return stop.error("GP003", f"`{stop.found}` is not expected here", "write `by` and the queue's name")
    return None


HABITS: tuple[Callable[[Stop], Diagnostic | None], ...] = (
    _lookalike,
    _clock,
    _limit_without_up_to,
    _other_alternative,
    _priority_in_queue,
    _value_first,
    _other_operator,
    _guard_without_where,
    _text_of_words,
    _plural_condition,
    _other_statement,
    _in_tests,
)
"""The habits in the order in which they are tried; the first that is recognised is reported."""
