"""The heap gives things in order while the order stands, and changes nothing but its top when it does not."""

from gpol.engine.definition.kai.order.heap import LazyHeap
from hypothesis import given
from hypothesis import strategies as st


@given(st.lists(st.integers()))
def test_things_come_in_order(numbers: list[int]) -> None:
    """While the order stands, the least comes first each time."""
    heap = LazyHeap[int](lambda left, right: left < right)
    for number in numbers:
        heap.push(number)
    assert [heap.pop() for _ in numbers] == sorted(numbers)
    assert len(heap) == 0


@given(st.lists(st.integers(0, 50), min_size=1, unique=True), st.integers(0, 100))
def test_a_top_that_changed_sinks_to_where_it_belongs(numbers: list[int], now: int) -> None:
    """Where only the first thing has changed, putting it right is enough."""
    value = {number: number for number in numbers}
    heap = LazyHeap[int](lambda left, right: value[left] < value[right])
    for number in numbers:
        heap.push(number)
    value[heap.top()] = now
    heap.settle_top()
    popped = [value[heap.pop()] for _ in numbers]
    assert popped == sorted(popped)


def test_what_changed_below_the_top_stays_where_it_is() -> None:
    """The second best may be better now: it is not asked before it stands at the top."""
    value = {"a": 1, "b": 2, "c": 3}
    heap = LazyHeap[str](lambda left, right: value[left] < value[right])
    for name in value:
        heap.push(name)
    value["c"] = 0
    heap.settle_top()
    assert heap.top() == "c"
    value["c"], value["b"] = 3, -1
    assert heap.top() == "c"
