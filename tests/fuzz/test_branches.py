"""A comparison can say which branches of the kernels it took."""

import pytest
from run import main


def test_branches_are_counted(capsys: pytest.CaptureFixture[str]) -> None:
    """Of a short comparison some branches are told to be taken, and others named by their module and lines."""
    assert main(["--policies", "1", "--facts", "10", "--seed", "1", "--branches", "--sizes", "small"]) == 0

    told = capsys.readouterr().out
    taken, total = (
        int(number.replace(",", "")) for number in told.split("branches of the kernels: ")[1].split("\n")[0].split(" taken of ")
    )
    assert 0 < taken < total
    assert "  never taken in " in told


def test_compiled_kernels_have_no_branches_to_count(capsys: pytest.CaptureFixture[str]) -> None:
    """It is refused where nothing could be counted."""
    with pytest.raises(SystemExit):
        main(["--right", "compiled", "--branches"])
    assert "--branches counts in array or careful" in capsys.readouterr().err
