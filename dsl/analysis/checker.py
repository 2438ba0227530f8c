"""Checking: from text to a policy graph, with all errors reported at once."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from ...engine.policy_graph import PolicyGraph
from ..diagnostics import Diagnostic, PolicyError
from ..lint.policy_lints import lint
from ..syntax import tree
from ..syntax.items import MOST_TOLD, too_many
from ..syntax.names import closest
from ..syntax.parser import Parsed, parse
from . import header as settings
from .cascading_errors import without_cascading_errors
from .context import Context
from .declarations import queues, quotas, rules, topologies
from .declarations import resources as places
from .digest import digest
from .policy_tests import tests
from .profile_merge import merge
from .profiles import DEFAULT_PROFILE, ProfileSource, file_of, recorded, shipped, shipped_names


@dataclass(frozen=True, slots=True)
class Checked:
    """A checked file. `graph` is None where there is an error, and for a profile, which is no policy by itself.

    `profiles` are the profiles in use, by name and text; `texts` finds the text of every file that a diagnostic may name.
    """

    parsed: Parsed
    graph: PolicyGraph | None
    diagnostics: tuple[Diagnostic, ...]
    profiles: tuple[tuple[str, str], ...] = ()
    tests: tuple[tree.PolicyTest, ...] = ()
    texts: Mapping[str, str] = field(default_factory=dict)

    @property
    def errors(self) -> tuple[Diagnostic, ...]:
        """The diagnostics that make the policy unusable."""
        return tuple(diagnostic for diagnostic in self.diagnostics if diagnostic.severity == "error")


def check(text: str, file: str, profiles: ProfileSource = shipped) -> Checked:
    """Check a whole text. Never raises for what the text says."""
    return check_parsed(parse(text, file), profiles)


def check_parsed(parsed: Parsed, profiles: ProfileSource = shipped) -> Checked:
    """Check what a text was parsed to, or a tree that a program made: then without a text, and every place is the first line."""
    headers = [item for item in parsed.tree.items if isinstance(item, tree.Header)]
    profile, used, unusable = _profile(parsed, headers, profiles)
    context = Context(merge(parsed, profile), parsed)
    _check_header(context, headers, parsed)
    graph = _graph(context, parsed)
    tested = tests(context)
    causes = without_cascading_errors(parsed, context.diagnostics, profile_known=not unusable)
    found = _told(_in_order([*parsed.diagnostics, *unusable, *causes]), parsed.file)
    is_policy = bool(headers) and headers[0].keyword == "policy"
    usable = is_policy and not any(diagnostic.severity == "error" for diagnostic in found)
    if usable:
        lint(context, graph)
        found = _in_order(context.diagnostics)
    texts = {parsed.file: parsed.text, **{file_of(name): profile_text for name, profile_text in used}}
    made = replace(graph, digest=digest(graph)) if usable else None
    return Checked(parsed, made, found, used, tested, texts)


def compile_policy(text: str, file: str, profiles: Mapping[str, str] | None = None) -> PolicyGraph:
    """The graph of a policy; with `profiles`, those alone can be used. Raises PolicyError where there is an error."""
    checked = check(text, file, shipped if profiles is None else recorded(profiles))
    if checked.graph is None:
        raise PolicyError(checked.errors, text)
    return checked.graph


def _profile(
    parsed: Parsed, headers: list[tree.Header], profiles: ProfileSource
) -> tuple[Parsed | None, tuple[tuple[str, str], ...], list[Diagnostic]]:
    """The profile that a policy uses: its parse, its name and text, and why it cannot be used."""
    if not headers or headers[0].keyword == "profile":
        return None, (), []
    use = next((choice for choice in headers[0].choices if isinstance(choice, tree.Use)), None)
    name = use.profile if use is not None else DEFAULT_PROFILE
    span = use.span if use is not None else headers[0].name.span
    text = profiles(name)
    if text is None:
        if profiles is shipped:
            guess = closest(name, shipped_names())
            label, help_text = "not shipped", f"did you mean `{guess}`?" if guess else f"shipped profiles: {', '.join(shipped_names())}"
        else:
            label, help_text = "not given", "add its text to the profiles that are given with the policy"
        return None, (), [Diagnostic("GP020", "error", f"unknown profile `{name}`", span, label, help_text, file=parsed.file)]
    profile = parse(text, file_of(name))
    used = ((name, text),)
    if profile.diagnostics:
        return None, used, list(profile.diagnostics)
    if not any(isinstance(item, tree.Header) and item.keyword == "profile" for item in profile.tree.items):
        help_text = f'use a file whose header says `profile "{name}"`'
        return None, used, [Diagnostic("GP029", "error", f"`{name}` is no profile", span, "not a profile", help_text, file=parsed.file)]
    return profile, used, []


def _check_header(context: Context, headers: list[tree.Header], parsed: Parsed) -> None:
    if not headers:
        message, help_text = "the file has no policy header", 'start it with `policy "name" { }`'
        context.error("GP028", message, tree.Spanned(span=tree.Span(0, 0)), "", help_text)
        return
    for header in headers[1:]:
        context.error("GP022", "the file has two headers", header.name, "the second one", "keep one")
    for header in context.merged.headers:
        context.at(header)
        context.named(header.name, header.keyword)
        if header.keyword == "profile":
            _check_profile(context, header)
    context.parsed = parsed


def _check_profile(context: Context, header: tree.Header) -> None:
    """A profile brings choices, rules and priorities; what exists and who owns it is a policy's to say."""
    for item in context.parsed.tree.items:
        if isinstance(item, _NOT_IN_PROFILES):
            message = f"a profile has no {_ITEMS[type(item)]}"
            context.error("GP029", message, item.name, "in a profile", "move it to a policy that uses the profile")
    for choice in header.choices:
        if isinstance(choice, tree.Use):
            context.error("GP029", "a profile uses no other profile", choice, "in a profile", "say its choices here")


_NOT_IN_PROFILES = tree.CohortItem | tree.QueueItem | tree.TopologyItem | tree.FlavorItem | tree.ResourceItem | tree.PolicyTest

_ITEMS = {
    tree.CohortItem: "cohort",
    tree.QueueItem: "queue",
    tree.FlavorItem: "flavor",
    tree.TopologyItem: "topology",
    tree.ResourceItem: "resource",
    tree.PolicyTest: "test",
}


def _graph(context: Context, parsed: Parsed) -> PolicyGraph:
    """The policy as a graph. Wrong parts are reported and left out."""
    places.declare(context)
    levels = topologies.topologies(context)
    flavors = places.flavors(context)
    # A flavor or a `from nodes` said twice counts once: amounts can be had of what was made only.
    context.flavors = {flavor.name: [resource for resource, _ in flavor.capacity] for flavor in flavors}
    slots = places.slots(flavors)
    priorities = places.priorities(context)
    context.parsed = parsed  # the tree of queues and their settings are the policy's own, whatever rules came last
    nodes = quotas.nodes(context, quotas.places(context), slots, flavors)
    index = {node.name: number for number, node in enumerate(nodes)}
    header = context.merged.header
    ignored = settings.ignored(context)
    context.parsed = parsed
    return PolicyGraph(
        name=header.name.text if header is not None else "",
        digest="",
        flavors=quotas.with_what_is_owned(context, flavors, slots, nodes),
        slots=slots,
        groups=places.groups(flavors),
        ignored=ignored,
        priorities=priorities,
        nodes=nodes,
        queues=queues.queues(context, nodes, flavors),
        preempt=rules.preempt_rules(context),
        protect=rules.protect_rules(context, index),
        admission=rules.admission_rules(context, index),
        settings=settings.settings(context),
        topologies=levels,
    )


def _told(found: tuple[Diagnostic, ...], file: str) -> tuple[Diagnostic, ...]:
    """The diagnostics up to the greatest number that is reported."""
    if len(found) <= MOST_TOLD or any(diagnostic.code == "GP002" for diagnostic in found):
        return found
    first_left_out = next((diagnostic for diagnostic in found[MOST_TOLD:] if diagnostic.file == file), found[0])
    return (*found[:MOST_TOLD], too_many(first_left_out.span.start, file))


def _in_order(found: list[Diagnostic]) -> tuple[Diagnostic, ...]:
    """In order of place, one for each code and place; a tree without a text has no places, and all are kept."""
    kept: dict[tuple[str, str, int, str], Diagnostic] = {}
    for diagnostic in found:
        placed = diagnostic.span.end > 0
        kept.setdefault((diagnostic.file, diagnostic.code, diagnostic.span.start, "" if placed else diagnostic.message), diagnostic)
    return tuple(sorted(kept.values(), key=lambda diagnostic: (diagnostic.file, diagnostic.span.start, diagnostic.code)))
