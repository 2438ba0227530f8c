"""From reductions of the grammar to the syntax tree: cohorts and queues."""

from . import tree
from .parts import Part, all_of, first_of, span_of, token_of, words_of


class BuildPlaces:
    """Makes the nodes of cohorts and queues; every method gets all children of its rule, keywords included."""

    def cohort(self, parts: list[Part]) -> tree.Cohort:
        return tree.Cohort(parts[1], all_of(parts[2:], tree.Spanned), span=span_of(parts))

    def queue(self, parts: list[Part]) -> tree.Queue:
        return tree.Queue(parts[1], all_of(parts[2:], tree.Spanned), span=span_of(parts))

    def quota(self, parts: list[Part]) -> tree.Quota:
        words = words_of(parts)
        limits = {"up": "up-to", "all": "all-but", "nothing": "nothing", "anything": "anything"}
        limit = next((limits[word] for word in words if word in limits), "amount")
        amount, flavor = first_of(parts, tree.Amount), first_of(parts, tree.Name)
        return tree.Quota(words[0], limit, amount, flavor, span=span_of(parts))  # type: ignore[arg-type]

    def weight(self, parts: list[Part]) -> tree.Weight:
        return tree.Weight(parts[1], span=span_of(parts))

    def match(self, parts: list[Part]) -> tree.Match:
        return tree.Match(all_of(parts, tree.MatchCondition), span=span_of(parts))

    def match_condition(self, parts: list[Part]) -> tree.MatchCondition:
        key = parts[1] if parts[0] == "label" else None
        return tree.MatchCondition(str(parts[0]), key, parts[-1], span=span_of(parts))  # type: ignore[arg-type]

    def flavor_list(self, parts: list[Part]) -> tree.FlavorList:
        return tree.FlavorList(str(parts[0]), all_of(parts, tree.Name), span=span_of(parts))  # type: ignore[arg-type]

    def ceiling(self, parts: list[Part]) -> tree.Ceiling:
        return tree.Ceiling(parts[3], span=span_of(parts))

    def serves(self, parts: list[Part]) -> tree.Serves:
        if token_of(parts, "FROM") is None:
            return tree.Serves((), (), span=span_of(parts))
        border = parts.index(token_of(parts, "FROM"))
        return tree.Serves(all_of(parts[:border], tree.Name), all_of(parts[border:], tree.Name), span=span_of(parts))

    def rather(self, parts: list[Part]) -> tree.Rather:
        return tree.Rather(str(parts[1]), span=span_of(parts))  # type: ignore[arg-type]

    def evicts_own(self, parts: list[Part]) -> tree.Evicts:
        return tree.Evicts("own", "lower-or-newer" if token_of(parts, "NEWER") else "lower", span=span_of(parts))

    def reclaims(self, parts: list[Part]) -> tree.Evicts:
        return tree.Evicts("reclaims", "any" if token_of(parts, "ANYONE") else "lower", span=span_of(parts))

    def evicts_to_borrow(self, parts: list[Part]) -> tree.Evicts:
        return tree.Evicts("borrowing", "lower", first_of(parts, tree.Number), span=span_of(parts))

    def stopped(self, parts: list[Part]) -> tree.Stopped:
        return tree.Stopped(token_of(parts, "DRAINED") is not None, span=span_of(parts))

    def namespaces(self, parts: list[Part]) -> tree.Namespaces:
        return tree.Namespaces(all_of(parts, tree.LabelTest), span=span_of(parts))

    def label_test(self, parts: list[Part]) -> tree.LabelTest:
        test = " ".join(word for word in words_of(parts[1:]) if word != ",")
        key, *values = all_of(parts, tree.Text)
        return tree.LabelTest(key, test, tuple(values), span=span_of(parts))  # type: ignore[arg-type]

    def needs_check(self, parts: list[Part]) -> tree.NeedsCheck:
        check, *flavors = all_of(parts, tree.Name)
        return tree.NeedsCheck(check, tuple(flavors), span=span_of(parts))

    def by_usage(self, parts: list[Part]) -> tree.ByUsage:
        return tree.ByUsage(span=span_of(parts))

    def local_queue(self, parts: list[Part]) -> tree.LocalQueue:
        return tree.LocalQueue(parts[2], all_of(parts[3:], tree.Spanned), span=span_of(parts))
