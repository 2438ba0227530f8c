"""Where KAI's tables are."""

from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def kai_data(shared: Path) -> Path:
    """The folder of KAI's tables; skips where it is absent."""
    folder = shared / "conformance" / "kai"
    if not folder.is_dir():
        pytest.skip("needs the reference data in `shared/conformance/kai`, beside the repository")
    return folder
