"""Formatting: the one layout, comments in their places, and never a word lost."""

import pytest
from gpol.dsl.diagnostics import PolicyError
from gpol.dsl.formatter import format_text


@pytest.mark.parametrize("item", ["protect p {{ {} }}\n", 'deny d {{ {} }} because "b"\n', 'hold h {{ {} }} because "b"\n'])
def test_a_second_where_is_refused_and_not_dropped(item: str) -> None:
    """A rule takes one guard; a second one is an error, never silently left out of the rule and of the formatted file."""
    text = item.format("\n  where workload.gpu > 1\n  where workload.gpu > 2\n")

    with pytest.raises(PolicyError) as caught:
        format_text(text, "p.gpol")

    [diagnostic] = caught.value.diagnostics
    assert text[diagnostic.span.start :].startswith("where workload.gpu > 2")
