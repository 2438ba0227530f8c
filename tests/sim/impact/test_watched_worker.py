"""Workers of a sweep end when the command that started them was killed."""

import signal
import subprocess
import sys

import pytest

COMMAND = """
import sys, time
from joblib import Parallel, delayed
from gpol.sim.impact.sweep import _backend

def work(seconds):
    print("at work", flush=True)
    time.sleep(seconds)

if __name__ == "__main__":
    jobs, seconds = int(sys.argv[1]), int(sys.argv[2])
    with _backend("local", jobs, None, None):
        Parallel(n_jobs=jobs)(delayed(work)(seconds) for _ in range(jobs))
    print("goes on", flush=True)
"""


@pytest.mark.parametrize("sent", [signal.SIGTERM, signal.SIGKILL])
def test_workers_of_a_killed_command_end(sent: signal.Signals) -> None:
    """Output that they have inherited ends only when they do, so whoever reads it is not kept waiting."""
    with subprocess.Popen(
        [sys.executable, "-c", COMMAND, "2", "600"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as command:
        assert command.stdout is not None
        for _ in range(2):
            assert command.stdout.readline() == "at work\n"
        command.send_signal(sent)
        output, _ = command.communicate(timeout=60)
        assert (output, command.returncode) == ("", -sent)


def test_the_command_itself_goes_on() -> None:
    """With one job it plays the variants itself: it is no child of its own, and no reason to end."""
    played = subprocess.run([sys.executable, "-c", COMMAND, "1", "2"], capture_output=True, text=True, check=True)
    assert played.stdout == "at work\ngoes on\n"
