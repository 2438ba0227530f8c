"""A PostgreSQL server of the tests' own, from the installed programs, on a socket in a temporary folder; it ends with whom it serves."""

import os
import pwd
import re
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

_SCRIPT = """
"$1/initdb" --pgdata "$2/data" --username gpol --auth trust --encoding UTF8 --locale C --no-sync > "$2/log" 2>&1 || exit 1
"$1/postgres" -D "$2/data" -k "$2" -h "" -c shared_buffers=16MB -c max_connections=40 >> "$2/log" 2>&1 < /dev/null &
server=$!
read -r end  # until this pipe is closed, if only by the end of the process that opened it
kill -INT $server
(sleep 30; kill -QUIT $server) > /dev/null 2>&1 &  # asked to end while it recovers from a crash, it may never do
guard=$!
wait $server
kill $guard
rm -rf "$2"
"""

_STARTUP_SECONDS = 60


def programs() -> Path | None:
    """The folder of `initdb` and `postgres`, those of the latest version where they are not on the path; None: not installed."""
    found = shutil.which("initdb")
    if found is not None:
        return Path(found).resolve().parent
    folders = Path("/usr/lib/postgresql").glob("*/bin")
    folders = (folder for folder in folders if (folder / "initdb").exists())
    return max(folders, key=lambda folder: [int(number) for number in re.findall(r"\d+", folder.parent.name)], default=None)


@contextmanager
def running(folder_of_programs: Path) -> Iterator[str]:
    """A running server; gives the URL of a database in it, to which `&journal=NAME` may be added."""
    folder = Path(tempfile.mkdtemp(prefix="gpol-postgres-"))
    command = ["sh", "-c", _SCRIPT, "sh", str(folder_of_programs), str(folder)]
    if os.geteuid() == 0:  # PostgreSQL refuses to run as root
        user = next(pwd.getpwnam(name) for name in ("postgres", "nobody") if _is_user(name))
        os.chown(folder, user.pw_uid, user.pw_gid)
        command = ["setpriv", f"--reuid={user.pw_uid}", f"--regid={user.pw_gid}", "--clear-groups", *command]
    # In a session of its own, so that a signal to all that run in the foreground leaves it alone, and it can end in order.
    process = subprocess.Popen(command, stdin=subprocess.PIPE, cwd="/", start_new_session=True)
    try:
        _wait(process, folder)
        yield f"postgresql://gpol@/postgres?host={folder}"
    finally:
        process.communicate()
        shutil.rmtree(folder, ignore_errors=True)  # what is left where the server did not start


def _is_user(name: str) -> bool:
    try:
        pwd.getpwnam(name)
    except KeyError:
        return False
    return True


def _wait(process: subprocess.Popen[bytes], folder: Path) -> None:
    """Until the server says that it is ready."""
    for _ in range(_STARTUP_SECONDS * 20):
        time.sleep(0.05)
        pid = folder / "data" / "postmaster.pid"
        if pid.exists() and pid.read_text().rstrip().endswith("ready"):
            return
        if process.poll() is not None:
            break
    raise RuntimeError(f"PostgreSQL does not start: {(folder / 'log').read_text(errors='replace')}")
