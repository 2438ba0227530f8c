"""The page that says which construct is decided where is up to date."""

import pytest
from where import PAGE, page


@pytest.mark.slow
def test_the_page_is_up_to_date() -> None:
    """As `python tests/fuzz/where.py` writes it."""
    assert PAGE.read_text(encoding="utf-8") == page()
