"""Recorded events in bulk: which of them are facts that a core plays many at a time, and these as columns."""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field

from ...engine.cores import GivenFacts
from ...engine.facts import WorkloadSubmitted
from ...engine.outcome.history import ADVANCING, CANCELLING, FINISHING, SUBMITTING
from ...engine.units import INT64_MAX
from ..decode import FORM, decode
from ..records import ReadRow
from .forms import Form, form_of

_KIND = slice(9, 20)
"""Where in a payload its kind begins; so many letters tell all kinds apart."""

_DECISION = -1

_CODES = {
    **{b"Workload" + kind: _DECISION for kind in (b"Adm", b"Evi", b"Rep", b"Rej", b"Def")},
    b"WorkloadSub": SUBMITTING,
    b"WorkloadFin": FINISHING,
    b"WorkloadCan": CANCELLING,
    b"TimeAdvance": ADVANCING,
}
"""What is known by how its kind begins."""


_KINDS = {"WorkloadSubmitted": True, "WorkloadFinished": True, "WorkloadCancelled": True, "TimeAdvanced": False}
"""The kinds of facts that a core plays many at a time, and whether they are of a workload."""


def _form(frame: tuple[str, str, bool, str], payload: bytes) -> Form | None:
    """The form of a fact by its kind, its cause, whether it names a workload, and what comes behind; None: not plain."""
    kind, cause, has_workload, tail = frame
    return form_of((kind, False, has_workload, tail), payload) if not cause and _KINDS.get(kind) is has_workload else None


@dataclass(slots=True)
class RecordedFacts:
    """The facts among stored events, in columns: `at` is where each stands, and `plain` whether it is in the one form and of a kind that a
    core plays many at a time. Of one that is not, or that cannot be read, nothing else is known. `codes` are of all events, decisions too,
    and so is `is_decision`.
    """

    payloads: Sequence[bytes]
    chains: Sequence[bytes]
    codes: list[int | None] = field(default_factory=list)
    is_decision: list[bool] = field(default_factory=list)
    at: list[int] = field(default_factory=list)
    plain: list[bool] = field(default_factory=list)
    times: list[int] = field(default_factory=list)
    workloads: list[str] = field(default_factory=list)
    alike: list[Hashable] = field(default_factory=list)

    @classmethod
    def of(cls, rows: Sequence[ReadRow]) -> "RecordedFacts":
        """The facts among these events, of which the first is one."""
        _, payloads, chains = zip(*rows, strict=True) if rows else ((), (), ())
        facts = cls(payloads, chains)
        facts.codes = list(map(_CODES.get, [payload[_KIND] for payload in facts.payloads]))
        facts.is_decision = [code == _DECISION for code in facts.codes]
        facts.at = [at for at, is_decision in enumerate(facts.is_decision) if not is_decision]
        facts._read()
        return facts

    def _read(self) -> None:
        payloads = [self.payloads[at] for at in self.at]
        try:
            text = b"\n".join(payloads).decode()
        except UnicodeDecodeError:
            text = ""
        found = FORM.findall(text)
        if not len(found) == len(payloads) == text.count("\n") + 1:
            self.plain, self.times = [False] * len(payloads), [0] * len(payloads)
            self.workloads, self.alike = [""] * len(payloads), [None] * len(payloads)
            return
        kinds, times, causes, workloads, tails = zip(*found, strict=True)
        self.times, self.workloads = list(map(int, times)), list(workloads)
        has_workload = [workload != "" for workload in workloads]
        frames = list(zip(kinds, causes, has_workload, tails, strict=True))
        some = dict(zip(frames, payloads, strict=True))
        forms = {frame: _form(frame, payload) for frame, payload in some.items()}
        if max(self.times) <= INT64_MAX and all(form is not None and not form.compares for form in forms.values()):
            self.plain, self.alike = [True] * len(frames), list(tails)
            return
        for frame, payload, time in zip(frames, payloads, self.times, strict=True):
            form = forms[frame]
            if form is None or form.compares:
                form = _form(frame, payload)
            self.plain.append(form is not None and time <= INT64_MAX)
            self.alike.append(frame[-1] if form is not None and not form.compares else None)

    def given(self, begin: int, end: int) -> GivenFacts:
        """Some of the facts, all of them plain, to be played."""

        def submission(place: int) -> WorkloadSubmitted:
            fact = decode(self.payloads[self.at[begin + place]])
            assert isinstance(fact, WorkloadSubmitted)
            return fact

        kinds = [self.codes[at] for at in self.at[begin:end]]
        return GivenFacts(kinds, self.times[begin:end], self.workloads[begin:end], self.alike[begin:end], submission)  # type: ignore[arg-type]
