"""What the command's tests share: a small lab, its journal, its facts and a key."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from commands import Gpol
from gpol.sim.drive import player

POLICY = """policy "lab" {
  use gpol.fair
}

flavor a100 { gpu 8 }

cohort all {
  queue owner { owns 8 gpu }
  queue guest { owns nothing }
}

protect warm-up { where victim.running < 10m }

deny too-big for guest { where workload.gpu > 8 } because "too big"

test "an owner gets its own back" {
  at 0s submit g by guest { 8 gpu }
  at 1m submit o by owner { 8 gpu }
  expect o pending by warm-up
  at 10m
  expect g evicted by reclaim-owned
  expect o admitted
}
"""

WORKLOADS = """workload,submitted,duration,queue,gpu
g,2026-03-02T08:00:00Z,2h,guest,8
big,2026-03-02T08:00:00Z,1h,guest,9
o,2026-03-02T08:05:00Z,1h,owner,8
"""

_PODS = [{"requests": {"gpu": "8"}}]

FACTS = (
    {"kind": "WorkloadSubmitted", "time": "2026-03-02T08:00:00Z", "workload": "g", "queue": "guest", "pod_sets": _PODS},
    {"kind": "WorkloadFinished", "time": 1_772_442_000_000_000, "workload": "g"},
)  # fmt: skip
"""A guest runs from 8 to 9 o'clock; the second time is 2026-03-02T09:00:00Z in microseconds."""


def _submitted(minute: int, workload: str, queue: str, gpus: str) -> dict[str, Any]:
    pods = [{"requests": {"gpu": gpus}}]
    return {"kind": "WorkloadSubmitted", "time": f"2026-03-02T08:{minute:02}:00Z", "workload": workload, "queue": queue, "pod_sets": pods}


HISTORY = (
    _submitted(0, "g", "guest", "8"),
    _submitted(0, "big", "guest", "9"),
    _submitted(5, "o", "owner", "8"),
    {"kind": "WorkloadFinished", "time": "2026-03-02T09:10:00Z", "workload": "o"},
    {"kind": "WorkloadFinished", "time": "2026-03-02T11:10:00Z", "workload": "g"},
)
"""What becomes of the jobs in `WORKLOADS`."""


WriteFacts = Callable[..., str]


@pytest.fixture
def few_turns(monkeypatch: pytest.MonkeyPatch) -> None:
    """Time alone may evict 20 times, not 1,000, before a command gives up; the tests of the player check the number itself."""
    monkeypatch.setattr(player, "MOST_TURNS", 20)


@pytest.fixture
def lab(gpol: Gpol, tmp_path: Path) -> Path:
    """The folder with `lab.gpol` and `jobs.csv`: 8 GPUs of `owner`, a guest that borrows them and is evicted after ten minutes."""
    (tmp_path / "lab.gpol").write_text(POLICY)
    (tmp_path / "jobs.csv").write_text(WORKLOADS)
    return tmp_path


@pytest.fixture
def journal(gpol: Gpol, lab: Path) -> str:
    """The journal of the lab's history, 12 events: the guest starts, yields to the owner after ten minutes, and then runs its two hours."""
    lines = "".join(f"{json.dumps(fact)}\n" for fact in HISTORY)
    assert gpol("run", "lab.gpol", "-", "--journal", "lab.db", stdin=lines.encode()).code == 0
    return "lab.db"


@pytest.fixture
def facts(lab: Path) -> WriteFacts:
    """Writes facts to `facts.jsonl`: objects as JSON, texts as they are; without any, a guest that runs for an hour."""

    def write(*given: dict[str, Any] | str) -> str:
        lines = [each if isinstance(each, str) else json.dumps(each) for each in given or FACTS]
        (lab / "facts.jsonl").write_text("".join(f"{line}\n" for line in lines))
        return "facts.jsonl"

    return write


@pytest.fixture
def key(gpol: Gpol) -> str:
    """A signing key's file, with the public key in `lab.pub`."""
    done = gpol("key", "new", "acme.example/lab", "-o", "lab.key")
    assert done.code == 0
    Path("lab.pub").write_text(done.out)
    return "lab.key"
