"""Checking: from text to a policy graph, with everything that is wrong in one go."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from ..engine.graph import PolicyGraph
from . import places, quotas, rules, settings, tree
from .context import Context
from .diagnostics import Diagnostic, PolicyError
from .digest import digest
from .lint import lint
from .merge import merge
from .names import closest
from .parser import Parsed, parse
from .profiles import DEFAULT_PROFILE, ProfileSource, file_of, recorded, shipped, shipped_names
from .scenario import tests

_CASCADES = ("GP020", "GP028", "GP032", "GP034")
"""Errors that a broken item elsewhere may be the cause of."""


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
    parsed = parse(text, file)
    headers = [item for item in parsed.tree.items if isinstance(item, tree.Header)]
    profile, used, missing = _profile(parsed, headers, profiles)
    context = Context(merge(parsed, profile), parsed)
    context.diagnostics += missing
    _check_header(context, headers, parsed)
    graph = _graph(context)
    tested = tests(context)
    found = _without_cascades([*parsed.diagnostics, *context.diagnostics], bool(parsed.diagnostics))
    if missing:  # what the profile would have brought is not known
        found = [diagnostic for diagnostic in found if not _of_profile(diagnostic)]
    is_policy = bool(headers) and headers[0].keyword == "policy"
    if not any(diagnostic.severity == "error" for diagnostic in found) and is_policy:
        lint(context, graph)
        found = _without_cascades(context.diagnostics, broken=False)
    usable = is_policy and not any(diagnostic.severity == "error" for diagnostic in found)
    texts = {file: text, **{file_of(name): profile_text for name, profile_text in used}}
    made = replace(graph, digest=digest(graph)) if usable else None
    return Checked(parsed, made, tuple(found), used, tested, texts)


def compile_policy(text: str, file: str, profiles: Mapping[str, str] | None = None) -> PolicyGraph:
    """The graph of a policy; with `profiles`, those alone can be used. Raises PolicyError where there is an error."""
    checked = check(text, file, shipped if profiles is None else recorded(profiles))
    if checked.graph is None:
        raise PolicyError(checked.errors, text)
    return checked.graph


def _profile(
    parsed: Parsed, headers: list[tree.Header], profiles: ProfileSource
) -> tuple[Parsed | None, tuple[tuple[str, str], ...], list[Diagnostic]]:
    """The profile that a policy uses: its parse, its name and text, and what is wrong with `use`."""
    if not headers or headers[0].keyword == "profile":
        return None, (), []
    uses = [choice for choice in headers[0].choices if isinstance(choice, tree.Use)]
    name = uses[0].profile if uses else DEFAULT_PROFILE
    text = profiles(name)
    if text is None:
        guess = closest(name, shipped_names())
        help_text = f"did you mean `{guess}`?" if guess else f"shipped profiles: {', '.join(shipped_names())}"
        span = uses[0].span if uses else headers[0].span
        message = f"unknown profile `{name}`"
        return None, (), [Diagnostic("GP020", "error", message, span, "not shipped", help_text, file=parsed.file)]
    return parse(text, file_of(name)), ((name, text),), []


def _check_header(context: Context, headers: list[tree.Header], parsed: Parsed) -> None:
    if not headers:
        message, help_text = "the file has no policy header", 'start it with `policy "name" { }`'
        context.error("GP028", message, tree.Spanned(span=tree.Span(0, 0)), "", help_text)
        return
    for header in headers[1:]:
        context.error("GP022", "the file has two headers", header.name, "the second one", "keep one")
    if headers[0].keyword == "profile":
        for item in parsed.tree.items:
            if isinstance(item, tree.Cohort | tree.Queue | tree.Flavor | tree.Resource | tree.PolicyTest):
                kind = type(item).__name__.lower()
                message = f"a profile has no {kind}"
                context.error("GP029", message, item.name, "in a profile", "move it to a policy that uses the profile")
        for use in headers[0].choices:
            if isinstance(use, tree.Use):
                context.error("GP029", "a profile uses no other profile", use, "in a profile", "say its choices here")


def _graph(context: Context) -> PolicyGraph:
    """Everything the policy says as a graph; parts that are wrong are reported and left out."""
    places.declare(context)
    flavors = places.flavors(context)
    slots = places.slots(flavors)
    priorities = places.priorities(context)
    nodes = quotas.nodes(context, quotas.places(context), slots, flavors)
    index = {node.name: number for number, node in enumerate(nodes)}
    header = context.merged.header
    return PolicyGraph(
        name=header.name.text if header is not None else "",
        digest="",
        flavors=flavors,
        slots=slots,
        groups=places.groups(flavors),
        ignored=settings.ignored(context),
        priorities=priorities,
        nodes=nodes,
        queues=settings.queues(context, nodes, flavors),
        preempt=rules.preempt_rules(context),
        protect=rules.protect_rules(context, index),
        admission=rules.admission_rules(context, index),
        settings=settings.settings(context),
    )


def _of_profile(diagnostic: Diagnostic) -> bool:
    return diagnostic.code == "GP032" or diagnostic.message.startswith("unknown preempt rule")


def _without_cascades(found: list[Diagnostic], broken: bool) -> list[Diagnostic]:
    """In order of place, each once; where an item did not parse, without what may only follow from that."""
    kept: dict[tuple[str, str, int], Diagnostic] = {}
    for diagnostic in found:
        syntax = diagnostic.code < "GP020" or diagnostic.message.startswith("unknown profile")
        if syntax or not broken or diagnostic.code not in _CASCADES:
            kept.setdefault((diagnostic.file, diagnostic.code, diagnostic.span.start), diagnostic)
    return sorted(kept.values(), key=lambda diagnostic: (diagnostic.file, diagnostic.span.start, diagnostic.code))
