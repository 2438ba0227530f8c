"""The nodes on the page of a run: how well each class was used, and where GPUs were free and of no use, with who stood there."""

from html import escape

from ...engine.units import format_amount
from ..measure.place_measure import PlaceMeasure
from .page import table
from .wording import gpus, hours, names

_MOST_STRANDED = 20
"""How many places are told of on which most was stranded."""

_CLASSES = (
    "Nodes of",
    "GPUs each",
    "Nodes at the end",
    "GPU-hours in use",
    "GPU-hours that there were",
    "Utilisation",
    "Stranded",
    "GPUs at most",
)
_STRANDED = ("Node", "Stranded GPU-hours", "Who stood there meanwhile")
_OUTSIDE = ("Node", "Why")
_KEY = "Stranded are GPU-hours that were free on a node that takes pods, while {} would have fitted there, whatever its labels and taints; and on one in no domain."
_ANY_SHAPE = "no pod of any shape that had been asked for"


def nodes_section(measure: PlaceMeasure | None) -> str:
    """The section, with its title; nothing where pods got no places."""
    if measure is None or not measure.gives_places:
        return ""
    nodes = measure.nodes()
    rows = [
        (
            escape(", ".join(flavors)),
            gpus(each),
            f"{nodes.get((flavors, each), 0):,}",
            hours(figures.used),
            hours(figures.existed),
            f"{figures.used * 1000 // figures.existed / 10:.1f}%" if figures.existed else "-",
            hours(figures.stranded),
            gpus(figures.most_stranded),
        )
        for (flavors, each), figures in sorted(measure.classes.items())
    ]
    judge = measure.judged_by
    asked = (
        ", ".join(f"{format_amount(amount, resource)} {resource}" for resource, amount in sorted(judge.requests.items())) if judge else ""
    )
    key = _KEY.format(f"no pod of {escape(asked)}" if judge else _ANY_SHAPE)
    return f"<h2>Nodes</h2><p class='key'>{key}</p>" + table(_CLASSES, rows) + _outside(measure) + _stranded(measure)


def _outside(measure: PlaceMeasure) -> str:
    """The nodes in no domain."""
    if not measure.outside:
        return ""
    rows = [(escape(node), escape(measure.outside[node])) for node in sorted(measure.outside)]
    left_out = f"<p>{len(rows) - _MOST_STRANDED:,} more nodes.</p>" if len(rows) > _MOST_STRANDED else ""
    return "<h3>Nodes in no domain, where no pod got a place</h3>" + table(_OUTSIDE, rows[:_MOST_STRANDED], numbers=False) + left_out


def _stranded(measure: PlaceMeasure) -> str:
    """The places on which most was stranded."""
    most = sorted(measure.stranded, key=lambda path: (-measure.stranded[path].area, path))
    if not most:
        return "<p>No GPU was stranded.</p>"
    rows = []
    for path in most[:_MOST_STRANDED]:
        there = measure.stranded[path]
        who = sorted(there.by, key=lambda name: (-there.by[name], name))
        nobody = "nobody: it is in no domain" if path[-1] in measure.outside else "nobody: something else than GPUs is too scarce there"
        said = names(who) or nobody
        rows.append((escape("/".join(path)), hours(there.area), f"<span class='name'>{escape(said)}</span>"))
    left_out = len(most) - len(rows)
    note = f"<p>{left_out:,} more nodes with less.</p>" if left_out else ""
    return "<h3>Stranded GPUs</h3>" + table(_STRANDED, rows, numbers=False) + note
