"""The page of an impact: both histories in one file that needs no network, in which every name is text."""

import re
from collections.abc import Callable
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest
from gpol.journal.journal import Journal
from gpol.sim.drive.job import Job
from gpol.sim.drive.player import Player
from gpol.sim.drive.policy import Policy
from gpol.sim.drive.simulation import Simulation
from gpol.sim.impact.closed_impact import closed_impact
from gpol.sim.measure.series import Series
from gpol.sim.report.comparison_charts import comparison_chart, lines
from gpol.sim.report.impact_report import impact_page
from gpol.sim.report.stack_charts import coarser

POLICY = """policy "<i>lab</i>" { use gpol.fair }
flavor a100 { gpu 8 }
cohort all {
  queue "<b>owner" { owns 8 gpu }
  queue "</script>guest" { owns nothing }
}
protect warm-up { where victim.running < 10m }
"""

LOADS = {"src", "href", "srcset", "poster", "data", "action", "background"}


class Page(HTMLParser):
    """A page's elements with their attributes, and its text."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str]]] = []
        self.text = ""
        self.of_kind: list[tuple[str, str]] = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note an element."""
        self.elements.append((tag, {name: value or "" for name, value in attrs}))

    def handle_data(self, data: str) -> None:
        """Collect text."""
        self.text += data
        self.of_kind.append((self.elements[-1][1].get("class", ""), data))


@pytest.fixture
def page(tmp_path: Path, policy: Callable[..., Policy], job: Callable[..., Job]) -> Callable[[str], Page]:
    """The page of a history in which an owner waits ten minutes for its GPUs, under another policy."""

    def make(text: str) -> Page:
        jobs = [job("<u>g", "</script>guest", "0s", "2h"), job("o", "<b>owner", "5m", "1h")]
        with Journal.create(tmp_path / "j.db") as journal:
            for _ in Simulation(policy(POLICY), jobs, Player(sink=journal)).run():
                pass
            series = Series(), Series()
            return Page(impact_page(closed_impact(journal, policy(text), series=series), *series))

    return make


def test_the_page_loads_nothing(page: Callable[[str], Page]) -> None:
    """No element names anything to load but places in the page itself, and no script is in it."""
    found = page(POLICY.replace("10m", "1m"))
    loaded = {value for _, attributes in found.elements for name, value in attributes.items() if name in LOADS}

    assert loaded
    assert {value for value in loaded if not value.startswith("#")} == set()
    assert {tag for tag, _ in found.elements} & {"link", "iframe", "img", "object", "embed", "base", "script"} == set()
    assert re.search(r"@import|url\(", found.text) is None


def test_names_are_text(page: Callable[[str], Page]) -> None:
    """Names that look like markup are shown as they are, in tables, charts, explanations and both policies."""
    found = page(POLICY.replace("10m", "1m"))

    assert {tag for tag, _ in found.elements} & {"u"} == set()
    assert sum(tag == "i" for tag, _ in found.elements) == 2, "the key of the charts"
    for name in ("<i>lab</i>", "<b>owner", "</script>guest", "<u>g"):
        assert name in found.text


def test_both_histories_are_told(page: Callable[[str], Page]) -> None:
    """The verdict, the figures with their changes, the parting, both explanations, the loop's name and the difference of the texts."""
    text = page(POLICY.replace("10m", "1m")).text

    assert "closed-loop" in text
    assert "Of 2 workloads 0 would fare worse and 2 better. The mean wait goes from 21m40s to 20m, evictions from 1 to 1." in text
    assert "At 1970-01-01 00:05, event 4 of the journal." in text
    assert "o of <b>owner waits 5m less -0.7 GPU-hours" in text
    assert "waited 5m from 1970-01-01T00:05:00Z: WaitingForProtectedWorkloads by warm-up (two.gpol:7)" in text
    assert "-protect warm-up { where victim.running < 10m }" in text
    assert "+protect warm-up { where victim.running < 1m }" in text


def test_what_is_written_as_nothing_has_no_colour(page: Callable[[str], Page]) -> None:
    """Half a second more of protection makes waits longer by what is written as 0s, and that is neither good nor bad."""
    found = page(POLICY.replace("10m", "600500ms")).of_kind

    assert ("", "0s") in found
    assert not {("good", "0s"), ("bad", "0s")} & {*found}


def test_what_gets_worse_is_coloured(page: Callable[[str], Page]) -> None:
    """A minute more of protection is a longer wait of a minute, and bad."""
    assert ("bad", "+1m") in page(POLICY.replace("10m", "11m")).of_kind


def test_who_is_rejected_is_told_first(page: Callable[[str], Page]) -> None:
    """Shorter waits are no praise for a policy that rejects: how many it does, and what that takes from them, is on the page."""
    text = page(POLICY + 'deny no-guests for "</script>guest" { where workload.gpu > 0 } because "no"\n').text

    assert "Of 2 workloads 1 would fare worse and 1 better." in text
    assert "evictions from 1 to 0, rejections from 0 to 1." in text
    assert "1rejected, or waiting at the endwas 0, +1" in text
    assert "<u>g of </script>guest is rejected, and does without the 16.0 GPU-hours that it got +16.0 GPU-hours" in text


def test_nothing_changes_is_said(page: Callable[[str], Page]) -> None:
    """Under the same policy the page says so, and blames nobody."""
    text = page(POLICY).text

    assert "Nothing would change: every recorded decision is taken again" in text
    assert "Who is affected mostNobody." in text
    assert "The texts are the same." in text


def test_a_line_is_drawn_in_steps_that_keep_its_average() -> None:
    """A thousand steps are taken together; the highest value reaches the top, and a history without the queue has no line."""
    values = np.zeros(1000)
    values[:500] = 4.0
    drawn = comparison_chart("x", coarser(list(range(1000)), values), None)

    assert drawn.count("class='old'") == 1
    assert "class='new'" not in drawn
    assert "<span class='most'>4</span>" in drawn
    path = re.search(r"class='old' d='([^']*)'", drawn)
    assert path is not None
    assert path[1].startswith("M0.0 0.0")
    assert path[1].endswith("V150.0")
    assert path[1].count("H") == 124, "halved three times: 125 steps"


def test_an_empty_history_is_a_flat_line(policy: Callable[..., Policy]) -> None:
    """Nothing in use is a line along the ground."""
    from gpol.sim.measure.measure import Measure

    used, measure, series = policy(), Measure(), Series()
    fact = used.activation(0)
    measure.take(fact, [], used.graph)
    series.take(fact, [], measure)

    assert "d='M0.0 150.0H0.0V150.0'" in comparison_chart("x", lines(series, "used")[""], None)
