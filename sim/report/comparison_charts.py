"""Charts of two histories in one drawing: small SVG images in the colours of the page, without scripts."""

from html import escape

import numpy as np
import numpy.typing as npt

from ..measure.series import METRICS, Series
from .page import axis
from .stack_charts import coarser

_WIDTH, _HEIGHT = 600, 150
ChartLine = tuple[list[int], npt.NDArray[np.float64]]
"""The start of each step in microseconds, and the value from there on."""

STYLE = """
.plot{position:relative;margin:.3rem 0 0}.plot svg{display:block;margin-top:1.1rem;width:100%;height:110px;overflow:visible}
.plot .old{fill:none;stroke:var(--old);stroke-width:1.5;vector-effect:non-scaling-stroke}
.plot .new{fill:none;stroke:var(--mark);stroke-width:1.5;vector-effect:non-scaling-stroke}
.plot .under{fill:var(--old);opacity:.16;stroke:none}
.plot .base{stroke:var(--line);stroke-width:1;vector-effect:non-scaling-stroke}
.ends{display:flex;justify-content:space-between;color:var(--dim);font-size:.75rem}
.most{position:absolute;top:-1.2rem;left:0;color:var(--dim);font-size:.75rem}
"""


def lines(series: Series, metric: str) -> dict[str, ChartLine]:
    """The values of a metric by queue, and of all queues under the empty name; each line ends where the history does."""
    moments, averages = coarser(*series.averages())
    moments.append(series.queues.end)
    values = np.concatenate((averages, averages[-1:]))[:, METRICS.index(metric)]
    found = {name: (moments, values[:, number]) for number, name in enumerate(series.queues.names)}
    return {"": (moments, values.sum(axis=1)), **found}


def comparison_chart(title: str, before: ChartLine | None, after: ChartLine | None) -> str:
    """A chart of one figure in both histories, the recorded one shaded; a history without the queue has no line."""
    shown = [line for line in (before, after) if line is not None]
    start, end = min(line[0][0] for line in shown), max(line[0][-1] for line in shown)
    most = max(1.0, *(float(values.max()) for _, values in shown))
    paths = []
    for kind, line in (("old", before), ("new", after)):
        if line is not None:
            path = _path(line, start, max(end, start + 1), most)
            paths += [f"<path class='under' d='{path} V{_HEIGHT} H0 Z'/>"] if kind == "old" else []
            paths.append(f"<path class='{kind}' d='{path}'/>")
    base = f"<line class='base' x1='0' x2='{_WIDTH}' y1='{_HEIGHT}' y2='{_HEIGHT}'/>"
    drawing = f"<svg viewBox='0 0 {_WIDTH} {_HEIGHT}' preserveAspectRatio='none' role='img' aria-label='{escape(title, quote=True)}'>"
    ends = "<div class='ends'>" + "".join(f"<span>{told}</span>" for told in axis(start, end, 2)) + "</div>"
    return f"<div class='plot'><span class='most'>{most:,.0f}</span>{drawing}{base}{''.join(paths)}</svg>{ends}</div>"


def _path(line: ChartLine, start: int, end: int, most: float) -> str:
    """Steps from left to right: each value holds until the next one."""
    points = [(_WIDTH * (moment - start) / (end - start), _HEIGHT * (1 - value / most)) for moment, value in zip(*line, strict=True)]
    first, *rest = points
    return f"M{first[0]:.1f} {first[1]:.1f}" + "".join(f"H{x:.1f}V{y:.1f}" for x, y in rest)
