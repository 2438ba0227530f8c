"""Who has to wait until others have stopped."""

from gpol.adapters.kueue.live.stopping import Places

GPU = (0, "h100", "gpu")
CPU = (0, "h100", "cpu")


def exists(slot: tuple[int, str, str]) -> int:
    """There are eight of everything."""
    return 8


def test_the_beneficiary_waits_for_its_victims() -> None:
    """Even where there is room for it beside them."""
    places = Places()
    places.let_run("victim", "uid", {GPU: 2})
    places.to_stop("victim", "beneficiary")
    assert places.waits_for("beneficiary", {GPU: 2}, exists) == ["victim"]
    assert places.waits_for("another", {GPU: 2}, exists) == []
    places.stopped("victim")
    assert places.waits_for("beneficiary", {GPU: 2}, exists) == []


def test_who_would_take_a_place_that_is_not_free_waits() -> None:
    """Also if the one for whom it was to be free is gone."""
    places = Places()
    places.let_run("victim", "uid", {GPU: 6})
    places.to_stop("victim", "somebody who is gone")
    assert places.waits_for("another", {GPU: 3}, exists) == ["victim"]
    assert places.waits_for("small", {GPU: 2}, exists) == []
    assert places.waits_for("elsewhere", {CPU: 8}, exists) == []


def test_nobody_waits_for_those_who_run_on() -> None:
    """That they leave no room is for the policy to decide."""
    places = Places()
    places.let_run("runs", "uid", {GPU: 8})
    assert places.waits_for("another", {GPU: 8}, exists) == []


def test_a_workload_waits_for_what_is_left_of_its_former_life() -> None:
    """Its pods could not be told from those of the next life."""
    places = Places()
    places.let_run("a", "uid", {GPU: 1})
    places.to_stop("a", None)
    assert places.waits_for("a", {GPU: 1}, exists) == ["a"]


def test_what_is_let_run_again_counts_once() -> None:
    """The amounts are those of the last time."""
    places = Places()
    places.let_run("a", "uid", {GPU: 8})
    places.let_run("a", "uid", {GPU: 1})
    places.let_run("b", "uid", {GPU: 1})
    places.to_stop("b", None)
    assert places.waits_for("c", {GPU: 6}, exists) == []
    assert places.waits_for("c", {GPU: 7}, exists) == ["b"]
