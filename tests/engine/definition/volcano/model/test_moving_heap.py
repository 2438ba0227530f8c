"""A heap whose order moves."""

from gpol.engine.definition.volcano.model.moving_heap import MovingHeap
from hypothesis import given
from hypothesis import strategies as st


@given(st.lists(st.integers()))
def test_things_come_out_in_order(items: list[int]) -> None:
    """While the order stays, it is that of sorting; a copy is not changed by what is taken out."""
    heap = MovingHeap[int](lambda left, right: left < right, items)
    copy = heap.copy()
    assert [heap.pop() for _ in items] == sorted(items)
    assert len(copy) == len(items)
    assert [copy.pop() for _ in items] == sorted(items)


def test_an_order_that_moves_is_not_put_right() -> None:
    """As in Go: what lies on top comes out, even if another thing has become better since; then the others move up."""
    rank = {"a": 1, "b": 2, "c": 3}
    heap = MovingHeap[str](lambda left, right: rank[left] < rank[right], "abc")
    rank["c"] = 0
    assert [heap.pop() for _ in range(3)] == ["a", "c", "b"]
