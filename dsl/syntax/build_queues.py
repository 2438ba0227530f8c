"""Builds the syntax tree: one method for each grammar rule of cohorts and queues."""

from . import tree
from .rule_children import Child, ForNodes, all_of, first_of, span_of, token_of, words_of


class BuildQueues:
    """Builds the nodes of cohorts and queues. Each method gets all children of its grammar rule, including keywords."""

    def cohort(self, parts: list[Child]) -> tree.CohortItem:
        return tree.CohortItem(parts[1], all_of(parts[2:], tree.Spanned), span=span_of(parts))

    def queue(self, parts: list[Child]) -> tree.QueueItem:
        return tree.QueueItem(parts[1], all_of(parts[2:], tree.Spanned), span=span_of(parts))

    def quota(self, parts: list[Child]) -> tree.QuotaStatement:
        words = words_of(parts)
        limits = {"up": "up-to", "all": "all-but", "nothing": "nothing", "anything": "anything"}
        limit = next((limits[word] for word in words if word in limits), "amount")
        amount, flavor = first_of(parts, tree.Amount), first_of(parts, tree.Name)
        return tree.QuotaStatement(words[0], limit, amount, flavor, span=span_of(parts))  # type: ignore[arg-type]

    def weight(self, parts: list[Child]) -> tree.Weight:
        return tree.Weight(parts[1], span=span_of(parts))

    def resource_weight(self, parts: list[Child]) -> tree.ResourceWeight:
        return tree.ResourceWeight(parts[1], parts[3], span=span_of(parts))

    def queue_priority(self, parts: list[Child]) -> tree.QueuePriority:
        return tree.QueuePriority(parts[1], span=span_of(parts))

    def never_reclaimed(self, parts: list[Child]) -> tree.NeverReclaimed:
        return tree.NeverReclaimed(span=span_of(parts))

    def match(self, parts: list[Child]) -> tree.Match:
        return tree.Match(all_of(parts, tree.MatchCondition), span=span_of(parts))

    def match_condition(self, parts: list[Child]) -> tree.MatchCondition:
        key = parts[1] if parts[0] == "label" else None
        return tree.MatchCondition(str(parts[0]), key, parts[-1], span=span_of(parts))  # type: ignore[arg-type]

    def flavor_list(self, parts: list[Child]) -> tree.FlavorList:
        return tree.FlavorList(str(parts[0]), all_of(parts, tree.Name), span=span_of(parts))  # type: ignore[arg-type]

    def ceiling(self, parts: list[Child]) -> tree.Ceiling:
        return tree.Ceiling(parts[3], span=span_of(parts))

    def serves(self, parts: list[Child]) -> tree.Serves:
        if token_of(parts, "FROM") is None:
            return tree.Serves((), (), span=span_of(parts))
        border = parts.index(token_of(parts, "FROM"))
        return tree.Serves(all_of(parts[:border], tree.Name), all_of(parts[border:], tree.Name), span=span_of(parts))

    def rather(self, parts: list[Child]) -> tree.Rather:
        return tree.Rather(str(parts[1]), span=span_of(parts))  # type: ignore[arg-type]

    def evicts_own(self, parts: list[Child]) -> tree.Evicts:
        return tree.Evicts("own", "lower-or-newer" if token_of(parts, "NEWER") else "lower", span=span_of(parts))

    def reclaims(self, parts: list[Child]) -> tree.Evicts:
        return tree.Evicts("reclaims", "any" if token_of(parts, "ANYONE") else "lower", span=span_of(parts))

    def evicts_to_borrow(self, parts: list[Child]) -> tree.Evicts:
        return tree.Evicts("borrowing", "lower", first_of(parts, tree.Number), span=span_of(parts))

    def stopped(self, parts: list[Child]) -> tree.Stopped:
        return tree.Stopped(token_of(parts, "DRAINED") is not None, span=span_of(parts))

    def namespaces(self, parts: list[Child]) -> tree.Namespaces:
        return tree.Namespaces(all_of(parts, tree.LabelTest), span=span_of(parts))

    def label_test(self, parts: list[Child]) -> tree.LabelTest:
        test = " ".join(word for word in words_of(parts[1:]) if word != ",")
        key, *values = all_of(parts, tree.Text)
        return tree.LabelTest(key, test, tuple(values), span=span_of(parts))  # type: ignore[arg-type]

    def needs_check(self, parts: list[Child]) -> tree.NeedsCheck:
        check, *flavors = all_of(parts, tree.Name)
        return tree.NeedsCheck(check, tuple(flavors), first_of(parts, ForNodes) is not None, span=span_of(parts))

    def for_nodes(self, parts: list[Child]) -> ForNodes:
        return ForNodes(span=span_of(parts))

    def by_usage(self, parts: list[Child]) -> tree.ByUsage:
        return tree.ByUsage(span=span_of(parts))

    def local_queue(self, parts: list[Child]) -> tree.LocalQueueStatement:
        return tree.LocalQueueStatement(parts[2], all_of(parts[3:], tree.Spanned), span=span_of(parts))
