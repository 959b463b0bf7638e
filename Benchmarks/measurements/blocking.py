"""How soon a request ends that is blocked by its file or by the reader of its response, and what it costs others."""

import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import threading
import time

from .programs import MIB, ROOT, measured, section, write_noise
from .servers import Discarding, Endless

FILE_SYSTEM = ROOT / "Tests" / "FormStreamTestSupport" / "blocking-files.py"
# The time for a request to begin and to be blocked.
BLOCKED_AFTER = 0.5


class BlockingFile:
    """A file of which the second half can't be read."""

    def __init__(self):
        self.place = tempfile.TemporaryDirectory(prefix="formstream-bench-")
        self.path = pathlib.Path(self.place.name) / "file"
        self.program = subprocess.Popen(
            [sys.executable, FILE_SYSTEM, self.place.name, str(MIB), "read", str(MIB // 2)],
            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        self.is_mounted = self.program.stdout.readline() == "mounted\n"

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.is_mounted:
            subprocess.run(["umount", "--lazy", self.place.name], check=True)
        self.program.kill()
        self.program.wait()
        self.place.cleanup()


def seconds_to_end(command, number=None, limit=0):
    """Starts a command whose output nobody reads, and sends it a signal once it is blocked. Returns how long it lives
    after that, or after the limit of time that it was given."""
    begun = time.monotonic()
    with subprocess.Popen([str(word) for word in command], stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL) as program:
        if number is not None:
            time.sleep(BLOCKED_AFTER)
            begun = time.monotonic()
            program.send_signal(number)
        # Python's own time limit would ask again and again, and be as late as 50 ms.
        guard = threading.Timer(30, program.kill)
        guard.start()
        program.wait()
        guard.cancel()
        seconds = time.monotonic() - begun - limit
    if program.returncode != (75 if number is None else -number) or seconds < 0:
        sys.exit(f"{command[0]} was not blocked: it ended with {program.returncode}.")
    return seconds


def blocking(table, bench, formstream, work, rounds):
    with BlockingFile() as file:
        if not file.is_mounted:
            table.note("A file system (FUSE) can't be mounted here: blocked requests were left out.")
            return
    section("Requests that are blocked")
    # A shell lets what it starts in the background ignore SIGINT, and the commands below would inherit that.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    with Discarding(table, work) as server, Endless() as endless:
        if server.port is None:
            return
        def command(url, file=None):
            what = ["-X", "GET"] if file is None else ["-T", file]
            return [formstream, "post", "-q", "--progress", "none", *what, url]

        ways = {
            "cancelling": lambda *request: measured([bench, "cancel", *request])["seconds"],
            "--max-time": lambda *request: seconds_to_end(
                [*command(*request), "--max-time", "1"], limit=1),
            "SIGINT": lambda *request: seconds_to_end(command(*request), signal.SIGINT),
        }

        def of_file(way):
            with BlockingFile() as file:
                return way(server.url, file.path)

        for name, way in ways.items():
            for what, samples in (
                    ("a file that blocks", [of_file(way) for _ in range(rounds)]),
                    ("an unread response", [way(endless.url) for _ in range(rounds)])):
                milliseconds = [1000 * seconds for seconds in samples]
                table.add(f"ending a request that waits for {what}: {name}", "ms", milliseconds,
                          None, ("<=", 100), max(milliseconds))
        neighbours(table, bench, work, server, endless, rounds)


def neighbours(table, bench, work, server, endless, rounds):
    path = work / "neighbour"
    write_noise(path, 64 * MIB)
    os.truncate(path, 8 * MIB)
    files = [BlockingFile() for _ in range(rounds)]
    try:
        result = measured([bench, "neighbours", server.url, endless.url, path,
                           *(file.path for file in files)])
    finally:
        for file in files:
            file.__exit__()
    for key, what in (("file", "a file that blocks"), ("response", "a closure that doesn't return")):
        table.add(f"50 uploads of 8 MiB beside {what}", "s", result[key], result["alone"],
                  ("<=", 1.1), peer_name="without it")
    path.unlink()
