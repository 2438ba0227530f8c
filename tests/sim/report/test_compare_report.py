"""The page of a comparison: it needs no network, names in it are text, and all charts of one sort have one axis and one scale."""

import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from html.parser import HTMLParser

import pytest
from gpol.engine.default_core import new_core
from gpol.engine.units import SECOND
from gpol.journal.temporary import temporary_journal
from gpol.sim.compare.comparison import Comparison, compare
from gpol.sim.compare.played_policy import FailedPolicy, PlayedPolicy, play_policy
from gpol.sim.drive import player
from gpol.sim.drive.job import Job, JobSource
from gpol.sim.drive.policy import Policy
from gpol.sim.report.compare_report import compare_page
from gpol.sim.report.policy_charts import PolicyCharts
from gpol.sim.report.run_record import RunSettings
from gpol.sim.report.wording import short
from policy_texts import PROTECTED, TURNS, TWO_QUEUES

HOUR = 3600 * SECOND
SOURCE = JobSource("<jobs>.csv", "sha256:" + "ab" * 32)
LOADS = {"src", "href", "srcset", "poster", "data", "action", "background"}

Compared = Callable[..., Comparison]


class Page(HTMLParser):
    """A page's elements, those that are not closed, and its text inside and outside scripts."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str]]] = []
        self.open: list[str] = []
        self.text = ""
        self.scripts = ""
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note an element; a `meta` is never closed."""
        self.elements.append((tag, {name: value or "" for name, value in attrs}))
        self.open += [tag] if tag != "meta" else []

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note an element that is closed at once."""
        self.elements.append((tag, {name: value or "" for name, value in attrs}))

    def handle_endtag(self, tag: str) -> None:
        """Note its end."""
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        """Collect text."""
        if "script" in self.open:
            self.scripts += data
        else:
            self.text += data


@pytest.fixture
def compared(policy: Callable[..., Policy]) -> Iterator[Compared]:
    """Compares policies: `compared(jobs, name=text, ...)`."""
    with ExitStack() as stack:

        def made(jobs: Sequence[Job], **texts: str) -> Comparison:
            played = [
                play_policy(name, policy(text), jobs, SOURCE, "restart", new_core(), stack.enter_context(temporary_journal()))
                for name, text in texts.items()
            ]
            return compare(played, "restart", [job.fact.workload for job in jobs])

        yield made


@pytest.fixture
def yielding(job: Callable[..., Job]) -> list[Job]:
    """A guest that yields to an owner."""
    return [job("g", "guest", "0s", "1h"), job("<u>o", "owner", "5m", "1h")]


def page_of(comparison: Comparison) -> Page:
    """The page of a comparison."""
    return Page(compare_page(comparison, RunSettings("restart", SOURCE, "csv")))


def test_the_page_loads_nothing(compared: Compared, yielding: list[Job]) -> None:
    """No element names anything to load but places in the page itself; every element is closed."""
    page = page_of(compared(yielding, eager=TWO_QUEUES, slow=PROTECTED))
    loaded = {value for _, attributes in page.elements for name, value in attributes.items() if name in LOADS}

    assert {value for value in loaded if not value.startswith("#")} == set()
    assert {tag for tag, _ in page.elements} & {"link", "iframe", "img", "object", "embed", "base"} == set()
    assert re.search(r"@import|url\(", page.text) is None
    assert page.open == []


def test_names_are_text(compared: Compared, yielding: list[Job]) -> None:
    """Names that look like markup are shown as they are."""
    texts = {name: TWO_QUEUES.replace("queue guest", 'queue "<i>guest"') for name in ("<b>one",)}
    jobs = [Job(each.fact.model_copy(update={"queue": each.fact.queue.replace("guest", "<i>guest")}), each.duration) for each in yielding]
    page = page_of(compared(jobs, **texts, two=PROTECTED.replace("queue guest", 'queue "<i>guest"')))

    assert {tag for tag, _ in page.elements} & {"u", "jobs"} == set()
    assert all(attributes for tag, attributes in page.elements if tag == "i")
    assert all(name in page.text for name in ("<b>one", "<i>guest", "<u>o", "<jobs>.csv"))
    assert "<" not in page.scripts.split("(function")[0]


def test_figures_of_all_policies(compared: Compared, yielding: list[Job]) -> None:
    """What is best is marked where policies differ, and each queue has its figure under each policy."""
    page = compare_page(compared(yielding, eager=TWO_QUEUES, slow=PROTECTED), RunSettings("restart", SOURCE, "csv"))

    assert re.findall(r"<span class='good'>([^<]*)</span>", page) == ["30m", "0.7"]
    assert "<tr><td>owner</td><td class='b' style='--p:0%'>0s</td><td class='b' style='--p:100%'>5m</td></tr>" in page
    assert "Least time in line: eager (30m); fewest evictions: eager and slow (1); least work lost: eager (0.7 GPU-hours)." in page


def test_one_axis_and_one_scale(compared: Compared, job: Callable[..., Job], policy: Callable[..., Policy]) -> None:
    """The charts of all policies have the steps of the longest history; a shorter one is empty after its end, and all have one top."""
    wide = TWO_QUEUES.replace("gpu 8 }", "gpu 16 }", 1)
    found = compared([job("a", "owner", "0s", "1h"), job("b", "owner", "0s", "1h")], narrow=TWO_QUEUES, wide=wide)
    charts = PolicyCharts(found.played)
    used = [chart for chart in charts.charts if chart.key.startswith("used")]
    narrow, wide_values = (chart.lines[0][2].tolist() for chart in used)
    before = sum(moment < HOUR for moment in charts.moments) - 1  # the step after these may reach into the second hour

    assert charts.end == 2 * HOUR
    assert len(narrow) == len(wide_values) == len(charts.moments)
    assert set(narrow) == {8.0}
    assert (set(wide_values[:before]), set(wide_values[before + 1 :])) == ({16.0}, {0.0})
    assert {chart.most for chart in used} == {16.0}
    assert [chart.limit[-1] for chart in used if chart.limit is not None] == [8.0, 16.0]


def test_a_policy_without_rest(compared: Compared, job: Callable[..., Job], monkeypatch: pytest.MonkeyPatch) -> None:
    """It is told at the top, with who takes turns; its charts and columns say how far they go."""
    monkeypatch.setattr(player, "MOST_TURNS", 20)
    calm = 'policy "calm" { use gpol.fair }\nflavor a100 { gpu 8 }\nqueue owner { owns 8 gpu }\n'
    found = compared([job("a", "owner", "0s", "10h"), job("b", "owner", "10s", "10h")], turns=TURNS, calm=calm)
    page, early = page_of(found), found.played[0].early
    assert early is not None
    ends = short(early.time)

    assert "turns never comes to rest." in page.text
    assert "a of owner is evicted" in page.text
    assert f"turns: GPUs in use (up to {ends})" in page.text
    assert f"turnsup to {ends}" in page.text  # above its columns
    assert "Workloads are compared where two policies or more were played to the end." in page.text


def test_without_workloads_or_figures(compared: Compared, policy: Callable[..., Policy]) -> None:
    """Nothing at all, or a policy under which gpol fails, still give a page."""
    assert "0 workloads" in page_of(compared([], one=TWO_QUEUES, two=PROTECTED)).text
    failed = FailedPolicy("p", policy(), "AssertionError: no")
    page = page_of(compare([failed], "restart", []))
    assert "p has no figures: AssertionError: no" in page.text
    assert "failed" in page.text
    assert not any(isinstance(each, PlayedPolicy) for each in compare([failed], "restart", []).policies)
