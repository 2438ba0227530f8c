"""From reductions of the grammar to the syntax tree: one small method for each rule, called by the parser itself."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from lark import TextSlice, Token, Transformer
from lark.lexer import Lexer, LexerState, LexerThread, LineCounter

from . import tree
from .tree import Span

Part = Any
"""A token, or a node that a rule below made."""


@dataclass(frozen=True, slots=True)
class _Gang(tree.Spanned):
    count: tree.Number


@dataclass(frozen=True, slots=True)
class _Names(tree.Spanned):
    """Names behind a keyword: `for a, b`, `by a`, `because a`."""

    keyword: str
    names: tuple[tree.Name, ...]


def _span(parts: Sequence[Part]) -> Span:
    first, last = parts[0], parts[-1]
    start: Any = first.start_pos if isinstance(first, Token) else first.span.start
    end: Any = last.end_pos if isinstance(last, Token) else last.span.end
    return Span(start, end)


def _unquote(text: str) -> str:
    return re.sub(r"\\(.)", r"\1", text[1:-1]) if "\\" in text else text[1:-1]


def _of(parts: Sequence[Part], kind: type | tuple[type, ...]) -> tuple[Any, ...]:
    return tuple(part for part in parts if isinstance(part, kind))


def _first(parts: Sequence[Part], kind: type | tuple[type, ...]) -> Any:
    return next((part for part in parts if isinstance(part, kind) and not isinstance(part, Token)), None)


def _words(parts: Sequence[Part]) -> list[str]:
    return [str(part) for part in parts if isinstance(part, Token)]


class ItemLexer(LexerThread):
    """Reads one item. Lark's own would count the lines before every item, which takes quadratic time; here offsets are places."""

    @classmethod
    def from_text(cls, lexer: Lexer, text_or_slice: str | bytes | TextSlice[Any]) -> "ItemLexer":
        """Start at the item's first character, whatever line that is on."""
        text = TextSlice.cast_from(text_or_slice)
        counter = LineCounter("\n")  # type: ignore[no-untyped-call]
        counter.char_pos = text.start
        return cls(lexer, LexerState(text, counter))


class Build(Transformer[Token, Any]):
    """Makes nodes; every method gets all children of its rule, keywords included."""

    def start(self, parts: list[Part]) -> tree.Item:
        item: tree.Item = parts[0]
        return item

    # --- words

    def name(self, parts: list[Part]) -> tree.Name:
        token = parts[0]
        return tree.Name(_unquote(token) if token.type == "STRING" else str(token), span=_span(parts))

    def text(self, parts: list[Part]) -> tree.Text:
        return tree.Text(_unquote(parts[0]), span=_span(parts))

    def number(self, parts: list[Part]) -> tree.Number:
        return tree.Number(str(parts[0]), span=_span(parts))

    def amount(self, parts: list[Part]) -> tree.Amount:
        return tree.Amount(parts[0], parts[1], span=_span(parts))

    # --- header

    def header(self, parts: list[Part]) -> tree.Header:
        choices = _of(parts[2:], tree.Spanned)
        return tree.Header("policy" if parts[0] == "policy" else "profile", parts[1], choices, span=_span(parts))

    def use(self, parts: list[Part]) -> tree.Use:
        return tree.Use(str(parts[1]), span=_span(parts))

    def share(self, parts: list[Part]) -> tree.Share:
        return tree.Share(str(parts[1]), span=_span(parts))  # type: ignore[arg-type]

    def order(self, parts: list[Part]) -> tree.Order:
        return tree.Order(str(parts[1]), _of(parts, tree.Key), span=_span(parts))  # type: ignore[arg-type]

    def queueing(self, parts: list[Part]) -> tree.Queueing:
        return tree.Queueing(parts[1] == "strict", span=_span(parts))

    def flavor_choice(self, parts: list[Part]) -> tree.FlavorChoice:
        return tree.FlavorChoice(str(parts[1]), parts[2] == "try", span=_span(parts))  # type: ignore[arg-type]

    def preempt_by(self, parts: list[Part]) -> tree.PreemptBy:
        return tree.PreemptBy(_of(parts, tree.Name), span=_span(parts))

    def default_priority(self, parts: list[Part]) -> tree.DefaultPriority:
        return tree.DefaultPriority(parts[2], span=_span(parts))

    def ignore(self, parts: list[Part]) -> tree.Ignore:
        return tree.Ignore(_of(parts, tree.Name), span=_span(parts))

    # --- what exists

    def resource(self, parts: list[Part]) -> tree.Resource:
        return tree.Resource(parts[1], span=_span(parts))

    def flavor(self, parts: list[Part]) -> tree.Flavor:
        return tree.Flavor(parts[1], _of(parts[2:], tree.Spanned), span=_span(parts))

    def worth(self, parts: list[Part]) -> tree.Worth:
        return tree.Worth(parts[1], span=_span(parts))

    def capacity(self, parts: list[Part]) -> tree.Capacity:
        return tree.Capacity(parts[0], parts[1], span=_span(parts))

    def from_nodes(self, parts: list[Part]) -> tree.FromNodes:
        return tree.FromNodes(_of(parts, tree.Name), _of(parts, tree.LabelEquals), span=_span(parts))

    def label_equals(self, parts: list[Part]) -> tree.LabelEquals:
        key = parts[0]
        return tree.LabelEquals(_unquote(key) if key.type == "STRING" else str(key), parts[2], span=_span(parts))

    def priority(self, parts: list[Part]) -> tree.Priority:
        return tree.Priority(parts[1], parts[2], "never" in _words(parts), span=_span(parts))

    # --- cohorts and queues

    def cohort(self, parts: list[Part]) -> tree.Cohort:
        return tree.Cohort(parts[1], _of(parts[2:], tree.Spanned), span=_span(parts))

    def queue(self, parts: list[Part]) -> tree.Queue:
        return tree.Queue(parts[1], _of(parts[2:], tree.Spanned), span=_span(parts))

    def quota(self, parts: list[Part]) -> tree.Quota:
        words = _words(parts)
        limits = {"up": "up-to", "all": "all-but", "nothing": "nothing", "anything": "anything"}
        limit = next((limits[word] for word in words if word in limits), "amount")
        amount, flavor = _first(parts, tree.Amount), _first(parts, tree.Name)
        return tree.Quota(words[0], limit, amount, flavor, span=_span(parts))  # type: ignore[arg-type]

    def weight(self, parts: list[Part]) -> tree.Weight:
        return tree.Weight(parts[1], span=_span(parts))

    def match(self, parts: list[Part]) -> tree.Match:
        return tree.Match(_of(parts, tree.MatchCondition), span=_span(parts))

    def match_condition(self, parts: list[Part]) -> tree.MatchCondition:
        key = parts[1] if parts[0] == "label" else None
        return tree.MatchCondition(str(parts[0]), key, parts[-1], span=_span(parts))  # type: ignore[arg-type]

    def flavor_list(self, parts: list[Part]) -> tree.FlavorList:
        return tree.FlavorList(str(parts[0]), _of(parts, tree.Name), span=_span(parts))  # type: ignore[arg-type]

    def ceiling(self, parts: list[Part]) -> tree.Ceiling:
        return tree.Ceiling(parts[3], span=_span(parts))

    # --- rules

    def preempt(self, parts: list[Part]) -> tree.Preempt:
        return tree.Preempt(parts[1], _of(parts[2:], tree.Spanned), span=_span(parts))

    def trigger(self, parts: list[Part]) -> tree.Trigger:
        return tree.Trigger(str(parts[5]), span=_span(parts))  # type: ignore[arg-type]

    def evict_from(self, parts: list[Part]) -> tree.EvictFrom:
        words = _words(parts)
        scope = "borrowing-queues" if "borrow" in words else "any-queue" if "any" in words else "same-queue"
        return tree.EvictFrom(scope, "in" in words, span=_span(parts))  # type: ignore[arg-type]

    def order_by(self, parts: list[Part]) -> tree.OrderBy:
        return tree.OrderBy(_of(parts, tree.Key), span=_span(parts))

    def key(self, parts: list[Part]) -> tree.Key:
        return tree.Key(str(parts[0]), parts[-1] == "desc" and len(parts) > 1, span=_span(parts))

    def scope(self, parts: list[Part]) -> _Names:
        return _Names("for", _of(parts, tree.Name), span=_span(parts))

    def protect(self, parts: list[Part]) -> tree.Protect:
        scope = _names(parts, "for")
        return tree.Protect(parts[1], scope, _first(parts, tree.Where), span=_span(parts))

    def admission(self, parts: list[Part]) -> tree.Admission:
        scope = _names(parts, "for")
        where = _first(parts, tree.Where)
        return tree.Admission(str(parts[0]), parts[1], scope, where, parts[-1], span=_span(parts))  # type: ignore[arg-type]

    def where(self, parts: list[Part]) -> tree.Where:
        return tree.Where(next(part for part in parts if not isinstance(part, Token)), span=_span(parts))

    def any_of(self, parts: list[Part]) -> tree.Guard:
        guards = _flat(parts, tree.AnyOf)
        return guards[0] if len(guards) == 1 else tree.AnyOf(guards, span=_span(parts))

    def all_of(self, parts: list[Part]) -> tree.Guard:
        guards = _flat(parts, tree.AllOf)
        return guards[0] if len(guards) == 1 else tree.AllOf(guards, span=_span(parts))

    def negation(self, parts: list[Part]) -> tree.Negation:
        return tree.Negation(next(part for part in parts if not isinstance(part, Token)), span=_span(parts))

    def comparison(self, parts: list[Part]) -> tree.Comparison:
        left, operator, right = parts
        if isinstance(left, tree.Name):  # the checker says that this is no field
            left = tree.FieldRef(left.text, "", span=left.span)
        return tree.Comparison(str(operator), left, right, span=_span(parts))  # type: ignore[arg-type]

    def field_ref(self, parts: list[Part]) -> tree.FieldRef | tree.Name:
        subject, dot, path = str(parts[0]).partition(".")
        if not dot and len(parts) == 1:
            return tree.Name(subject, span=_span(parts))
        label = tree.Text(_unquote(parts[1]), span=_span(parts[1:])) if len(parts) > 1 else None
        return tree.FieldRef(subject, path, label, span=_span(parts))

    # --- tests

    def policy_test(self, parts: list[Part]) -> tree.PolicyTest:
        return tree.PolicyTest(parts[1], _of(parts[2:], tree.Spanned), span=_span(parts))

    def at(self, parts: list[Part]) -> tree.At:
        return tree.At(parts[1], parts[2] if len(parts) > 2 else None, span=_span(parts))

    def submit(self, parts: list[Part]) -> tree.Submit:
        queue = next(iter(_names(parts, "by")), None)
        return tree.Submit(parts[1], queue, _of(parts, tree.Pods), _of(parts, tree.Attribute), span=_span(parts))

    def submit_by(self, parts: list[Part]) -> _Names:
        return _Names("by", (parts[1],), span=_span(parts))

    def gang(self, parts: list[Part]) -> _Gang:
        return _Gang(parts[2], span=_span(parts))

    def pods(self, parts: list[Part]) -> tree.Pods:
        gang = _first(parts, _Gang)
        return tree.Pods(gang.count if gang else None, _of(parts, tree.Amount), _of(parts, tree.Name), span=_span(parts))

    def attribute(self, parts: list[Part]) -> tree.Attribute:
        key = parts[1] if parts[0] == "label" else None
        return tree.Attribute(str(parts[0]), key, parts[-1], span=_span(parts))  # type: ignore[arg-type]

    def act(self, parts: list[Part]) -> tree.Act:
        return tree.Act(str(parts[0]), parts[1], span=_span(parts))  # type: ignore[arg-type]

    def set_capacity(self, parts: list[Part]) -> tree.SetCapacity:
        return tree.SetCapacity(parts[1], parts[2], span=_span(parts))

    def because(self, parts: list[Part]) -> _Names:
        return _Names("because", (parts[1],), span=_span(parts))

    def by_rule(self, parts: list[Part]) -> _Names:
        return _Names("by", (parts[1],), span=_span(parts))

    def expect(self, parts: list[Part]) -> tree.Expect:
        words = _words(parts)
        return tree.Expect(
            parts[1],
            words[1],  # type: ignore[arg-type]
            borrowing="borrowing" in words,
            flavor=_first(parts[2:], tree.Name),
            reason=next(iter(_names(parts, "because")), None),
            rule=next(iter(_names(parts, "by")), None),
            span=_span(parts),
        )


def _names(parts: Sequence[Part], keyword: str) -> tuple[tree.Name, ...]:
    return next((part.names for part in parts if isinstance(part, _Names) and part.keyword == keyword), ())


def _flat(parts: Sequence[Part], kind: type) -> tuple[tree.Guard, ...]:
    """Guards of one conjunction or disjunction, with nested ones of the same kind opened up."""
    guards: list[tree.Guard] = []
    for part in parts:
        if isinstance(part, Token):
            continue
        guards += part.items if isinstance(part, kind) else [part]  # type: ignore[attr-defined]
    return tuple(guards)
