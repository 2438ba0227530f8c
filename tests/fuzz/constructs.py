"""The constructs of the language and of facts that are counted, so that a run shows how often each was drawn."""

import re
from collections import Counter
from collections.abc import Iterable

_NUMBER, _NAME, _TEXT = r"-?[0-9][\w./]*", r'(?:\w[\w-]*|"[^"]*")', r'"[^"]*"'
_FIELDS = (
    "priority",
    "pods",
    "evictions",
    *(f"queue{each}" for each in ("", ".share", ".share_after")),
    "user",
    "group",
    "namespace",
    "kind",
)

CHOICES = {
    "use a profile of at once": r"use gpol\.",
    "use a profile of cycles": r"use kueue\.",
    "share borrowed": r"share borrowed$",
    "share borrowed rounded": r"share borrowed rounded",
    "share used": r"share used",
    "share none": r"share none",
    "decide at once": r"decide at once",
    "decide in cycles": r"decide in cycles of",
    "order queues": r"order queues by",
    "order heads": r"order heads by",
    "order workloads": r"order workloads by",
    **{
        f"order queues by {key}": rf"order queues by .*\b{key}"
        for key in ("borrowing", "share", "priority", "submitted", "pods", "gpu", "memory")
    },
    **{f"order heads by {key}": rf"order heads by .*\b{key}" for key in ("borrowing", "priority", "submitted", "pods", "gpu")},
    **{f"order workloads by {key}": rf"order workloads by .*\b{key}" for key in ("priority", "submitted", "pods", "evictions", "gpu")},
    **{f"an order {way}": rf"order (queues|heads|workloads|by) .*{way}\b" for way in ("asc", "desc")},
    "an order without a direction": r"order \w+ by .*\w(?<! asc)(?<! desc)(,|$)",
    "queueing best effort": r"queueing best effort",
    "queueing strict fifo": r"queueing strict fifo",
    "preempt by rules": r"preempt by (?!nothing)",
    "preempt by nothing": r"preempt by nothing",
    "preempt classically": r"preempt classically",
    "preempt fairly, final share first": r"preempt fairly by final share, initial",
    "preempt fairly, initial share first": r"preempt fairly by initial share, final",
    "preempt fairly, final share alone": r"preempt fairly by final share$",
    "preempt fairly, initial share alone": r"preempt fairly by initial share$",
    "usage halves": r"usage halves every [1-9].*, sampled every",
    "usage halves at once": r"usage halves every 0s",
    "usage weighs": r"usage weighs",
    "default priority": r"default priority",
    "ignore": r"^  ignore",
}
SUPPLY = {
    "resource": r"^resource \w",
    "resource in quotes": r'^resource "',
    "resource pods": r"^resource pods",
    "capacity by amounts": rf"^  {_NAME} {_NUMBER}$",
    "capacity from nodes": r"from nodes where",
    "capacity from nodes by two labels": r"from nodes where .* and",
    "capacity as owned": r"as owned",
    "worth": r"^  worth",
    "label of a flavor": r"^  label ",
    **{f"taint {effect}": rf"^  taint .* {effect}" for effect in ("NoSchedule", "NoExecute", "PreferNoSchedule")},
    "taint with a value": r'^  taint \w+ = "',
    "tolerates a key": r"^  tolerates (?!anything)\w+( \w+)?$",
    "tolerates a value": r"^  tolerates \w+ = ",
    "tolerates anything": r"^  tolerates anything",
    "missing": r"^  missing",
    "priority": r"^priority",
    "never evicted": r"never evicted",
}
QUEUES = {
    "cohort": r"^ *cohort",
    "cohorts three deep": r"^    cohort",
    "queue": r"^ *queue ",
    "name in quotes": r'^ *queue "',
    "owns an amount": rf"owns {_NUMBER}",
    "owns nothing": r"owns nothing",
    **{f"borrows {way}": rf"borrows {way}$" for way in ("nothing", "anything")},
    **{f"lends {way}": rf"lends {way}$" for way in ("nothing", "anything")},
    "borrows up to": r"borrows up to",
    "borrows nothing on": r"borrows nothing on",
    "lends up to": r"lends up to",
    "lends all but": r"lends all but",
    "lends nothing on": r"lends nothing on",
    "guarantees": r"guarantees",
    "an amount without flavor": rf"(owns|up to|but|guarantees) {_NUMBER} {_NAME}$",
    **{f"weight {weight}": rf"weight {weight}$" for weight in ("0", "1", "1/2", "1/3", "3/2", "2.5")},
    **{f"for {kind}": rf"^ +for .*\b{kind} " for kind in ("namespace", "user", "group", "kind")},
    "for label": rf"^ +for .*\blabel {_TEXT} = ",
    "for two conditions": r"^ +for (?!namespaces).* and ",
    "prefer": r"^ +prefer",
    "only": r"^ +only",
    "serves": r"serves (?!nothing)",
    "serves nothing": r"serves nothing",
    "several groups": r"serves .*\n *serves",
    "priority at most": r"priority at most",
    **{f"when {way} {what}": rf"when {way} {what}" for way in ("borrowing", "evicting") for what in ("take", "try next")},
    "stopped": r"stopped$",
    "stopped and drained": r"stopped and drained",
    "for namespaces in": rf"for namespaces where .*{_TEXT} in",
    "for namespaces not in": r"for namespaces where .* not in",
    "for namespaces exists": r"for namespaces where .* exists",
    "for namespaces absent": r"for namespaces where .* absent",
    "for no namespaces": r"for no namespaces",
    "local queue": r"local queue",
    "local queue with statements": r"local queue .*{",
    "evicts its own of lower priority": r"evicts its own of lower priority$",
    "evicts its own or newer": r"evicts its own of lower priority or newer",
    "reclaims from anyone": r"reclaims from anyone",
    "reclaims from lower priority": r"reclaims from lower",
    "borrows by evicting": r"borrows by evicting lower priority$",
    "borrows by evicting up to": r"borrows by evicting lower priority up to",
    "rather evict than borrow": r"rather evict",
    "rather borrow than evict": r"rather borrow",
    "needs check": rf"needs check {_NAME}$",
    "needs check on": r"needs check .* on",
    "admits by usage": r"admits by usage",
}
RULES = {
    "preempt rule": r"^preempt \S+ {",
    "fits what its queue owns": r"fits what its queue",
    "fits what its cohort owns": r"fits what its cohort",
    "evict from the same queue": r"from the same queue",
    **{f"evict from {what}": rf"evict from {what}$" for what in ("queues that borrow", "any queue")},
    **{f"evict from {what}, same cohort": rf"evict from {what}, in" for what in ("queues that borrow", "any queue")},
    **{
        f"order victims by {key}": rf"^  order by .*victim\.{key}"
        for key in ("priority", "admitted", "submitted", "queue.share", "pods", "evictions", "gpu")
    },
    "protect rule": r"^protect",
    "protect for": r"^protect \S+ for",
    "protect always": r"^protect [^{]*$",
    "deny rule": r"^deny",
    "hold rule": r"^hold",
    "deny or hold for": r"^(deny|hold) \S+ for",
    "hold always": r"^hold [^{]*because",
    "deny always": r"^deny [^{]*because",
    **{f"guard with {word}": rf"where .*\b{word}\b" for word in ("and", "or", "not")},
    **{
        f"workload.{each}": rf"where .*workload\.{each}\b(?!\.)"
        for each in (*_FIELDS[:-4], "user", "group", "namespace", "kind", "waiting", "label", "gpu")
        if each != "queue.share_after"
    },
    **{f"victim.{each}": rf"where .*victim\.{each}\b(?!\.)" for each in (*_FIELDS, "running", "label", "gpu")},
    **{f"comparison {op}": rf"where .* {op} " for op in ("<", "<=", "=", "!=", ">", ">=")},
    "text with wildcards": r'where .*= "[^"]*[*?]',
    "text against text": r"where .*\.(user|group|namespace|kind|queue) !?= (workload|victim)",
    "queue without quotes": r"where .*\.queue !?= q\d",
    "amount with its resource": r"where .*\.gpu \S+ [\d.]+m? gpu",
    "priority by name": r"where .*\.priority \S+ (low|normal|high)",
    "priority by number": r"where .*\.priority \S+ -?\d",
    "duration against a constant": r"where .*\.(running|waiting) \S+ \d",
    "duration against a duration": r"where .*\.(running|waiting) \S+ (workload|victim)",
    "share against a share": r"where .*share(_after)? \S+ (workload|victim)",
    "share against a number": r"where .*share(_after)? \S+ \d",
}
LANGUAGE = {name: re.compile(pattern, re.MULTILINE) for name, pattern in {**CHOICES, **SUPPLY, **QUEUES, **RULES}.items()}
"""Every construct that is counted, with what finds it in a text of one statement a line."""

PARTS = {"choices": CHOICES, "supply": SUPPLY, "queues": QUEUES, "rules": RULES}

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


def constructs(texts: Iterable[str]) -> Counter[str]:
    """In how many texts each construct occurs."""
    found = Counter(dict.fromkeys(LANGUAGE, 0))
    for text in texts:
        found.update(name for name, pattern in LANGUAGE.items() if pattern.search(text))
    return found
