"""Random clusters are decided as KAI decided them, round by round."""

from collections import Counter
from pathlib import Path

import kai_recorded
import pytest
from gpol.adapters.kai.case_session import read_case
from gpol.adapters.kueue.problems import ImportRefused


@pytest.mark.slow
@pytest.mark.parametrize("scope", kai_recorded.SCOPES)
def test_every_cluster_is_decided_as_kai_did(scope: str, kai_data: Path) -> None:
    """Fair shares, states, nodes and evictions of every round, and how the rounds end."""
    played = [each for each in kai_recorded.recorded(kai_data) if kai_recorded.scope_of(each[0]) == scope]
    found = {cluster["Name"]: kai_recorded.play(cluster, wanted) for cluster, wanted in played}
    assert {name: problem for name, problem in found.items() if problem} == {}
    assert len(found) == kai_recorded.SCOPES[scope]


def test_clusters_with_shares_of_gpus_are_refused(kai_data: Path) -> None:
    """The scope that is left out is refused by name."""
    counts = Counter[str]()
    for cluster, _ in kai_recorded.recorded(kai_data):
        scope = kai_recorded.scope_of(cluster)
        counts[scope] += 1
        if scope in kai_recorded.LEFT_OUT_SCOPES:
            with pytest.raises(ImportRefused, match="shares of GPUs"):
                read_case(cluster)
    assert counts == {**kai_recorded.SCOPES, **kai_recorded.LEFT_OUT_SCOPES}
