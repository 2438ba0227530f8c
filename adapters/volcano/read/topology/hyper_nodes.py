"""HyperNodes: what their objects say.

Source: Volcano, apis/pkg/apis/topology/v1alpha1/hypernode_types.go, pkg/util/hypernode/member_selector.go and, for members that are
HyperNodes, exactMatchMember in pkg/scheduler/api/hyper_node_info.go.
"""

from collections.abc import Iterator

from ....kueue.read.fields import Fields, shortened
from ....kueue.read.selectors import selector
from .. import volcano_fields as known
from .name_patterns import NamePattern, PatternError, name_pattern
from .network_objects import HyperNode, HyperNodeMember

_SELECTORS = ("exactMatch", "regexMatch", "labelMatch")

_NO_HYPER_NODE = "names no HyperNode: as in Volcano, only exactMatch does, and this member is left out"
_SELECTS_NOTHING = "has a labelMatch without a condition: as in Volcano, it selects no node"
_PLAIN = "write characters, classes, groups, `|`, `*`, `+`, `?`, `{2,5}`, `^` and `$`, or name the nodes by labelMatch"


def hyper_node(name: str, file: str, whole: Fields) -> HyperNode:
    """A HyperNode of v1alpha1."""
    whole.sub("status").known(known.HYPER_NODE_STATUS)
    spec = whole.sub("spec").known(known.HYPER_NODE)
    if not spec.broken and not spec.has("tier"):
        spec.wrong("tier", "is missing", "write a whole number, 0 or more")
    if not spec.broken and spec.data.get("members") in (None, []):
        spec.wrong("members", "is empty", "name at least one member")
    members = tuple(made for row in spec.subs("members") for made in _member(row))
    return HyperNode(name, file, spec.whole("tier", 0, 0), spec.optional_name("tierName"), members)


def _member(row: Fields) -> Iterator[HyperNodeMember]:
    """A member; none where it has no effect, which is noted, or is wrong, which is reported."""
    said = row.known(known.HYPER_NODE_MEMBER).sub("selector").known(known.HYPER_NODE_SELECTOR)
    is_node = row.one_of("type", ("Node", "HyperNode"), "") == "Node"
    given = [name for name in _SELECTORS if said.has(name)]
    if row.lacks("type"):
        row.wrong("type", "is missing", "write Node or HyperNode")
    elif len(given) != 1:
        cause = f"says {' and '.join(given)}" if given else "says nothing"
        said.found.problem(said.path, cause, f"say one of {', '.join(_SELECTORS)}")
    elif given == ["exactMatch"]:
        yield HyperNodeMember(said.path, is_node, name=said.sub("exactMatch").known(known.EXACT_MATCH).name("name"))
    elif not is_node:
        row.found.note("spec.members", _NO_HYPER_NODE)
    elif given == ["regexMatch"]:
        yield HyperNodeMember(said.path, is_node, pattern=_pattern(said.sub("regexMatch").known(known.REGEX_MATCH)))
    else:
        wanted = selector(said.sub("labelMatch"))
        if not wanted.requirements:
            row.found.note("spec.members", _SELECTS_NOTHING)
        else:
            yield HyperNodeMember(said.path, is_node, selector=wanted)


def _pattern(said: Fields) -> NamePattern | None:
    text = said.text("pattern")
    if said.lacks("pattern"):
        said.wrong("pattern", "is missing", "write a pattern for the names of nodes")
    try:
        return name_pattern(text)
    except PatternError as error:
        said.wrong("pattern", f"`{shortened(text)}` {error}", _PLAIN)
        return None
