"""Numbers that can be set by path: which there are, how paths are written, and the text with others in their place."""

import pytest
from gpol.dsl.analysis.checker import check
from gpol.dsl.settable import SettingError, parse_path, settables, with_values, written

POLICY = """policy "p" { use gpol.fair }
flavor h100 {
  gpu 32
  cpu 100
  worth 2.5
}
flavor a100 { gpu 64 }
priority batch 100
cohort research {
  weight 2
  owns 8 gpu on a100  # the pool
  queue nlp {
    owns 8 gpu on h100
    owns 10 cpu
    borrows up to 16 gpu on a100
    lends up to 4 gpu on h100
  }
  queue "v.1" {
    owns 4 gpu on a100
    lends all but 1 gpu on a100
  }
  queue "a b" {
    owns 4 gpu on h100
    guarantees 2 gpu on h100
  }
}
protect warm-up { where victim.running < 10m and victim.gpu > 4 }
deny big for nlp { where workload.gpu > 16 } because "no"
"""

PATHS = [
    "flavor.h100.gpu",
    "flavor.h100.cpu",
    "flavor.h100.worth",
    "flavor.a100.gpu",
    "priority.batch",
    "cohort.research.weight",
    "cohort.research.owns.a100.gpu",
    "queue.nlp.owns.h100.gpu",
    "queue.nlp.owns.h100.cpu",
    "queue.nlp.borrows.a100.gpu",
    "queue.nlp.lends.h100.gpu",
    'queue."v.1".owns.a100.gpu',
    'queue."v.1".keeps.a100.gpu',
    'queue."a b".owns.h100.gpu',
    'queue."a b".guarantees.h100.gpu',
    "protect.warm-up.victim.running",
    "protect.warm-up.victim.gpu",
    "deny.big.workload.gpu",
]


def test_every_number_has_its_path() -> None:
    """Flavors, priorities, quotas with their flavor though it is not named, weights and the numbers of guards, in the order of the text."""
    assert check(POLICY, "p.gpol").errors == ()
    assert [written(each.path) for each in settables(POLICY, "p.gpol")] == PATHS


@pytest.mark.parametrize("path", PATHS)
def test_a_path_is_read_as_it_is_written(path: str) -> None:
    """Quotes are for names with dots or blanks; each path leads to the one number that it was written for."""
    assert written(parse_path(path)) == path


@pytest.mark.parametrize(
    ("path", "value", "before", "after"),
    [
        ("queue.nlp.borrows.a100", "24", "borrows up to 16 gpu", "borrows up to 24 gpu"),
        ('queue."v.1".keeps.a100', "2", "all but 1 gpu", "all but 2 gpu"),
        ("cohort.research.weight", "3/2", "weight 2", "weight 3/2"),
        ("flavor.h100.worth", "3", "worth 2.5", "worth 3"),
        ("protect.warm-up.victim.running", "1h30m", "running < 10m", "running < 1h30m"),
    ],
)
def test_only_the_number_changes(path: str, value: str, before: str, after: str) -> None:
    """Everything else in the text, comments and lines, stays as it is; the resource may be left out where there is only one."""
    assert with_values(POLICY, "p.gpol", {path: value}) == POLICY.replace(before, after)


def test_several_numbers_are_set_at_once() -> None:
    """Longer and shorter values do not shift each other's places."""
    text = with_values(POLICY, "p.gpol", {"flavor.a100.gpu": "1024", "flavor.h100.gpu": "8", "deny.big.workload.gpu": "2"})

    assert text == POLICY.replace("gpu 64", "gpu 1024").replace("gpu 32", "gpu 8").replace("gpu > 16", "gpu > 2")


@pytest.mark.parametrize(
    ("path", "value", "said"),
    [
        ("queue.nlq.owns.h100", "1", "did you mean `queue.nlp.owns.h100`?"),
        ("queue.nlp.owns", "1", "has no number called `queue.nlp.owns`"),
        ("queue.nlp.owns.h100", "1", "is one of `queue.nlp.owns.h100.cpu`, `queue.nlp.owns.h100.gpu`; name one"),
        ("flavor.h100.gpu", "8 } evil {", "is no number"),
        ("flavor.h100.gpu", "", "is no number"),
        ("queue..owns", "1", "is no path"),
        ("", "1", "is no path"),
        ('queue."nlp', "1", "is no path"),
        ("queue.nlp.", "1", "is no path"),
    ],
)
def test_what_names_no_number_is_refused(path: str, value: str, said: str) -> None:
    """With what was meant, or what there is."""
    with pytest.raises(SettingError) as refused:
        with_values(POLICY, "p.gpol", {path: value})
    assert said in str(refused.value)


def test_two_paths_to_one_number_are_refused() -> None:
    """With and without its resource it is the same number."""
    with pytest.raises(SettingError, match="two paths name the same number"):
        with_values(POLICY, "p.gpol", {"queue.nlp.borrows.a100": "1", "queue.nlp.borrows.a100.gpu": "2"})


def test_two_numbers_of_one_path_are_refused() -> None:
    """A guard that compares one field twice leaves open which is meant."""
    text = POLICY.replace("victim.gpu > 4", "victim.running > 1m")
    with pytest.raises(SettingError, match="has 2 numbers called"):
        with_values(text, "p.gpol", {"protect.warm-up.victim.running": "5m"})


def test_numbers_of_passes_have_their_paths() -> None:
    """What a queue uses at most, its weight for one resource, and its own priority."""
    text = """policy "p" { use kai.default }
flavor gpus {
  gpu from nodes where pool = "a"
  placed on nodes
}
queue nlp {
  owns 8 gpu
  uses up to 16 gpu
  weight 2 for gpu
  priority 100
}
"""
    paths = ["queue.nlp.owns.gpus.gpu", "queue.nlp.uses.gpus.gpu", "queue.nlp.weight.gpu", "queue.nlp.priority"]
    assert [written(each.path) for each in settables(text, "p.gpol")] == paths
    changed = with_values(text, "p.gpol", {"queue.nlp.uses.gpus": "24", "queue.nlp.priority": "7"})
    assert changed == text.replace("up to 16", "up to 24").replace("priority 100", "priority 7")
