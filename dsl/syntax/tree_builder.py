"""From reductions of the grammar to the syntax tree: one small method for each rule, called by the parser itself."""

from typing import Any

from lark import TextSlice, Token, Transformer
from lark.lexer import Lexer, LexerState, LexerThread, LineCounter

from . import tree
from .build_places import BuildPlaces
from .build_rules import BuildRules
from .parts import Part, Strategy, UsageWeight, all_of, first_of, key_of, span_of, token_of, unquoted, words_of


class ItemLexer(LexerThread):
    """Reads one item. Lark's own would count the lines before every item, which takes quadratic time; here offsets are places."""

    @classmethod
    def from_text(cls, lexer: Lexer, text_or_slice: str | bytes | TextSlice[Any]) -> "ItemLexer":
        """Start at the item's first character, whatever line that is on."""
        text = TextSlice.cast_from(text_or_slice)
        counter = LineCounter("\n")  # type: ignore[no-untyped-call]
        counter.char_pos = text.start
        return cls(lexer, LexerState(text, counter))


class Build(BuildPlaces, BuildRules, Transformer[Token, Any]):
    """Makes nodes; every method gets all children of its rule, keywords included."""

    def start(self, parts: list[Part]) -> tree.Item:
        item: tree.Item = parts[0]
        return item

    # --- words

    def name(self, parts: list[Part]) -> tree.Name:
        token = parts[0]
        return tree.Name(unquoted(token) if token.type == "STRING" else str(token), span=span_of(parts))

    def text(self, parts: list[Part]) -> tree.Text:
        return tree.Text(unquoted(parts[0]), span=span_of(parts))

    def number(self, parts: list[Part]) -> tree.Number:
        return tree.Number(str(parts[0]), span=span_of(parts))

    def amount(self, parts: list[Part]) -> tree.Amount:
        return tree.Amount(parts[0], parts[1], span=span_of(parts))

    # --- header

    def header(self, parts: list[Part]) -> tree.Header:
        choices = all_of(parts[2:], tree.Spanned)
        return tree.Header("policy" if parts[0] == "policy" else "profile", parts[1], choices, span=span_of(parts))

    def use(self, parts: list[Part]) -> tree.Use:
        return tree.Use(str(parts[1]), span=span_of(parts))

    def share(self, parts: list[Part]) -> tree.Share:
        return tree.Share(str(parts[1]), len(parts) > 2, span=span_of(parts))  # type: ignore[arg-type]

    def order(self, parts: list[Part]) -> tree.Order:
        return tree.Order(str(parts[1]), all_of(parts, tree.Key), span=span_of(parts))  # type: ignore[arg-type]

    def queueing(self, parts: list[Part]) -> tree.Queueing:
        return tree.Queueing(parts[1] == "strict", span=span_of(parts))

    def flavor_choice(self, parts: list[Part]) -> tree.FlavorChoice:
        return tree.FlavorChoice(str(parts[1]), parts[2] == "try", span=span_of(parts))  # type: ignore[arg-type]

    def decide(self, parts: list[Part]) -> tree.Decide:
        return tree.Decide(first_of(parts, tree.Number), span=span_of(parts))

    def preempt_way(self, parts: list[Part]) -> tree.PreemptWay:
        return tree.PreemptWay(tuple(part.name for part in all_of(parts, Strategy)), span=span_of(parts))

    def strategy(self, parts: list[Part]) -> Strategy:
        return Strategy("final-share" if parts[0] == "final" else "initial-share", span=span_of(parts))

    def usage_decay(self, parts: list[Part]) -> tree.UsageDecay:
        half_life, sampling = all_of(parts, tree.Number)
        return tree.UsageDecay(half_life, sampling, span=span_of(parts))

    def usage_weights(self, parts: list[Part]) -> tree.UsageWeights:
        return tree.UsageWeights(tuple((part.resource, part.number) for part in all_of(parts, UsageWeight)), span=span_of(parts))

    def usage_weight(self, parts: list[Part]) -> UsageWeight:
        return UsageWeight(parts[0], parts[1], span=span_of(parts))

    def preempt_by(self, parts: list[Part]) -> tree.PreemptBy:
        return tree.PreemptBy(all_of(parts, tree.Name), span=span_of(parts))

    def default_priority(self, parts: list[Part]) -> tree.DefaultPriority:
        return tree.DefaultPriority(parts[2], span=span_of(parts))

    def ignore(self, parts: list[Part]) -> tree.Ignore:
        return tree.Ignore(all_of(parts, tree.Name), span=span_of(parts))

    # --- what exists

    def resource(self, parts: list[Part]) -> tree.Resource:
        return tree.Resource(parts[1], span=span_of(parts))

    def flavor(self, parts: list[Part]) -> tree.Flavor:
        return tree.Flavor(parts[1], all_of(parts[2:], tree.Spanned), span=span_of(parts))

    def worth(self, parts: list[Part]) -> tree.Worth:
        return tree.Worth(parts[1], span=span_of(parts))

    def capacity(self, parts: list[Part]) -> tree.Capacity:
        return tree.Capacity(parts[0], parts[1], span=span_of(parts))

    def from_nodes(self, parts: list[Part]) -> tree.FromNodes:
        return tree.FromNodes(all_of(parts, tree.Name), all_of(parts, tree.LabelEquals), span=span_of(parts))

    def label_equals(self, parts: list[Part]) -> tree.LabelEquals:
        return tree.LabelEquals(key_of(parts[0]), parts[2], span=span_of(parts))

    def as_owned(self, parts: list[Part]) -> tree.AsOwned:
        return tree.AsOwned(all_of(parts, tree.Name), span=span_of(parts))

    def node_label(self, parts: list[Part]) -> tree.NodeLabel:
        return tree.NodeLabel(parts[1], span=span_of(parts))

    def taint(self, parts: list[Part]) -> tree.Taint:
        return tree.Taint(key_of(parts[1]), first_of(parts, tree.Text), str(parts[-1]), span=span_of(parts))

    def tolerates(self, parts: list[Part]) -> tree.Tolerates:
        key, effect = token_of(parts, "LABEL_KEY", "STRING"), token_of(parts, "EFFECT")
        return tree.Tolerates(
            None if key is None else key_of(key),
            first_of(parts, tree.Text),
            None if effect is None else str(effect),
            span=span_of(parts),
        )

    def missing(self, parts: list[Part]) -> tree.Missing:
        return tree.Missing(span=span_of(parts))

    def priority(self, parts: list[Part]) -> tree.Priority:
        return tree.Priority(parts[1], parts[2], "never" in words_of(parts), span=span_of(parts))
