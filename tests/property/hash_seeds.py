"""Whether a script prints the same whatever the hash seed of the interpreter is."""

import subprocess
import sys
from pathlib import Path


def outputs(script: str, *seeds: str) -> set[str]:
    """What a script prints under each hash seed; it finds this folder as its first argument."""
    command = [sys.executable, "-c", script, str(Path(__file__).parent)]
    return {subprocess.run(command, env={"PYTHONHASHSEED": seed}, capture_output=True, text=True, check=True).stdout for seed in seeds}
