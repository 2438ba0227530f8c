"""From syntax tree to text: what policies say that decide by passes, each statement on one line."""

from ..syntax import tree
from .words import name


def statement(node: tree.Spanned) -> str | None:
    """A statement of the header, of a priority or of a preempt rule; None for any that is not about passes."""
    match node:
        case tree.Entitle():
            return f"entitle {_entitlement(node)}"
        case tree.PlaceBy(keys):
            return f"place pods by {', '.join(map(_place_key, keys))}"
        case tree.ScoreNodes(terms):
            return f"score nodes {', '.join(map(score_term, terms))}"
        case tree.WithinChoice(occasion, bounds):
            return f"{occasion} within {', '.join(map(bound, bounds))}"
        case tree.BrokenGangs(grace):
            return f"gangs broken for {grace.text} end"
        case tree.StartCap(parts):
            return f"start up to {_parts(parts)} a cycle"
        case tree.NeverReclaimed():
            return "never reclaimed"
        case tree.NeverEvicted():
            return "never evicted"
        case tree.QueueLimits(parts):
            return f"queues use up to {_parts(parts)}"
        case _:
            return _rule_statement(node)


def _rule_statement(node: tree.Spanned) -> str | None:
    match node:
        case tree.PassTrigger("may-be-evicted"):
            return "when workload may be evicted"
        case tree.PassTrigger(_, any_resource, levels):
            above = f", up to {levels.text} levels above" if levels is not None else ""
            return "when workload fits what its queue is entitled to" + (" in any resource" if any_resource else "") + above
        case tree.InPass(cycle_pass):
            return f"in {cycle_pass.name}"
        case tree.SearchStatement(way, moving, most, sparing):
            at_most = f", at most {most.text} workloads" if most is not None else ""
            return f"search {way}" + (f", moving {moving}{at_most}" if moving else "") + (", sparing whom it can" if sparing else "")
        case tree.Take(unit):
            return f"take {unit}"
        case tree.AcceptWhere(terms):
            return f"accept where {' or '.join(map(acceptance, terms))}"
        case tree.Votes(tiers):
            return "votes " + " then ".join(f"{{ {', '.join(vote.name for vote in tier.votes)} }}" for tier in tiers)
        case _:
            return None


def share(node: tree.ShareChoice) -> str:
    """A choice of share."""
    if node.formula in ("borrowed", "used", "none"):
        return f"share {node.formula}" + (" rounded" if node.rounded else "")
    due = f" where nothing is due counts {node.nothing_due}" if node.nothing_due else ""
    weighing = ", ".join(f"{name(resource)} {number.text}" for resource, number in node.weights)
    return f"share of {node.formula}{due}" + (f" weighing {weighing}" if weighing else "")


def decide(node: tree.Decide) -> str:
    """A choice of the way of deciding."""
    if node.period is None:
        return "decide at once"
    by = f" by {', '.join(each.name for each in node.passes)}" if node.passes else ""
    return f"decide in cycles of {node.period.text}{by}"


def _entitlement(node: tree.Entitle) -> str:
    match node.way:
        case "owned":
            return "as owned"
        case "weight":
            return "by weight"
        case "owned-first":
            units, priority = (" in whole units" if node.whole_units else ""), (" by priority" if node.by_priority else "")
            return f"owned first, then by weight{units}{priority}"
        case "demand":
            assert node.rounds is not None
            assert node.remainder is not None
            return f"by weight up to demand, in at most {node.rounds.text} rounds, to {node.remainder.text}"


def _place_key(node: tree.PlaceKey) -> str:
    resource = f" {name(node.resource)}" if node.resource is not None else ""
    step = f" in steps of {node.step.text}" if node.step is not None else ""
    return f"{node.path}{resource}{step} {'desc' if node.descending else 'asc'}"


def score_term(node: tree.ScoreTerm) -> str:
    """A term of a node's score."""
    return f"{node.term} {node.weight.text}" + (f" for {name(node.resource)}" if node.resource is not None else "")


def bound(node: tree.BoundTerm) -> str:
    """A bound."""
    return f"{node.factor.text} of what exists" if node.factor is not None else node.bound


def acceptance(node: tree.AcceptTerm) -> str:
    """A named test of acceptance."""
    part = f"{node.part.text} of " if node.part is not None else ""
    match node.test:
        case "over-entitlement":
            return f"victim side is over {part}its entitlement"
        case "over-uncapped":
            return f"victim side is over {part}its uncapped entitlement"
        case "owed":
            return "workload side is owed what it owns"
        case "less-saturated":
            return f"{part}workload side stays less saturated"


def _parts(parts: tuple[tuple[tree.Number, tree.Name], ...]) -> str:
    return ", ".join(f"{number.text} of {name(resource)}" for number, resource in parts)
