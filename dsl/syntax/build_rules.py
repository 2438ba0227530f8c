"""Builds the syntax tree: one method for each grammar rule of policy rules, guards and tests."""

from collections.abc import Sequence
from dataclasses import replace

from lark import Token

from . import tree
from .rule_children import AtLeast, Child, Gang, KeywordNames, all_of, first_of, names_behind, span_of, unquoted, words_of


class BuildRules:
    """Builds the nodes of rules and tests. Each method gets all children of its grammar rule, including keywords."""

    # --- rules

    def preempt(self, parts: list[Child]) -> tree.PreemptItem:
        return tree.PreemptItem(parts[1], all_of(parts[2:], tree.Spanned), span=span_of(parts))

    def trigger(self, parts: list[Child]) -> tree.TriggerStatement:
        return tree.TriggerStatement(str(parts[5]), span=span_of(parts))  # type: ignore[arg-type]

    def evict_from(self, parts: list[Child]) -> tree.EvictFrom:
        words = words_of(parts)
        scopes = {"borrow": "borrowing-queues", "any": "any-queue", "other": "other-queues"}
        scope = next((scopes[word] for word in words if word in scopes), "same-queue")
        return tree.EvictFrom(scope, "in" in words, span=span_of(parts))  # type: ignore[arg-type]

    def order_by(self, parts: list[Child]) -> tree.OrderBy:
        return tree.OrderBy(all_of(parts, tree.Key), span=span_of(parts))

    def key(self, parts: list[Child]) -> tree.Key:
        return tree.Key(str(parts[0]), parts[-1] == "desc" and len(parts) > 1, span=span_of(parts))

    def scope(self, parts: list[Child]) -> KeywordNames:
        return KeywordNames("for", all_of(parts, tree.Name), span=span_of(parts))

    def protect(self, parts: list[Child]) -> tree.ProtectItem:
        scope = names_behind(parts, "for")
        return tree.ProtectItem(parts[1], scope, first_of(parts, tree.Where), span=span_of(parts))

    def admission(self, parts: list[Child]) -> tree.AdmissionItem:
        scope = names_behind(parts, "for")
        where = first_of(parts, tree.Where)
        return tree.AdmissionItem(str(parts[0]), parts[1], scope, where, parts[-1], span=span_of(parts))  # type: ignore[arg-type]

    def where(self, parts: list[Child]) -> tree.Where:
        return tree.Where(next(part for part in parts if not isinstance(part, Token)), span=span_of(parts))

    def any_of(self, parts: list[Child]) -> tree.Guard:
        guards = _flat(parts, tree.AnyOf)
        return guards[0] if len(guards) == 1 else tree.AnyOf(guards, span=span_of(parts))

    def all_of(self, parts: list[Child]) -> tree.Guard:
        guards = _flat(parts, tree.AllOf)
        return guards[0] if len(guards) == 1 else tree.AllOf(guards, span=span_of(parts))

    def negation(self, parts: list[Child]) -> tree.Negation:
        return tree.Negation(next(part for part in parts if not isinstance(part, Token)), span=span_of(parts))

    def comparison(self, parts: list[Child]) -> tree.FieldComparison:
        left, operator, right = parts
        if isinstance(left, tree.Name):  # the checker says that this is no field
            left = tree.FieldRef(left.text, "", span=left.span)
        return tree.FieldComparison(str(operator), left, right, span=span_of(parts))  # type: ignore[arg-type]

    def field_ref(self, parts: list[Child]) -> tree.FieldRef | tree.Name:
        subject, dot, path = str(parts[0]).partition(".")
        if not dot and len(parts) == 1:
            return tree.Name(subject, span=span_of(parts))
        label = tree.Text(unquoted(parts[1]), span=span_of(parts[1:])) if len(parts) > 1 else None
        return tree.FieldRef(subject, path, label, span=span_of(parts))

    # --- tests

    def policy_test(self, parts: list[Child]) -> tree.PolicyTest:
        return tree.PolicyTest(parts[1], all_of(parts[2:], tree.Spanned), span=span_of(parts))

    def at(self, parts: list[Child]) -> tree.At:
        return tree.At(parts[1], parts[2] if len(parts) > 2 else None, span=span_of(parts))

    def submit(self, parts: list[Child]) -> tree.Submit:
        queue = next(iter(names_behind(parts, "by")), None)
        pods, astray, before = list[tree.Pods | tree.PodSetGroup](), list[tree.Number](), None
        for part in all_of(parts, (tree.Pods, tree.PodSetGroup, tree.Attribute, AtLeast)):
            if isinstance(part, tree.Pods | tree.PodSetGroup):
                pods.append(part)
            elif isinstance(part, AtLeast):
                if isinstance(before, tree.Pods):
                    pods[-1] = replace(before, minimum=part.count)
                else:
                    astray.append(part.count)
            before = part
        return tree.Submit(parts[1], queue, tuple(pods), all_of(parts, tree.Attribute), tuple(astray), span=span_of(parts))

    def at_least(self, parts: list[Child]) -> AtLeast:
        return AtLeast(parts[2], span=span_of(parts))

    def submit_by(self, parts: list[Child]) -> KeywordNames:
        return KeywordNames("by", (parts[1],), span=span_of(parts))

    def pod_group(self, parts: list[Child]) -> tree.PodSetGroup:
        return tree.PodSetGroup(parts[1], all_of(parts, tree.Pods), span=span_of(parts))

    def gang(self, parts: list[Child]) -> Gang:
        return Gang(parts[-2], len(parts) > 2, span=span_of(parts))

    def pods(self, parts: list[Child]) -> tree.Pods:
        gang = first_of(parts, Gang)
        return tree.Pods(
            gang.count if gang else None,
            all_of(parts, tree.Amount),
            all_of(parts, tree.Name),
            first_of(parts, tree.PlaceWish),
            all_of(parts, tree.InSlices),
            gang is None or gang.together,
            span=span_of(parts),
        )

    def place_wish(self, parts: list[Child]) -> tree.PlaceWish:
        return tree.PlaceWish(str(parts[0]), first_of(parts, tree.Name), span=span_of(parts))  # type: ignore[arg-type]

    def in_slices(self, parts: list[Child]) -> tree.InSlices:
        return tree.InSlices(parts[3], parts[5], span=span_of(parts))

    def attribute(self, parts: list[Child]) -> tree.Attribute:
        key = first_of(parts[:-1], tree.Text)
        words = "namespace label" if key is not None and parts[0] == "namespace" else str(parts[0])
        return tree.Attribute(words, key, parts[-1], span=span_of(parts))  # type: ignore[arg-type]

    def act(self, parts: list[Child]) -> tree.Act:
        return tree.Act(str(parts[0]), parts[1], span=span_of(parts))  # type: ignore[arg-type]

    def set_capacity(self, parts: list[Child]) -> tree.SetCapacity:
        return tree.SetCapacity(parts[1], parts[2], span=span_of(parts))

    def set_node(self, parts: list[Child]) -> tree.SetNode:
        return tree.SetNode(parts[1], all_of(parts[2:], tree.Spanned), span=span_of(parts))

    def node_amounts(self, parts: list[Child]) -> tree.NodeAmounts:
        return tree.NodeAmounts(all_of(parts, tree.Amount), span=span_of(parts))

    def cordoned(self, parts: list[Child]) -> tree.Cordoned:
        return tree.Cordoned(span=span_of(parts))

    def remove_node(self, parts: list[Child]) -> tree.RemoveNode:
        return tree.RemoveNode(parts[2], span=span_of(parts))

    def with_pods(self, parts: list[Child]) -> tree.Amount:
        return parts[1]  # type: ignore[no-any-return]  # behind `with`

    def on_nodes(self, parts: list[Child]) -> KeywordNames:
        return KeywordNames("on nodes", all_of(parts, tree.Name), span=span_of(parts))

    def because(self, parts: list[Child]) -> KeywordNames:
        return KeywordNames("because", (parts[1],), span=span_of(parts))

    def by_rule(self, parts: list[Child]) -> KeywordNames:
        return KeywordNames("by", (parts[1],), span=span_of(parts))

    def expect(self, parts: list[Child]) -> tree.Expect:
        words = words_of(parts)
        return tree.Expect(
            parts[1],
            words[1],  # type: ignore[arg-type]
            borrowing="borrowing" in words,
            flavor=first_of(parts[2:], tree.Name),
            reason=next(iter(names_behind(parts, "because")), None),
            rule=next(iter(names_behind(parts, "by")), None),
            nodes=names_behind(parts, "on nodes"),
            pods=first_of(parts, tree.Amount),
            span=span_of(parts),
        )


def _flat(parts: Sequence[Child], kind: type) -> tuple[tree.Guard, ...]:
    """Guards of one conjunction or disjunction, with nested ones of the same kind opened up."""
    guards: list[tree.Guard] = []
    for part in parts:
        if isinstance(part, Token):
            continue
        guards += part.items if isinstance(part, kind) else [part]  # type: ignore[attr-defined]
    return tuple(guards)
