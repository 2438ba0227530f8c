"""A checked policy, ready to be activated."""

from dataclasses import dataclass

from ..dsl.checker import Checked
from ..engine.events import PolicyActivated, ProfileText
from ..engine.graph import PolicyGraph


@dataclass(frozen=True, slots=True)
class Policy:
    """A policy's graph with the text it comes from and the profiles it uses."""

    graph: PolicyGraph
    file: str
    text: str
    profiles: tuple[tuple[str, str], ...]

    @classmethod
    def of(cls, checked: Checked) -> "Policy":
        """The policy of a file that was checked without errors."""
        assert checked.graph is not None
        return cls(checked.graph, checked.parsed.file, checked.parsed.text, checked.profiles)

    def activation(self, time: int) -> PolicyActivated:
        """The fact that activates the policy, whole: a journal needs nothing but itself."""
        return PolicyActivated(
            time=time,
            file=self.file,
            text=self.text,
            profiles=tuple(ProfileText(name=name, text=text) for name, text in self.profiles),
            digest=self.graph.digest,
        )
