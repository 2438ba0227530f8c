"""Charts of many queues: stacked areas as SVG, each queue in one colour on the whole page, and a small script that tells values.

The page is complete without the script. It reads the numbers from a block of JSON and shows those under the pointer.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape

import numpy as np

from ..measure.step_areas import Values
from .page import axis

_COLORS = (
    "#4269d0", "#efb118", "#ff725c", "#3ca951", "#a463f2", "#6cc5b0", "#ff8ab7", "#9c6b4e", "#97bbf5",
    "#22409a", "#b07d00", "#b8402c", "#1f6b33", "#6b30b5", "#3b8676", "#c24f80", "#5f3f2c", "#5b86c4",
)  # fmt: skip
"""A colour for each queue that is shown by itself; first those that differ most."""

MOST_QUEUES = len(_COLORS)
"""How many queues are shown one by one; more could not be told apart. All others together are grey."""

OTHERS = "o"
"""The style of all queues that have no colour of their own."""

NO_QUEUE = "n"
"""The style of what belongs to no queue."""

_MOST_STEPS = 240
_WIDTH, _HEIGHT = 1000, 240
_TICKS = 5

STYLE = (
    ":root{"
    + "".join(f"--c{number}:{color};" for number, color in enumerate(_COLORS))
    + "--co:#9498a0;--cn:var(--dim)}"
    + "".join(f".c{kind}{{--c:var(--c{kind})}}" for kind in (*range(len(_COLORS)), OTHERS, NO_QUEUE))
    + """
.legend{display:flex;flex-wrap:wrap;gap:.2rem 1rem;font-size:.85rem;list-style:none;padding:0;margin:.5rem 0}
.legend li,.tip li{max-width:20rem;overflow:hidden;text-overflow:ellipsis;white-space:nowrap}
.swatch{display:inline-block;width:.75rem;height:.75rem;border-radius:2px;background:var(--c);margin-right:.4rem;vertical-align:-.05rem}
.swatch.line{height:0;border-top:2px dashed var(--ink);border-radius:0;vertical-align:.25rem;background:none;width:1.1rem}
figure{margin:1rem 0;background:var(--card);border:1px solid var(--line);border-radius:8px;padding:.7rem 1rem;min-width:0}
figcaption{font-weight:600;font-size:.95rem;overflow-wrap:anywhere}figcaption span{color:var(--dim);font-weight:400}
.frame{position:relative;margin:.5rem 0 0 3.4rem}.frame svg{display:block;width:100%;height:240px}
.small .frame svg{height:120px}.small .times span{display:none}.small .times span:first-child,.small .times span:last-child{display:inline}
.frame path{fill:var(--c);stroke:var(--card);stroke-width:.5;vector-effect:non-scaling-stroke}
.frame .limit{fill:none;stroke:var(--ink);stroke-width:1.5;stroke-dasharray:5 4}
.frame line{stroke:var(--line);stroke-width:1;vector-effect:non-scaling-stroke}
.frame>span{position:absolute;right:100%;margin-right:.5rem;transform:translateY(-50%);color:var(--dim);font-size:.75rem;white-space:nowrap}
.times{display:flex;justify-content:space-between;margin-left:3.4rem;color:var(--dim);font-size:.75rem;gap:1rem}
.cursor{position:absolute;top:0;bottom:0;width:1px;background:var(--ink);display:none;pointer-events:none}
.tip{position:absolute;top:.3rem;display:none;background:var(--paper);border:1px solid var(--line);border-radius:6px;padding:.3rem .6rem;font-size:.8rem;pointer-events:none;z-index:1;max-width:70%}
.tip ul{list-style:none;margin:0;padding:0}
@media(max-width:720px){.times span:nth-child(even){display:none}.frame,.times{margin-left:2.6rem}}
"""
)

SCRIPT = """
(function(){
var data=JSON.parse(document.getElementById('chart-data').textContent);
function two(n){return (n<10?'0':'')+n}
function when(ms){var d=new Date(ms);return d.getUTCFullYear()+'-'+two(d.getUTCMonth()+1)+'-'+two(d.getUTCDate())+' '+two(d.getUTCHours())+':'+two(d.getUTCMinutes())+':'+two(d.getUTCSeconds())+' UTC'}
function row(list,kind,name,value){var li=document.createElement('li'),i=document.createElement('i');i.className='swatch '+kind;li.appendChild(i);
li.appendChild(document.createTextNode(name+': '+value.toLocaleString('en-US')));list.appendChild(li)}
document.querySelectorAll('figure[data-chart]').forEach(function(figure){
var chart=data.charts[figure.getAttribute('data-chart')],frame=figure.querySelector('.frame');
var cursor=frame.querySelector('.cursor'),tip=frame.querySelector('.tip');
frame.addEventListener('pointerleave',function(){cursor.style.display=tip.style.display='none'});
frame.addEventListener('pointermove',function(event){
var box=frame.getBoundingClientRect(),share=Math.min(1,Math.max(0,(event.clientX-box.left)/box.width));
var at=data.start+share*(data.end-data.start),step=0;
while(step+1<data.times.length&&data.times[step+1]<=at)step++;
tip.textContent='';var title=document.createElement('b'),list=document.createElement('ul');title.textContent=when(data.times[step]);
if(chart.limit)row(list,'line',chart.limit_name,chart.limit[step]);
chart.lines.slice().reverse().forEach(function(line){if(line[2][step])row(list,'c'+line[0],line[1],line[2][step])});
tip.appendChild(title);tip.appendChild(list);
cursor.style.left=100*share+'%';cursor.style.display=tip.style.display='block';
tip.style.left=share<.5?'calc('+100*share+'% + 8px)':'auto';tip.style.right=share<.5?'auto':'calc('+100*(1-share)+'% + 8px)';
})})})();
"""


@dataclass(frozen=True, slots=True)
class Chart:
    """A chart: `lines` are the style, the name and the values of each area, from below; `limit` is drawn as a dashed line.

    `most` is the greatest value of all charts that share a scale; without it the chart has a scale of its own.
    """

    key: str
    title: str
    lines: Sequence[tuple[str, str, Values]]
    limit: Values | None = None
    limit_name: str = ""
    small: bool = False
    most: float = 0.0

    def greatest(self) -> float:
        """Its own greatest value."""
        total = sum((values for _, _, values in self.lines), np.zeros(1))
        return max(float(total.max()), float(self.limit.max()) if self.limit is not None else 0.0)


def styles_of(names: Sequence[str], weights: Values) -> dict[str, str]:
    """The style of each queue on the whole page: a colour for those of most weight, in order of name, and one for all others."""
    order = sorted(range(len(names)), key=lambda queue: (-float(weights[queue]), names[queue]))
    colored = sorted(names[queue] for queue in order[:MOST_QUEUES])
    return {name: str(colored.index(name)) if name in colored else OTHERS for name in names}


def stacked(names: Sequence[str], values: Values, styles: Mapping[str, str]) -> list[tuple[str, str, Values]]:
    """An area for each queue that has any of it, by [step, queue]; those without a colour of their own are one area on top."""
    shown = [(styles[name], name, values[:, number]) for number, name in enumerate(names) if values[:, number].any()]
    rest = [line for line in shown if line[0] == OTHERS]
    areas = sorted((line for line in shown if line[0] != OTHERS), key=lambda line: int(line[0]))
    return areas + ([(OTHERS, f"{len(rest):,} other queues", sum((line[2] for line in rest), np.zeros(len(values))))] if rest else [])


def legend(styles: Mapping[str, str], limit: str) -> str:
    """What the colours and the dashed line mean, once for all charts."""
    others = sum(style == OTHERS for style in styles.values())
    entries = [(f"c{style}", name) for name, style in sorted(styles.items()) if style != OTHERS]
    entries += [(f"c{OTHERS}", f"{others:,} other queues")] if others else []
    return "<ul class='legend'>" + "".join(f"<li>{swatch(kind)}{escape(name)}</li>" for kind, name in [*entries, ("line", limit)]) + "</ul>"


def swatch(kind: str) -> str:
    """A small area in the colour of a style."""
    return f"<i class='swatch {kind}'></i>"


def drawn(charts: Sequence[Chart], moments: Sequence[int], end: int) -> list[str]:
    """The charts as HTML, each drawn from `moments`, the start of each step in microseconds, to the end of the last one."""
    return [_figure(chart, moments, max(end, moments[0] + 1)) for chart in charts]


def script(charts: Sequence[Chart], moments: Sequence[int], end: int) -> str:
    """The numbers of the charts, and the script that tells those under the pointer."""
    told = {
        chart.key: {
            "lines": [[style, name, _rounded(values)] for style, name, values in chart.lines],
            "limit": None if chart.limit is None else _rounded(chart.limit),
            "limit_name": chart.limit_name,
        }
        for chart in charts
    }
    data = {"start": moments[0] / 1000, "end": max(end, moments[0] + 1) / 1000, "times": [at / 1000 for at in moments], "charts": told}
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":")).replace("<", "\\u003c")
    return f"<script type='application/json' id='chart-data'>{text}</script><script>{SCRIPT}</script>"


def coarser(moments: Sequence[int], values: Values) -> tuple[list[int], Values]:
    """Moments and values by [step, ...] with neighbouring steps merged, until there are no more than a screen shows."""
    times = list(moments)
    while len(times) > _MOST_STEPS:
        half = len(values) // 2 * 2
        merged = values[:half].reshape(-1, 2, *values.shape[1:]).mean(axis=1)
        values, times = np.concatenate((merged, values[half:])), times[::2]
    return times, values


def _rounded(values: Values) -> list[float]:
    return [round(float(value), 3) for value in values]


def _figure(chart: Chart, moments: Sequence[int], end: int) -> str:
    most = _nice(chart.most or chart.greatest())
    xs = [*(round(_WIDTH * (moment - moments[0]) / (end - moments[0])) for moment in moments), _WIDTH]
    paths, below = [], np.zeros(len(moments))
    for style, name, values in chart.lines:
        outline = _outline(xs, _scaled(below + values, most), _scaled(below, most))
        paths.append(f"<path class='c{style}' d='{outline}'><title>{escape(name)}</title></path>")
        below = below + values
    if chart.limit is not None:
        paths.append(f"<path class='limit' d='{_steps(xs, _scaled(chart.limit, most))}'/>")
    grid = "".join(f"<line x1='0' x2='{_WIDTH}' y1='{y}' y2='{y}'/>" for y in (0, _HEIGHT // 2, _HEIGHT))
    labels = "".join(f"<span style='top:{share}%'>{_number(most * (100 - share) / 100)}</span>" for share in (0, 50, 100))
    title = escape(chart.title, quote=True)
    svg = f"<svg viewBox='0 0 {_WIDTH} {_HEIGHT}' preserveAspectRatio='none' role='img' aria-label='{title}'>{grid}{''.join(paths)}</svg>"
    times = "".join(f"<span>{told}</span>" for told in axis(moments[0], end, _TICKS))
    return (
        f"<figure data-chart='{chart.key}'{' class=small' if chart.small else ''}><figcaption>{escape(chart.title)}</figcaption>"
        f"<div class='frame'>{svg}{labels}<i class='cursor'></i><div class='tip'></div></div><div class='times'>{times}</div></figure>"
    )


def _nice(most: float) -> float:
    """The next number above that is easy to read: 1, 2, 4, 5, 6, 8 or 10 times a power of ten; 1 where there is nothing."""
    if most <= 0:
        return 1.0
    power = 10.0 ** np.floor(np.log10(most))
    return float(next(step * power for step in (1, 2, 4, 5, 6, 8, 10) if step * power >= most * 0.999999))


def _number(value: float) -> str:
    return f"{value:,.0f}" if value >= 100 or value == int(value) else f"{value:,.3g}"


def _scaled(values: Values, most: float) -> list[int]:
    return [round(_HEIGHT * (1 - float(value) / most)) for value in values]


def _steps(xs: Sequence[int], ys: Sequence[int]) -> str:
    """A line of steps from left to right: each height holds to the next place; equal ones are drawn in one go."""
    parts, now = [f"M{xs[0]} {ys[0]}"], ys[0]
    for x, y in zip(xs[1:], ys[1:], strict=False):
        if y != now:
            parts.append(f"H{x}V{y}")
            now = y
    return "".join(parts) + f"H{xs[-1]}"


def _outline(xs: Sequence[int], above: Sequence[int], below: Sequence[int]) -> str:
    """An area between two lines of steps."""
    parts, now = [_steps(xs, above)], below[-1]
    parts.append(f"V{now}")
    for x, y in zip(reversed(xs[1:-1]), reversed(below[:-1]), strict=True):
        if y != now:
            parts.append(f"H{x}V{y}")
            now = y
    return "".join(parts) + f"H{xs[0]}Z"
