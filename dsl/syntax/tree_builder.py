"""Builds the syntax tree: one small method for each rule of the grammar, which the parser calls."""

from typing import Any

from lark import TextSlice, Token, Transformer
from lark.lexer import Lexer, LexerState, LexerThread, LineCounter

from . import tree
from .build_passes import BuildPasses
from .build_queues import BuildQueues
from .build_rules import BuildRules
from .rule_children import Child, DueClause, StrategyWord, UsageWeight, all_of, first_of, key_of, span_of, token_of, unquoted, words_of


class ItemLexer(LexerThread):
    """Reads one item. Lark's own would count the lines before every item, which takes quadratic time; here offsets are places."""

    @classmethod
    def from_text(cls, lexer: Lexer, text_or_slice: str | bytes | TextSlice[Any]) -> "ItemLexer":
        """Start at the item's first character, whatever line that is on."""
        text = TextSlice.cast_from(text_or_slice)
        counter = LineCounter("\n")  # type: ignore[no-untyped-call]
        counter.char_pos = text.start
        return cls(lexer, LexerState(text, counter))


class Build(BuildPasses, BuildQueues, BuildRules, Transformer[Token, Any]):
    """Builds the nodes. Each method gets all children of its grammar rule, including keywords."""

    def start(self, parts: list[Child]) -> tree.Item:
        item: tree.Item = parts[0]
        return item

    # --- words

    def name(self, parts: list[Child]) -> tree.Name:
        token = parts[0]
        return tree.Name(unquoted(token) if token.type == "STRING" else str(token), span=span_of(parts))

    def text(self, parts: list[Child]) -> tree.Text:
        return tree.Text(unquoted(parts[0]), span=span_of(parts))

    def number(self, parts: list[Child]) -> tree.Number:
        return tree.Number(str(parts[0]), span=span_of(parts))

    def amount(self, parts: list[Child]) -> tree.Amount:
        return tree.Amount(parts[0], parts[1], span=span_of(parts))

    # --- header

    def header(self, parts: list[Child]) -> tree.Header:
        choices = all_of(parts[2:], tree.Spanned)
        return tree.Header("policy" if parts[0] == "policy" else "profile", parts[1], choices, span=span_of(parts))

    def use(self, parts: list[Child]) -> tree.Use:
        return tree.Use(str(parts[1]), span=span_of(parts))

    def share(self, parts: list[Child]) -> tree.ShareChoice:
        due, weighing = first_of(parts, DueClause), first_of(parts, tree.UsageWeights)
        return tree.ShareChoice(
            str(parts[2] if parts[1] == "of" else parts[1]),  # type: ignore[arg-type]
            "rounded" in words_of(parts),
            "" if due is None else due.counts,
            () if weighing is None else weighing.weights,
            span=span_of(parts),
        )

    def order(self, parts: list[Child]) -> tree.Order:
        return tree.Order(str(parts[1]), all_of(parts, tree.Key), span=span_of(parts))  # type: ignore[arg-type]

    def queueing(self, parts: list[Child]) -> tree.Queueing:
        return tree.Queueing(parts[1] == "strict", span=span_of(parts))

    def flavor_choice(self, parts: list[Child]) -> tree.FlavorChoice:
        return tree.FlavorChoice(str(parts[1]), parts[2] == "try", span=span_of(parts))  # type: ignore[arg-type]

    def decide(self, parts: list[Child]) -> tree.Decide:
        return tree.Decide(first_of(parts, tree.Number), all_of(parts, tree.CyclePass), span=span_of(parts))

    def preempt_way(self, parts: list[Child]) -> tree.PreemptWay:
        return tree.PreemptWay(tuple(part.name for part in all_of(parts, StrategyWord)), span=span_of(parts))

    def strategy(self, parts: list[Child]) -> StrategyWord:
        return StrategyWord("final-share" if parts[0] == "final" else "initial-share", span=span_of(parts))

    def usage_decay(self, parts: list[Child]) -> tree.UsageDecay:
        half_life, sampling = all_of(parts, tree.Number)
        return tree.UsageDecay(half_life, sampling, span=span_of(parts))

    def usage_weights(self, parts: list[Child]) -> tree.UsageWeights:
        return self.weighing(parts)

    def usage_weight(self, parts: list[Child]) -> UsageWeight:
        return UsageWeight(parts[0], parts[1], span=span_of(parts))

    def preempt_by(self, parts: list[Child]) -> tree.PreemptBy:
        return tree.PreemptBy(all_of(parts, tree.Name), span=span_of(parts))

    def default_priority(self, parts: list[Child]) -> tree.DefaultPriority:
        return tree.DefaultPriority(parts[2], span=span_of(parts))

    def ignore(self, parts: list[Child]) -> tree.Ignore:
        return tree.Ignore(all_of(parts, tree.Name), span=span_of(parts))

    def place_pods(self, parts: list[Child]) -> tree.PlacePods:
        way = "keeping-room" if parts[2] == "keeping" else str(parts[2])
        return tree.PlacePods(way, all_of(parts, tree.PodSize), span=span_of(parts))  # type: ignore[arg-type]

    def pod_size(self, parts: list[Child]) -> tree.PodSize:
        return tree.PodSize(all_of(parts, tree.Amount), span=span_of(parts))

    def lost_nodes(self, parts: list[Child]) -> tree.LostNodes:
        return tree.LostNodes(str(parts[5]), span=span_of(parts))  # type: ignore[arg-type]

    def shrink(self, parts: list[Child]) -> tree.ShrinkFirst:
        return tree.ShrinkFirst(span=span_of(parts))

    # --- what exists

    def resource(self, parts: list[Child]) -> tree.ResourceItem:
        return tree.ResourceItem(parts[1], span=span_of(parts))

    def topology(self, parts: list[Child]) -> tree.TopologyItem:
        return tree.TopologyItem(parts[1], all_of(parts, tree.LevelStatement), span=span_of(parts))

    def level(self, parts: list[Child]) -> tree.LevelStatement:
        label = first_of(parts, tree.Text)
        return tree.LevelStatement(parts[1], None if label is None else label.text, span=span_of(parts))

    def flavor(self, parts: list[Child]) -> tree.FlavorItem:
        return tree.FlavorItem(parts[1], all_of(parts[2:], tree.Spanned), span=span_of(parts))

    def worth(self, parts: list[Child]) -> tree.Worth:
        return tree.Worth(parts[1], span=span_of(parts))

    def capacity(self, parts: list[Child]) -> tree.CapacityStatement:
        return tree.CapacityStatement(parts[0], parts[1], span=span_of(parts))

    def from_nodes(self, parts: list[Child]) -> tree.FromNodes:
        return tree.FromNodes(all_of(parts, tree.Name), all_of(parts, tree.LabelEquals), span=span_of(parts))

    def label_equals(self, parts: list[Child]) -> tree.LabelEquals:
        return tree.LabelEquals(key_of(parts[0]), parts[2], span=span_of(parts))

    def as_owned(self, parts: list[Child]) -> tree.AsOwned:
        return tree.AsOwned(all_of(parts, tree.Name), span=span_of(parts))

    def node_label(self, parts: list[Child]) -> tree.NodeLabel:
        return tree.NodeLabel(parts[1], span=span_of(parts))

    def taint(self, parts: list[Child]) -> tree.TaintStatement:
        return tree.TaintStatement(key_of(parts[1]), first_of(parts, tree.Text), str(parts[-1]), span=span_of(parts))

    def tolerates(self, parts: list[Child]) -> tree.Tolerates:
        key, effect = token_of(parts, "LABEL_KEY", "STRING"), token_of(parts, "EFFECT")
        return tree.Tolerates(
            None if key is None else key_of(key),
            first_of(parts, tree.Text),
            None if effect is None else str(effect),
            span=span_of(parts),
        )

    def missing(self, parts: list[Child]) -> tree.Missing:
        return tree.Missing(span=span_of(parts))

    def placed(self, parts: list[Child]) -> tree.PlacedIn:
        return tree.PlacedIn(first_of(parts, tree.Name), span=span_of(parts))

    def priority(self, parts: list[Child]) -> tree.PriorityItem:
        pinned = first_of(parts, tree.NeverEvicted) is not None
        return tree.PriorityItem(parts[1], parts[2], pinned, first_of(parts, tree.QueueLimits), span=span_of(parts))
