"""The page of a simulation tells what its reader asks first, in one colour for each queue, in a small file that needs no network."""

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Gpol = Callable[..., Any]

POLICY = """policy "lab" {
  use gpol.fair
}

flavor a100 { gpu 8 }
flavor h100 { gpu 4 }

cohort all {
  queue owner { owns 8 gpu on a100 }
  queue guest {
    owns nothing
    only a100
  }
  queue other { owns 4 gpu on h100 }
}

protect warm-up { where victim.running < 10m }
"""

JOBS = """workload,submitted,duration,queue,gpu
g,2026-03-02T08:00:00Z,2h,guest,8
o,2026-03-02T08:05:00Z,1h,owner,8
x,2026-03-02T08:20:00Z,1h,other,2
late,2026-03-02T08:30:00Z,1h,guest,1
"""


@pytest.fixture
def page(gpol: Gpol, tmp_path: Path) -> Callable[..., str]:
    """Simulates jobs with a report, and gives the text of the page."""

    def write(jobs: str = JOBS, policy: str = POLICY, *options: str) -> str:
        (tmp_path / "lab.gpol").write_text(policy)
        (tmp_path / "jobs.csv").write_text(jobs)
        done = gpol("simulate", "lab.gpol", "jobs.csv", "--report", "page.html", *options)
        assert (done.code, done.err) == (0, "")
        return (tmp_path / "page.html").read_text()

    return write


def _text(page: str) -> str:
    """What a reader of the page sees."""
    return re.sub(r"\s+", " ", re.sub(r"<[^>]*>", " ", re.sub(r"<(script|style)[\s\S]*?</\1>", "", page)))


def test_a_small_file_without_a_network(page: Callable[..., str]) -> None:
    """A few jobs need some dozens of kilobytes, not megabytes, and nothing is loaded."""
    text = page()

    assert len(text) < 200_000
    assert re.search(r"https?://|@import|url\(|<link|<img|src=", text) is None


def test_one_colour_for_a_queue(page: Callable[..., str]) -> None:
    """A queue has the same colour in every chart of the page, in its legend and in the table; no two have the same."""
    text = page()
    found = re.findall(r"<path class='(\w+)'[^>]*><title>(\w+)</title>", text)

    colours: dict[str, set[str]] = {}
    for colour, queue in found:
        colours.setdefault(queue, set()).add(colour)
    assert [len(colours.get(queue, ())) for queue in ("owner", "guest", "other")] == [1, 1, 1]
    assert len({min(colours[queue]) for queue in ("owner", "guest", "other")}) == 3
    for queue in ("owner", "guest", "other"):
        assert len(re.findall(f"<i class='swatch {min(colours[queue])}'></i>{queue}<", text)) == 2


def test_utilisation_and_what_evictions_cost(page: Callable[..., str]) -> None:
    """Of the 50 GPU-hours from 8:00 to 12:10, 17 1/3 + 8 + 2 + 1 are used; the guest loses its first ten minutes, 1 1/3 GPU-hours."""
    seen = _text(page())

    assert "56.6% utilisation of GPUs" in seen
    assert "1.3 GPU-hours lost to evictions" in seen
    assert re.search(r"a100 gpu 8 gpu 26\.3 33\.3 79\.0%", seen)
    assert re.search(r"h100 gpu 4 gpu 2\.0 16\.7 12\.0%", seen)
    assert "what exists" in seen


def test_nothing_is_lost_where_jobs_go_on(page: Callable[..., str]) -> None:
    """With --on-evict resume an eviction costs nothing."""
    assert " 0.0 GPU-hours lost to evictions" in _text(page(JOBS, POLICY, "--on-evict", "resume"))


def test_the_longest_waits_with_their_reasons(page: Callable[..., str]) -> None:
    """Who waited longest, from when until when, and the rule or limit that kept it waiting, also without a journal that is kept."""
    seen = _text(page())
    waits = seen[seen.index("Longest waits") : seen.index("Evictions When")]

    assert "o owner 8 5m 2026-03-02 08:05 2026-03-02 08:10 WaitingForProtectedWorkloads by warm-up (lab.gpol:17)" in waits
    assert re.search(r"g guest 8 \w+ 2026-03-02 08:10 2026-03-02 \d\d:\d\d WaitingForQuota", waits)


def test_inputs_settings_and_time_zone(page: Callable[..., str]) -> None:
    """The page says what was simulated and how: both files with their digests, what becomes of evicted jobs, and the time zone."""
    seen = _text(page(JOBS, POLICY, "--on-evict", "resume"))

    assert "All times on this page are UTC." in seen
    assert "Workloads jobs.csv, read as csv" in seen
    assert re.search(r"Their SHA-256 sha256:[0-9a-f]{64}", seen)
    assert "--on-evict resume: an evicted run goes on where it stopped" in seen


def test_no_jobs(page: Callable[..., str]) -> None:
    """A run without jobs is a page as well."""
    seen = _text(page("workload,submitted,duration,queue,gpu\n"))

    assert "0 workloads" in seen
    assert "Nobody waited." in seen
    assert "Evictions None." in seen


def test_names_of_two_hundred_characters_and_of_markup(page: Callable[..., str]) -> None:
    """Long names and names that look like markup are shown as they are."""
    name, markup = "n" * 200, "<script>alert(1)</script>"
    text = page(f"workload,submitted,duration,queue,gpu\n{name},0s,1h,guest,8\n{markup},1m,1h,owner,8\n")

    assert f"{name}<" in text
    assert markup not in text
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in text


def test_jobs_of_which_none_runs(page: Callable[..., str]) -> None:
    """Where nothing was admitted, there is no mean wait of 0 seconds, and no share of nothing."""
    seen = _text(page("workload,submitted,duration,queue,gpu\nhuge,0s,1h,owner,99\n"))

    assert "- mean wait" in seen
    assert "0s mean wait" not in seen


def test_an_impact_page_reaches_the_end(gpol: Gpol, tmp_path: Path) -> None:
    """The charts of an impact page end where the later history ends, and the page says which time zone it is."""
    (tmp_path / "lab.gpol").write_text(POLICY)
    (tmp_path / "long.gpol").write_text(POLICY.replace("< 10m", "< 20m"))
    (tmp_path / "jobs.csv").write_text(JOBS)
    gpol("simulate", "lab.gpol", "jobs.csv", "--journal", "lab.db")
    assert gpol("impact", "lab.db", "long.gpol", "--report", "page.html").code == 2
    page = (tmp_path / "page.html").read_text()

    ends = set(re.findall(r"<div class='ends'><span>([^<]*)</span><span>([^<]*)</span>", page))
    assert ends == {("2026-03-02 08:00", "2026-03-02 12:20")}
    assert "All times on this page are UTC." in page


def test_a_workload_that_leaves_no_queue(gpol: Gpol, tmp_path: Path) -> None:
    """An adopted workload that stood in no queue before is no damage to the journal: impact draws it."""
    policy = """policy "cycles" {
  use kueue.fair
}

flavor a { gpu as owned }

queue q {
  serves gpu from a
  owns 4 gpu on a
  for namespaces where label "team" in "q"
}
"""
    (tmp_path / "p.gpol").write_text(policy)
    (tmp_path / "other.gpol").write_text(policy.replace("owns 4", "owns 6"))
    pods = [{"name": "main", "requests": {"gpu": "1"}}]
    placed = [{"pod_set": "main", "count": 1, "flavors": {"gpu": "a"}, "usage": {"gpu": 1000}}]
    facts: list[dict[str, Any]] = [
        {"kind": "WorkloadSubmitted", "time": 1_000_000, "workload": "w", "local_queue": "x/none", "pod_sets": pods},
        {
            "kind": "WorkloadAdopted", "time": 2_000_000, "workload": "w", "queue": "q", "since": 1_500_000, "evicting": False,
            "placements": placed,
        },
        {"kind": "WorkloadFinished", "time": 9_000_000, "workload": "w"},
    ]  # fmt: skip
    (tmp_path / "facts.jsonl").write_text("".join(json.dumps(fact) + "\n" for fact in facts))
    assert gpol("run", "p.gpol", "facts.jsonl", "--journal", "j.db").code == 0
    done = gpol("impact", "j.db", "other.gpol", "--report", "page.html")

    assert (done.code, done.err) == (0, "")
    assert (tmp_path / "page.html").exists()


def test_a_run_that_took_no_time(page: Callable[..., str]) -> None:
    """Where nothing lasted, a chart has one moment and a scale that can be read."""
    text = page("workload,submitted,duration,queue,gpu\nhuge,0s,1h,owner,99\n")

    assert "e-09" not in text
    assert "<div class='times'><span>1970-01-01 00:00:00</span></div>" in text


def test_capacity_does_not_fall_at_the_end(page: Callable[..., str]) -> None:
    """A history that ends where a step of the chart ends has no last moment without any capacity; what is always 0 is said, not drawn."""
    text = page("workload,submitted,duration,queue,gpu\na,0s,1024s,owner,2\n")

    assert [set(path) & {"V"} for path in re.findall(r"<path class='limit' d='([^']*)'", text)] == [set()] * 3
    assert "Always 0, and not drawn: GPUs asked for by waiting workloads; GPUs borrowed" in text
