"""The report: one page that needs no network, in which names are text and evictions lead to the policy's lines."""

import json
import re
from collections.abc import Callable
from html.parser import HTMLParser

import pytest
from gpol.engine.event_parts import PodSet
from gpol.journal.temporary import temporary_journal
from gpol.sim.drive.job import Job, JobSource
from gpol.sim.drive.player import Player
from gpol.sim.drive.policy import Policy
from gpol.sim.drive.simulation import Simulation
from gpol.sim.measure.measure import HOUR_US, Measure
from gpol.sim.measure.place_measure import ClassFigures, PlaceMeasure, StrandedThere
from gpol.sim.report.place_sections import nodes_section
from gpol.sim.report.run_record import RunRecord, RunSettings
from gpol.sim.report.run_report import report_page
from gpol.sim.report.stack_charts import MOST_QUEUES

POLICY = """policy "<i>lab</i>" { preempt by take, reclaim-owned, fair-share, make-room }
flavor a100 { gpu 8 }
cohort all {
  queue "<b>owner" { owns 8 gpu }
  queue "</script>guest" { owns nothing }
}
preempt take {
  when workload fits what its queue owns
  evict from queues that borrow
}
"""

TAKE_LINE = 7
LOADS = {"src", "href", "srcset", "poster", "data", "action", "background"}


class Page(HTMLParser):
    """A page's elements with their attributes, and its text outside scripts."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str]]] = []
        self.text = ""
        self.scripts = ""
        self._script = False
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note an element."""
        self.elements.append((tag, {name: value or "" for name, value in attrs}))
        self._script = tag == "script"

    def handle_endtag(self, tag: str) -> None:
        """Note a script's end."""
        self._script = self._script and tag != "script"

    def handle_data(self, data: str) -> None:
        """Collect text."""
        if self._script:
            self.scripts += data
        else:
            self.text += data


SOURCE = JobSource("<jobs>.csv", "sha256:" + "ab" * 32)


@pytest.fixture
def written(policy: Callable[..., Policy]) -> Callable[..., str]:
    """Writes a report of jobs, and gives its text."""

    def write(jobs: list[Job], text: str = POLICY) -> str:
        used, measure, record = policy(text), Measure(), RunRecord("restart")
        with temporary_journal() as journal:
            player = Player()
            player.sink = journal
            for fact, decisions in Simulation(used, jobs, player, "restart", SOURCE).run():
                measure.take(fact, decisions, used.graph)
                record.take(fact, decisions, measure)
            longest = record.finish(journal)
        return report_page(used, measure, record, longest, RunSettings("restart", SOURCE, "csv"))

    return write


@pytest.fixture
def page(written: Callable[..., str], job: Callable[..., Job]) -> Page:
    """The page of a run in which an owner takes its GPUs back from a guest."""
    return Page(written([job("<u>g", "</script>guest", "0s", "1h"), job("o", "<b>owner", "10m", "1h")]))


def test_the_page_loads_nothing(page: Page) -> None:
    """No element names anything to load but places in the page itself, and the style sheet imports nothing."""
    loaded = {value for _, attributes in page.elements for name, value in attributes.items() if name in LOADS}

    assert loaded
    assert {value for value in loaded if not value.startswith("#")} == set()
    assert {tag for tag, _ in page.elements} & {"link", "iframe", "img", "object", "embed", "base"} == set()
    assert re.search(r"@import|url\(", page.text) is None
    assert "chart-data" in page.scripts


def test_names_are_text(page: Page) -> None:
    """Names that look like markup are shown as they are, in the title, the tables, the legends and the policy."""
    assert {tag for tag, _ in page.elements} & {"u", "jobs"} == set()
    assert all(attributes for tag, attributes in page.elements if tag == "i")  # those of the page have a class
    for name in ("<i>lab</i>", "<b>owner", "</script>guest", "<u>g", "<jobs>.csv"):
        assert name in page.text
    assert r'"\u003cb>owner"' in page.scripts
    assert "<" not in page.scripts.split("(function")[0]


def test_evictions_lead_to_the_line_of_their_rule(page: Page) -> None:
    """The eviction's rule links to the numbered line of the policy where the rule stands."""
    anchors = {attributes["id"] for tag, attributes in page.elements if tag == "a" and "id" in attributes}
    links = {attributes["href"] for tag, attributes in page.elements if tag == "a" and "id" not in attributes}

    assert links == {f"#two.gpol-{TAKE_LINE}"}
    assert f"two.gpol-{TAKE_LINE}" in anchors
    assert {f"gpol/fair.gpol-{line}" for line in range(1, 10)} <= anchors
    assert f"take (two.gpol:{TAKE_LINE})" in page.text


def test_a_run_without_evictions_says_so(written: Callable[..., str], job: Callable[..., Job]) -> None:
    """The section on evictions says that there are none."""
    assert "EvictionsNone." in Page(written([job("o", "<b>owner", "0s", "1h")])).text


def test_a_run_without_jobs_is_a_page(written: Callable[..., str]) -> None:
    """Nothing at all still gives a page."""
    assert "0workloads0still waiting" in Page(written([])).text


@pytest.mark.parametrize("queues", [MOST_QUEUES, MOST_QUEUES + 1, 40])
def test_a_chart_has_no_more_areas_than_one_can_tell_apart(written: Callable[..., str], job: Callable[..., Job], queues: int) -> None:
    """As many queues as there are colours have one each; of more, the largest have, and all others are one area that says how many."""
    text = 'policy "many" { use gpol.fair }\nflavor a100 { gpu 1000 }\n' + "".join(
        f"queue q{number} {{ owns 9 gpu }}\n" for number in range(queues)
    )
    jobs = [job(f"j{number}", f"q{number}", "0s", "1h", f"{number + 1}m") for number in range(queues)]
    page = Page(written(jobs, text))
    used = json.loads(page.scripts.split("(function")[0])["charts"]["used"]["lines"]

    others = queues - MOST_QUEUES
    assert len({style for style, _, _ in used}) == len(used) == MOST_QUEUES + (others > 0)
    assert [name for style, name, _ in used if style == "o"] == ([f"{others:,} other queues"] if others else [])
    assert f"q{queues - 1}" in {name for _, name, _ in used}


def test_nodes_and_what_is_stranded_there() -> None:
    """Where pods get places, the page tells how each class of nodes was used, on which most was stranded, and who stood there."""
    assert nodes_section(None) == ""
    measure = PlaceMeasure()
    assert nodes_section(measure) == ""
    measure.classes = {(("h<100>",), 8000): ClassFigures(64_000 * HOUR_US, 16_000 * HOUR_US, 0)}
    page = nodes_section(measure)
    assert "<h2>Nodes</h2>" in page
    assert all(part in page for part in ("h&lt;100&gt;", ">64.0<", ">16.0<", ">25.0%<", "No GPU was stranded"))
    for number in range(22):
        measure.stranded[("r", f"n{number:02}")] = StrandedThere((30 - number) * 1000 * HOUR_US, {"a": 2, "b<": 3} if number else {})
    page = nodes_section(measure)
    assert "while no pod of any shape that had been asked for would have fitted there" in page
    measure.judged_by = PodSet(requests={"gpu": 8000, "a<b": 2})
    assert "while no pod of 2 a&lt;b, 8 gpu would have fitted there" in nodes_section(measure)
    assert "2 more nodes with less" in page
    assert page.index("r/n00") < page.index("nobody: something else") < page.index("r/n01") < page.index("b&lt;, a")
