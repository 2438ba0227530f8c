"""Makes a case in which two cores differ small: fewer facts, less in them, less in the policies."""

import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

from cores_by_name import Side
from gpol.dsl.diagnostics import PolicyError
from player import Case, difference
from policy_draws import indented
from pydantic import ValidationError

NEEDED = ("kind", "time", "workload", "policy", "pod_sets", "impossible")
"""What is never left out of a fact by itself."""

RARELY = 1_000_000
"""Cores are asked everything, and go on as copies, at the end only."""


class Shrinking:
    """A case that differs and gets smaller, until nothing can be left out, or so many seconds of processor time are over."""

    def __init__(self, case: Case, left: Side, right: Side, seconds: float = 120) -> None:
        self.case, self.left, self.right = case, left, right
        self.end, self.tries = time.process_time() + seconds, 0
        self.what, self.seldom = "", RARELY

    def run(self) -> Case:
        """The smallest case that was found."""
        for self.seldom in (RARELY, 1):
            found = difference(self.case, self.left, self.right, self.seldom)
            if found is not None:  # states are compared more often now, and another thing may differ before
                self.what, self.case = found[0].what, replace(self.case, facts=self.case.facts[: found[1]])
                break
        while found is not None and time.process_time() < self.end:
            before = self.case
            self._fewer_facts()
            self._fewer_policies()
            for index in range(len(self.case.texts)):
                self._less_policy(index)
            self._less_in_facts()
            if self.case == before:
                break
        return self.case

    def _still(self, case: Case) -> bool:
        """Take a case if the same thing differs in it."""
        if time.process_time() > self.end:
            return False
        self.tries += 1
        try:
            found = difference(case, self.left, self.right, self.seldom)
        except (PolicyError, ValidationError):
            return False
        if found is None or found[0].what != self.what:
            return False
        self.case = replace(case, facts=case.facts[: found[1]])
        return True

    def _fewer_facts(self) -> None:
        """Leave out runs of facts, long ones first."""
        size = max(1, len(self.case.facts) // 2)
        while size:
            start = 0
            while start < len(self.case.facts):
                facts = self.case.facts
                if not self._still(replace(self.case, facts=facts[:start] + facts[start + size :])):
                    start += size
            size //= 2

    def _fewer_policies(self) -> None:
        """Leave out policies that are never activated."""
        used = sorted({fact["policy"] for fact in self.case.facts if "policy" in fact})
        facts = tuple({**fact, "policy": used.index(fact["policy"])} if "policy" in fact else fact for fact in self.case.facts)
        self.case = replace(self.case, texts=tuple(self.case.texts[index] for index in used), facts=facts)

    def _less_policy(self, index: int) -> None:
        """Leave out blocks and lines of a policy, the longest first."""
        again = True
        while again and time.process_time() < self.end:
            again = False
            lines = self.case.texts[index].splitlines()
            for text in shorter(lines):
                texts = (*self.case.texts[:index], text, *self.case.texts[index + 1 :])
                if self._still(replace(self.case, texts=texts)):
                    again = True
                    break

    def _less_in_facts(self) -> None:
        """Leave out what facts say besides what they must, and make numbers of pods small."""
        index = 0
        while index < len(self.case.facts):  # a case that differs earlier has fewer facts
            for smaller in list(less(self.case.facts[index])):
                if index < len(self.case.facts):
                    self._try_fact(index, smaller)
            index += 1

    def _try_fact(self, index: int, change: Callable[[Any], Any]) -> None:
        facts = self.case.facts
        fact = change(facts[index])
        if fact != facts[index]:
            self._still(replace(self.case, facts=(*facts[:index], fact, *facts[index + 1 :])))


def shorter(lines: list[str]) -> Iterator[str]:
    """A policy without one of its statements, the longest first; then without a cohort around others."""
    found = sorted(blocks(lines), key=lambda block: block[0] - block[1])
    for start, end in found:
        yield "\n".join(lines[:start] + lines[end:]) + "\n"
    for start, end in found:
        if lines[start].lstrip().startswith("cohort"):
            inner = [*lines[:start], *lines[start + 1 : end - 1], *lines[end:]]
            yield indented([line.strip() for line in inner])


def blocks(lines: list[str]) -> Iterator[tuple[int, int]]:
    """Every statement as a range of lines; a block goes to its closing brace."""
    open_: list[int] = []
    for number, line in enumerate(lines):
        if line.strip() == "}":
            yield open_.pop(), number + 1
        elif line.endswith("{"):
            open_.append(number)
        else:
            yield number, number + 1


def less(fact: dict[str, Any]) -> Iterator[Callable[[Any], Any]]:
    """Ways to say less in a fact, each to be tried on what is left of it."""
    for key in fact:
        if key not in NEEDED:
            yield lambda fact, key=key: {name: value for name, value in fact.items() if name != key}
    for number, pods in reversed(list(enumerate(fact.get("pod_sets", ())))):
        yield lambda fact, number=number: {**fact, "pod_sets": [p for n, p in enumerate(fact["pod_sets"]) if n != number]}
        for key in pods:
            if key not in ("name", "requests"):
                yield lambda fact, number=number, key=key: _in_pods(fact, number, lambda p: {n: v for n, v in p.items() if n != key})
        for resource in pods.get("requests", ()):
            yield lambda fact, number=number, resource=resource: _in_pods(
                fact, number, lambda p: {**p, "requests": {n: v for n, v in p["requests"].items() if n != resource}}
            )


def _in_pods(fact: dict[str, Any], number: int, change: Callable[[Any], Any]) -> dict[str, Any]:
    return {**fact, "pod_sets": [change(pods) if n == number else pods for n, pods in enumerate(fact["pod_sets"])]}
