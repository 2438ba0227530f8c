"""Workers of a sweep end when the command that started them was killed."""

import signal
import subprocess
import sys

import pytest

COMMAND = """
import os, time
from joblib import Parallel, delayed

def work(command):
    from gpol.sim.impact.watched_worker import end_with
    end_with(command)
    print("at work", flush=True)
    time.sleep(600)

Parallel(n_jobs=2)(delayed(work)(os.getpid()) for _ in range(2))
"""


@pytest.mark.parametrize("sent", [signal.SIGTERM, signal.SIGKILL])
def test_workers_of_a_killed_command_end(sent: signal.Signals) -> None:
    """Output that they have inherited ends only when they do, so whoever reads it is not kept waiting."""
    with subprocess.Popen([sys.executable, "-c", COMMAND], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as command:
        assert command.stdout is not None
        for _ in range(2):
            assert command.stdout.readline() == "at work\n"
        command.send_signal(sent)
        output, _ = command.communicate(timeout=60)
        assert (output, command.returncode) == ("", -sent)


def test_the_command_itself_goes_on() -> None:
    """With one job it plays the variants itself: it is no child of its own, and no reason to end."""
    program = "import os, time; from gpol.sim.impact.watched_worker import end_with; end_with(os.getpid()); time.sleep(2); print('goes on')"
    assert subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout == "goes on\n"
