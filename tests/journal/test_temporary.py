"""A temporary journal that cannot be written: the message names a folder that is there, and how to choose another one."""

from tempfile import gettempdir

import pytest
from gpol.journal.errors import UnavailableError
from gpol.journal.temporary import temporary_journal


def test_a_full_folder_is_told_with_its_setting() -> None:
    """The folder of the journal itself is gone by the time that its user reads the message."""
    with pytest.raises(UnavailableError) as caught, temporary_journal() as journal:
        raise UnavailableError(f"there is no room left to write `{journal.name}`", "free some disk space")
    assert caught.value.remedy == f"free some disk space; temporary files are in `{gettempdir()}`; TMPDIR names another folder for them"
