"""A checked policy, ready to be activated."""

from dataclasses import dataclass

from ...dsl.analysis.checker import Checked
from ...engine.facts import PolicyActivated, ProfileText
from ...engine.policy_graph import PolicyGraph


@dataclass(frozen=True, slots=True)
class Policy:
    """A policy's graph with the text it comes from, the profiles it uses, who activates it, and why (empty: nothing is said)."""

    graph: PolicyGraph
    file: str
    text: str
    profiles: tuple[tuple[str, str], ...]
    by: str = ""
    note: str = ""

    @property
    def profile(self) -> str:
        """The name of the profile that the policy uses; empty where it uses none."""
        return self.profiles[0][0] if self.profiles else ""

    @classmethod
    def of(cls, checked: Checked, by: str = "", note: str = "") -> "Policy":
        """The policy of a file that was checked without errors."""
        assert checked.graph is not None
        return cls(checked.graph, checked.parsed.file, checked.parsed.text, checked.profiles, by, note)

    def activation(self, time: int) -> PolicyActivated:
        """The fact that activates the policy. It contains all texts, so a journal needs no other files."""
        return PolicyActivated(
            time=time,
            file=self.file,
            text=self.text,
            profiles=tuple(ProfileText(name=name, text=text) for name, text in self.profiles),
            digest=self.graph.digest,
            by=self.by,
            note=self.note,
        )
