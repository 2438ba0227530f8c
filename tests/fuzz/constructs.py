"""The constructs of the language and of facts that are counted, so that a run shows how often each was drawn.

Those of the language come from its grammar and its tables of fields: each alternative of each rule, each word of a terminal that has
several, each field and key. What the grammar does not tell apart is in `MORE`.
"""

import re
from collections import Counter
from collections.abc import Callable, Mapping
from functools import cache, lru_cache
from typing import Any

from gpol.dsl.syntax.grammar import build_parser
from gpol.dsl.syntax.items import split
from gpol.engine.guard import VICTIM_FIELDS, WORKLOAD_FIELDS, Type
from gpol.engine.policy_graph import PolicyGraph
from gpol.engine.policy_settings import QUEUE_KEYS, VICTIM_KEYS, WORKLOAD_KEYS
from lark import TextSlice, Token
from policy_draws import BARE, compiled

_HELPER = re.compile(r"__|_block|_list|start$|_NL")
_OF_TESTS = "policy_test"
OF_PASSES = set(
    """
    nothing_due weighing cycle_pass entitle up_to_demand whole_units by_priority place_by node_key steps score_nodes node_score within bound
    broken_gangs start_cap queue_limits part resource_weight queue_priority never_reclaimed pass_trigger in_any levels_above in_pass search
    moving sparing take accept acceptance votes tier vote
    """.split()  # noqa: SIM905
)
"""The rules of the grammar for policies that decide by passes, which the definition alone does: nothing is drawn for them."""

WORDS_OF_PASSES = {"cost", "entitlement", "other", "uses"}
"""Words by which alternatives of other rules are for such policies."""

_ALSO_OF_PASSES = re.compile(r"by _list\{cycle_pass\}|owns anything|uses up to|evict from other queues")
"""What names alternatives of other rules that are for such policies."""

_LISTED = re.compile(r"[(?:]*((?:[\w<>=!]+\|)+[\w<>=!]+)\)?")
"""A terminal that is one of several words."""

MORE: dict[str, Callable[[PolicyGraph, str], object]] = {
    "a profile that decides at once": lambda graph, text: "use gpol." in text,
    "a profile that decides in cycles": lambda graph, text: "use kueue." in text,
    "cohorts three deep": lambda graph, text: any(len(graph.path(queue.node)) > 3 for queue in graph.queues),
    "a queue beside cohorts": lambda graph, text: any(graph.nodes[0].children and graph.nodes[n].is_queue for n in graph.nodes[0].children),
    "weight 0": lambda graph, text: any(node.weight == 0 for node in graph.nodes),
    "a weight that is no whole number": lambda graph, text: any(node.weight.denominator > 1 for node in graph.nodes),
    "resource pods": lambda graph, text: "resource pods\n" in text,
    "two resources in one group": lambda graph, text: any(len(group.resources) > 1 for queue in graph.queues for group in queue.groups),
    "several groups": lambda graph, text: any(len(queue.groups) > 1 for queue in graph.queues),
    "a resource in two groups": lambda graph, text: any(_twice(queue.groups, "resources") for queue in graph.queues),
    "a flavor in two groups": lambda graph, text: any(_twice(queue.groups, "flavors") for queue in graph.queues),
    "usage halves at once": lambda graph, text: "usage halves every 0s" in text,
    "a hold rule beside queues by usage": lambda graph, text: "admits by usage" in text and re.search(r"^hold", text, re.MULTILINE),
    "a duration of thousands of years": lambda graph, text: re.search(r"\b\d{8,}d|\b\d{17,}us", text),
    "an amount near what tables hold": lambda graph, text: any(2**48 <= each < 2**61 for each in _owned(graph)),
    "an amount near what 64 bits hold": lambda graph, text: any(each >= 2**61 for each in _owned(graph)),
    "an order by a resource": lambda graph, text: re.search(r"order (queues|heads|workloads) by .*(gpu|cpu|memory)", text),
    "text with wildcards": lambda graph, text: re.search(r'where .*= "[^"]*[*?]', text),
    "text against text": lambda graph, text: re.search(r"where .*\.(user|group|namespace|kind|queue) !?= (workload|victim)", text),
    "duration against duration": lambda graph, text: re.search(r"where .*\.(running|waiting) \S+ (workload|victim)", text),
    "share against share": lambda graph, text: re.search(r"where .*share(_after)? \S+ (workload|victim)", text),
    "a rule for a cohort": lambda graph, text: re.search(r"^(protect|deny|hold) \S+ for .*c\d", text, re.MULTILINE),
}
"""What the grammar does not tell apart: what finds it in a policy's graph and text."""


def _twice(groups: Any, part: str) -> bool:
    seen = [each for group in groups for each in dict.fromkeys(getattr(group, part))]
    return len(seen) > len(set(seen))


def _owned(graph: PolicyGraph) -> list[int]:
    return [quota.nominal for node in graph.nodes for quota in node.quotas]


@cache
def _known() -> dict[str, None]:
    """Every construct of the language by its name, in the order of the grammar."""
    parser = build_parser()
    found: dict[str, None] = {}
    of_tests = _only_below(parser, _OF_TESTS)
    used: set[str] = set()
    for rule in parser.rules:
        names = {rule.origin.name, *(symbol.name for symbol in rule.expansion)}
        name = _name(parser, rule)
        if not _HELPER.match(rule.origin.name) and not names & (of_tests | OF_PASSES) and not _ALSO_OF_PASSES.search(name):
            found[name] = None
            used |= {symbol.name for symbol in rule.expansion if symbol.is_term}
    for terminal in parser.terminals:
        if terminal.name in used and (words := _LISTED.match(terminal.pattern.value)):
            found |= {f"{terminal.name}: {word}": None for word in words[1].split("|")}
    for subject, fields in (("workload", WORKLOAD_FIELDS), ("victim", VICTIM_FIELDS)):
        found |= {f"field: {subject}.{path}": None for path, type_ in fields.items() if type_ is not Type.TIME}
    found |= {f"key: queues {key}": None for key in QUEUE_KEYS} | {f"key: heads {key}": None for key in QUEUE_KEYS if key != "share"}
    found |= {f"key: workloads {key}": None for key in WORKLOAD_KEYS}
    found |= {f"key: victim.{path}": None for path in VICTIM_KEYS}
    return found | dict.fromkeys(MORE)


def _only_below(parser: Any, top: str) -> set[str]:
    """The rules that stand for parts of `top` and of nothing else."""

    def reached(begin: str, without: str) -> set[str]:
        seen, ahead = set[str](), [begin]
        while ahead:
            name = ahead.pop()
            if name not in seen and name != without:
                seen.add(name)
                ahead += [
                    symbol.name for rule in parser.rules if rule.origin.name == name for symbol in rule.expansion if not symbol.is_term
                ]
        return seen

    return reached(top, "") - reached("start", top)


def _name(parser: Any, rule: Any) -> str:
    """A rule with one of its alternatives, in the words of the language where it has words."""
    words = {terminal.name: terminal.pattern.value.removesuffix("(?![A-Za-z0-9_.-])") for terminal in parser.terminals}
    parts = [words.get(each.name, each.name) if each.is_term else each.name for each in rule.expansion if each.name != "_NL"]
    shown = [part if re.fullmatch(r"[\w{}]+", part) else symbol for part, symbol in zip(parts, _symbols(rule), strict=True)]
    return f"{rule.origin.name}: {' '.join(shown)}"


def _symbols(rule: Any) -> list[str]:
    return [each.name for each in rule.expansion if each.name != "_NL"]


@cache
def _counting() -> tuple[Any, set[str]]:
    """A parser that notes into the set which alternatives it takes, which words of a terminal, which fields and keys."""
    noted: set[str] = set()
    parser = build_parser()

    def note(rule: Any, name: str) -> Callable[[list[Any]], list[Any]]:
        def taken(children: list[Any]) -> list[Any]:
            tokens = [token for child in children for token in (child if isinstance(child, list) else [child])]
            noted.add(name)
            noted.update(f"{token.type}: {token}" for token in tokens if isinstance(token, Token))
            fields = [str(token) for token in tokens if token.type == "FIELD"]
            if rule.origin.name == "field_ref":
                noted.update(f"field: {field}" for field in fields)
            elif rule.origin.name == "order":
                noted.update(f"key: {tokens[1]} {field}" for field in fields)
            elif rule.origin.name == "order_by":
                noted.update(f"key: {field}" for field in fields)
            return tokens

        return taken

    for rule in parser.rules:
        parser._callbacks[rule] = note(rule, _name(parser, rule))
    return parser, noted


@lru_cache(maxsize=4096)
def constructs_of(text: str) -> frozenset[str]:
    """The constructs that occur in a policy, and in the profile that it brings with it."""
    parser, noted = _counting()
    noted.clear()
    for part in (text, BARE) if "use test.bare" in text else (text,):
        for place in split(part, "p.gpol").items:
            parser.parse(TextSlice(part, place.start, place.end))
    graph = compiled(text)
    return frozenset(noted & _known().keys()) | {name for name, finds in MORE.items() if finds(graph, text)}


def constructs(texts: Mapping[str, int]) -> dict[str, tuple[int, int]]:
    """Of every construct of the language in how many policies it occurs, and how many facts were played under them, by their texts."""
    policies, facts = Counter[str](), Counter[str]()
    for text, played in texts.items():
        policies.update(constructs_of(text))
        facts.update(dict.fromkeys(constructs_of(text), played))
    return {name: (policies[name], facts[name]) for name in _known()}


_SUBMITTED = ("queue", "namespace", "user", "group", "workload_kind", "labels", "priority", "local_queue", "namespace_labels", "created")
_SUBMITTED += ("uid", "boost", "hold", "misconfigured", "replaces")
_PODS = ("count", "flavors", "min_count", "node_selector", "affinity", "tolerations", "group")
FACTS = (
    *("PolicyActivated", "SimulationStarted", "CapacityChanged", "NodeAdded", "NodeChanged", "NodeRemoved", "TimeAdvanced"),
    *("WorkloadSubmitted", "WorkloadFinished", "WorkloadCancelled", "UsageReported", "UsageReported as_of"),
    *(f"WorkloadSubmitted {each}" for each in _SUBMITTED),
    *("several pod sets", *(f"pod set {each}" for each in _PODS)),
    *("WorkloadAdopted", "WorkloadAdopted evicting"),
    *(f"WorkloadUpdated {each}" for each in ("priority", "hold", "reclaimable", "checks", "requeued", "boost")),
    *(f"OperatorAction action {each}" for each in ("evict", "hold", "release")),
    *(f"impossible: {each}" for each in ("past", "again", "unknown", "finish", "evict", "hold", "capacity", "node", "done", "priority")),
    *(f"impossible: {each}" for each in ("adopt", "digest", "since", "usage", "policy", "early")),
)
"""Every fact and field of a fact that is counted."""
