"""The numbers of a policy that can be set by path, such as `queue.nlp.owns.h100`: it finds them in the text and replaces them.

A path has the words of the policy with dots in between; a name with a dot stands in quotes. The resource at the end of a quota's path may
be left out if there is only one.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from .syntax import tree
from .syntax.guard_walk import guards_of, levels
from .syntax.names import closest, listed
from .syntax.parser import parse

_WORD = re.compile(r'"(?:[^"\\]|\\["\\])*"|[^."=\s]+')
_VALUE = re.compile(r"-?[0-9]+(?:[./][0-9]+)?(?:[A-Za-z]+(?:[0-9]+[A-Za-z]+)*)?")
_QUOTA = 5
"""Words in the path of a quota."""

Path = tuple[str, ...]
"""The words of a path."""


class SettingError(ValueError):
    """A path that does not lead to a number of the policy, or a value that is not a number. The message says what to write instead."""


@dataclass(frozen=True, slots=True)
class Settable:
    """A number of a policy: its path and its place in the text."""

    path: Path
    span: tree.Span


def parse_path(text: str) -> Path:
    """The words of a path as it is written. Raises SettingError."""
    words, at = [], 0
    while (found := _WORD.match(text, at)) is not None:
        word = found[0]
        words.append(re.sub(r"\\(.)", r"\1", word[1:-1]) if word.startswith('"') else word)
        at = found.end() + 1
        if text[found.end() : at] != ".":
            break
    if found is None or found.end() != len(text):
        raise SettingError(f"`{text}` is no path; write words with dots in between, such as queue.nlp.owns.h100, and odd names in quotes")
    return tuple(words)


def written(path: Path) -> str:
    """A path as it is written."""
    return ".".join(word if _WORD.fullmatch(word) and not word.startswith('"') else _quoted(word) for word in path)


def _quoted(word: str) -> str:
    return '"' + re.sub(r'(["\\])', r"\\\1", word) + '"'


def settables(text: str, file: str) -> list[Settable]:
    """Every number of a policy that can be set, in the order of the text."""
    items = parse(text, file).tree.items
    flavors = {
        item.name.text: [part.resource.text for part in item.body if isinstance(part, tree.CapacityStatement)]
        for item in items
        if isinstance(item, tree.FlavorItem)
    }
    return [Settable(path, number.span) for item in items for path, number in _numbers(item, _sole(items, flavors))]


def _sole(items: tuple[tree.Item, ...], flavors: dict[str, list[str]]) -> dict[str, str]:
    """For each resource that only one flavor has, that flavor: quotas need not name it."""
    having: dict[str, list[str]] = {}
    for item in items:
        if isinstance(item, tree.FlavorItem):
            owned = [name.text for part in item.body if isinstance(part, tree.AsOwned | tree.FromNodes) for name in part.resources]
            for resource in (*flavors[item.name.text], *owned):
                having.setdefault(resource, []).append(item.name.text)
    return {resource: names[0] for resource, names in having.items() if len(names) == 1}


def _numbers(item: tree.Item, sole: Mapping[str, str]) -> Iterator[tuple[Path, tree.Number]]:
    match item:
        case tree.FlavorItem(name, body):
            for part in body:
                if isinstance(part, tree.CapacityStatement):
                    yield ("flavor", name.text, part.resource.text), part.number
                elif isinstance(part, tree.Worth):
                    yield ("flavor", name.text, "worth"), part.number
        case tree.PriorityItem(name, value):
            yield ("priority", name.text), value
        case tree.CohortItem() | tree.QueueItem():
            yield from _place(item, sole)
        case tree.PreemptItem() | tree.ProtectItem() | tree.AdmissionItem():
            for guard in guards_of(item):
                yield from _compared((tree.keyword(item), item.name.text), guard)


def _place(place: tree.CohortItem | tree.QueueItem, sole: Mapping[str, str]) -> Iterator[tuple[Path, tree.Number]]:
    """The quotas and the weight of a queue or cohort, and of those below it."""
    start = ("queue" if isinstance(place, tree.QueueItem) else "cohort", place.name.text)
    for part in place.body:
        match part:
            case tree.QuotaStatement(verb, limit, tree.Amount(number, resource), named):
                flavor = named.text if named is not None else sole.get(resource.text)
                if flavor is not None:
                    yield (*start, "keeps" if limit == "all-but" else verb, flavor, resource.text), number
            case tree.Weight(number):
                yield (*start, "weight"), number
            case tree.ResourceWeight(number, resource):
                yield (*start, "weight", resource.text), number
            case tree.QueuePriority(number):
                yield (*start, "priority"), number
            case tree.CohortItem() | tree.QueueItem():
                yield from _place(part, sole)


def _compared(start: Path, guard: tree.Guard) -> Iterator[tuple[Path, tree.Number]]:
    """The numbers with which a rule's guard compares a field."""
    for level in levels(guard):
        for each in level:
            if isinstance(each, tree.FieldComparison):
                field = (*start, each.left.subject, *each.left.path.split("."))
                if isinstance(each.right, tree.Number):
                    yield field, each.right
                elif isinstance(each.right, tree.Amount):
                    yield field, each.right.number


def with_values(text: str, file: str, values: Mapping[str, str]) -> str:
    """The text of a policy with other numbers at these paths. Raises SettingError."""
    known = settables(text, file)
    places = [(_find(known, path, file).span, value) for path, value in values.items()]
    if len({span for span, _ in places}) < len(places):
        raise SettingError("two paths name the same number; give each once")
    for span, value in sorted(places, key=lambda place: -place[0].start):
        if _VALUE.fullmatch(value) is None:
            raise SettingError(f"`{value}` is no number; write it as in a policy: 8, 2.5, 500m, 80Gi or 10m")
        text = text[: span.start] + value + text[span.end :]
    return text


def _find(known: list[Settable], text: str, file: str) -> Settable:
    """The number at a path; the resource of a quota may be left out."""
    path = parse_path(text)
    found = [each for each in known if each.path == path]
    if not found:
        found = [each for each in known if len(each.path) == _QUOTA and each.path[:-1] == path]
    if len(found) == 1:
        return found[0]
    if found:
        others = {written(each.path) for each in found}
        if len(others) == 1:
            raise SettingError(f"`{file}` has {len(found)} numbers called `{text}`, and cannot tell which is meant; set them in the file")
        raise SettingError(f"`{text}` is one of {listed(others)}; name one")
    paths = [written(each.path) for each in known]
    guess = closest(text, [*paths, *(written(each.path[:-1]) for each in known if len(each.path) == _QUOTA)])
    near = [each for each in paths if each.startswith(written(path[:2]) + ".")]
    raise SettingError(
        f"`{file}` has no number called `{text}`; "
        + (f"did you mean `{guess}`?" if guess else f"there are {listed(near or paths, like=text)}")
    )
