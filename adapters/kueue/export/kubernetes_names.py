"""Checks the names of a policy against the rules of Kubernetes, before anything is exported.

Source: Kubernetes, apimachinery pkg/util/validation.
"""

import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator

from ....engine.policy_graph import ROOT, LocalQueue, PolicyGraph, Source, Topology
from ..policy_names import kueue_name
from ..problems import Findings

_LABEL = r"[a-z0-9](?:[-a-z0-9]*[a-z0-9])?"
_SUBDOMAIN = re.compile(rf"{_LABEL}(?:\.{_LABEL})*")
_NAMESPACE = re.compile(_LABEL)
_WORD = re.compile(r"[A-Za-z0-9](?:[-A-Za-z0-9_.]*[A-Za-z0-9])?")
_LONGEST, _LONGEST_WORD = 253, 63
_Test = Callable[[str], bool]
_STANDARD = frozenset(["cpu", "memory", "pods", "ephemeral-storage", "storage"])
"""Resources without a domain in their name that a pod can ask for."""


def place(source: Source) -> str:
    """A line of the policy, as problems cite it."""
    return f"{source.file}:{source.line}"


def is_subdomain(text: str) -> bool:
    """Whether an object can have this name: lower-case letters, digits, `-` and `.`, at most 253 characters."""
    return len(text) <= _LONGEST and _SUBDOMAIN.fullmatch(text) is not None


def is_namespace(text: str) -> bool:
    """Whether a namespace can have this name: as an object, but without `.` and at most 63 characters."""
    return len(text) <= _LONGEST_WORD and _NAMESPACE.fullmatch(text) is not None


def is_label_key(text: str) -> bool:
    """Whether a label key or a resource can have this name: a word of at most 63 characters, optionally after a domain and a slash."""
    domain, slash, word = text.rpartition("/")
    return len(word) <= _LONGEST_WORD and _WORD.fullmatch(word) is not None and (not slash or is_subdomain(domain))


def is_label_value(text: str) -> bool:
    """Whether a label can have this value: nothing, or a word of at most 63 characters."""
    return not text or (len(text) <= _LONGEST_WORD and _WORD.fullmatch(text) is not None)


def suggestion(text: str, taken: Iterable[str] = ()) -> str:
    """The nearest name that an object can have, and that is not taken."""
    plain = unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode().lower()
    near = ".".join(part for piece in plain.split(".") if (part := re.sub(r"[^a-z0-9]+", "-", piece).strip("-")))
    near = near[: _LONGEST - 10].strip("-.") or "unnamed"
    used, made, number = set(taken), near, 2
    while made in used:
        made, number = f"{near}-{number}", number + 1
    return made


class NameCheck:
    """Checks all names of a policy; `resources` finds what each resource is called in Kueue.

    `has_root` says that the root becomes a Cohort.
    """

    def __init__(self, graph: PolicyGraph, resources: dict[str, str], has_root: bool, found: Findings) -> None:
        self.graph, self.resources, self.has_root, self.found = graph, resources, has_root, found

    def check(self) -> None:
        """Report every name that Kubernetes does not allow, or that two things of one kind would share."""
        graph = self.graph
        self._queues()
        self._objects("cohort", [(node.name, node.source) for node in graph.nodes[1:] if node.queue < 0])
        self._objects("flavor", [(flavor.name, flavor.source) for flavor in graph.flavors])
        self._objects("topology", [(topology.name, topology.source) for topology in self._used_topologies()])
        self._rest()

    def check_for_live(self) -> None:
        """The same where gpol itself decides: only queues are objects there, and of flavors and topologies the labels matter."""
        self._queues()
        self._rest()

    def _queues(self) -> None:
        self._objects("queue", [(node.name, node.source) for node in self.graph.nodes if node.queue >= 0])

    def _rest(self) -> None:
        graph = self.graph
        self._objects("priority", [(priority.name, priority.source) for priority in graph.priorities])
        self._resources()
        self._flavors()
        self._levels()
        for queue in graph.queues:
            node = graph.nodes[queue.node]
            self.found.begin("queue", node.name, place(node.source))
            self._words("for namespaces", [wanted.key for wanted in queue.namespaces or () if wanted.key], is_label_key, "label")
            values = [value for wanted in queue.namespaces or () for value in wanted.values]
            self._words("for namespaces", values, is_label_value, "value of a label")
            for check in queue.checks:
                if not is_subdomain(check.name):
                    self._wrong("needs check", f"`{check.name}` is no name of an AdmissionCheck", check.name)
            for local in queue.local_queues:
                self._local_queue(local)

    def _objects(self, kind: str, named: list[tuple[str, Source]]) -> None:
        called = {name: kueue_name(name) if kind in ("queue", "cohort") else name for name, _ in named}
        taken = {ROOT: "the root of the tree"} if kind == "cohort" and self.has_root else {}
        for name, source in named:
            self.found.begin(kind, name, place(source))
            if not is_subdomain(called[name]):
                self._wrong("", "is no name that Kubernetes allows", called[name], called.values())
            elif called[name] in taken:
                cause = f"would be called `{called[name]}`, as {taken[called[name]]} is"
                self.found.problem("", cause, f"call it `{suggestion(called[name], [*called.values(), *taken])}`, for instance")
            taken.setdefault(called[name], f"{kind} `{name}`")

    def _wrong(self, field: str, cause: str, name: str, taken: Iterable[str] = ()) -> None:
        remedy = f"call it `{suggestion(name, taken)}`: small letters, digits, `-` and `.`, at most {_LONGEST} characters"
        self.found.problem(field, cause, remedy)

    def _resources(self) -> None:
        taken: dict[str, str] = {}
        for resource in sorted(self.resources):
            called = self.resources[resource]
            self.found.begin("resource", resource, place(self.graph.nodes[0].source))
            if not is_label_key(called):
                self.found.problem("", f"`{called}` is no name of a resource", "write it as `nvidia.com/gpu`")
            elif called in taken:
                cause = f"would be called `{called}`, as resource `{taken[called]}` is"
                self.found.problem("", cause, "keep one of the two, or export `gpu` by another name")
            elif "/" not in called and called not in _STANDARD and not called.startswith("hugepages-"):
                self.found.note(
                    "", "has no domain in its name: no pod can ask for it, only a transformation of Kueue's Configuration makes it"
                )
            taken.setdefault(called, resource)

    def _flavors(self) -> None:
        for flavor in self.graph.flavors:
            self.found.begin("flavor", flavor.name, place(flavor.source))
            labels = [*flavor.labels, *(flavor.nodes or ())]
            self._words("label", [key for key, _ in labels], is_label_key, "label")
            self._words("label", [value for _, value in labels], is_label_value, "value of a label")
            forgiven = [taint.key for taint in flavor.taints] + [one.key for one in flavor.tolerations if one.key]
            self._words("taint", forgiven, is_label_key, "taint")
            values = [taint.value for taint in flavor.taints] + [one.value for one in flavor.tolerations]
            self._words("taint", values, is_label_value, "value of a taint")

    def _used_topologies(self) -> list[Topology]:
        used = {flavor.topology for flavor in self.graph.flavors}
        return [topology for index, topology in enumerate(self.graph.topologies) if index in used]

    def _levels(self) -> None:
        for topology in self._used_topologies():
            self.found.begin("topology", topology.name, place(topology.source))
            self._words("level", [level.label for level in topology.levels if level.label is not None], is_label_key, "label")

    def _words(self, field: str, words: list[str], allowed: _Test, what: str) -> None:
        for word in _each(words):
            if not allowed(word):
                remedy = f"use letters, digits, `-`, `_` and `.`, at most {_LONGEST_WORD} of them"
                self.found.problem(field, f"`{word}` is no {what} that Kubernetes allows", remedy)

    def _local_queue(self, local: LocalQueue) -> None:
        namespace, _, name = local.name.partition("/")
        self.found.begin("local queue", local.name, place(local.source))
        if not is_namespace(namespace):
            near = suggestion(namespace.replace(".", "-"))[:_LONGEST_WORD].rstrip("-")
            self.found.problem("", f"`{namespace}` is no name of a namespace", f"call it `{near}`: small letters, digits and `-`")
        if not is_subdomain(name):
            self._wrong("", f"`{name}` is no name that Kubernetes allows", name)


def _each(words: list[str]) -> Iterator[str]:
    return iter(dict.fromkeys(words))
