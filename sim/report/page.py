"""The frame of all pages: one HTML file without network access, in light or dark colours, with every name escaped."""

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from html import escape

STYLE = """
:root{color-scheme:light dark;--ink:#1b1f24;--dim:#57606a;--line:#d0d7de;--paper:#ffffff;--card:#f6f8fa;--mark:#0550ae}
@media(prefers-color-scheme:dark){:root{--ink:#e6edf3;--dim:#9da7b3;--line:#30363d;--paper:#0d1117;--card:#161b22;--mark:#79c0ff}}
body{font:16px/1.5 system-ui,sans-serif;color:var(--ink);background:var(--paper);max-width:1280px;margin:2rem auto;padding:0 1rem}
h1{margin-bottom:.2rem}.sub{color:var(--dim);margin-top:0}.tiles{display:flex;flex-wrap:wrap;gap:1rem;margin:1.5rem 0}
.tile{background:var(--card);border:1px solid var(--line);border-radius:8px;padding:.8rem 1.2rem;min-width:9rem}
.tile b{display:block;font-size:1.5rem}.tile span{color:var(--dim)}.scroll{overflow-x:auto}
table{border-collapse:collapse;width:100%;font-size:.9rem}
th,td{padding:.35rem .6rem;border-bottom:1px solid var(--line);text-align:right;white-space:nowrap}
th:first-child,td:first-child,td.l,th.l{text-align:left}
.chart{background:#fff;border:1px solid var(--line);border-radius:8px;margin:1rem 0;padding:.5rem}
a{color:var(--mark)}pre{background:var(--card);border:1px solid var(--line);border-radius:8px;padding:1rem;overflow-x:auto}
pre a{color:var(--dim);text-decoration:none;display:inline-block;width:3.5rem}pre a:target{color:var(--mark);font-weight:bold}
"""


def document(title: str, sections: Iterable[str], style: str = "") -> str:
    """A whole page of sections, which are HTML; the title is text."""
    head = (
        "<meta name='generator' content='gpol'><meta charset='utf-8'><meta name='viewport' content='width=device-width'>"
        f"<title>{escape(title)}</title><style>{STYLE}{style}</style>"
    )
    return f"<!doctype html><html lang='en'><head>{head}</head><body>{''.join(sections)}</body></html>\n"


def date(us: int, seconds: bool = False) -> str:
    """A moment to the minute or to the second, UTC."""
    return datetime.fromtimestamp(us // 1_000_000, UTC).strftime("%Y-%m-%d %H:%M:%S" if seconds else "%Y-%m-%d %H:%M")


def axis(start: int, end: int, ticks: int) -> list[str]:
    """The moments below a chart, first and last included; one alone where nothing lasted, and to the second where little did."""
    if end <= start + 1:
        return [date(start, seconds=True)]
    short = end - start < 10 * ticks * 60_000_000
    return [date(start + (end - start) * number // (ticks - 1), short) for number in range(ticks)]


def table(header: Sequence[str], rows: Iterable[Sequence[str]], *, numbers: bool = True) -> str:
    """A table that scrolls by itself where it is too wide. Cells are HTML; those of figures stand to the right."""
    kind = "" if numbers else " class='l'"
    heads = "".join(f"<th{kind}>{each}</th>" for each in header)
    body = "".join("<tr>" + "".join(f"<td{kind}>{cell}</td>" for cell in row) + "</tr>" for row in rows)
    return f"<div class='scroll'><table><thead><tr>{heads}</tr></thead><tbody>{body}</tbody></table></div>"


def source(file: str, text: str) -> str:
    """A text with its lines numbered, each a place to link to."""
    anchor = escape(file, quote=True)
    lines = (
        f"<a id='{anchor}-{number}' href='#{anchor}-{number}'>{number}</a>{escape(line)}"
        for number, line in enumerate(text.splitlines(), start=1)
    )
    return "<pre>" + "\n".join(lines) + "</pre>"
