"""What the long trials share: how they check, the receiver, and running programs."""

import atexit
import hashlib
import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import threading
import time
import traceback

failures = 0


def check(condition, failure):
    """Counts and prints a failure unless the condition is true."""
    global failures
    if not condition:
        failures += 1
        print(f"  FAILED: {failure}", flush=True)


class Receiver:
    """A running receiver, and the records that it prints: of each, what `keep` returns."""

    def __init__(self, formstream, *flags, keep=lambda record: record):
        self.program = subprocess.Popen(
            [formstream, "receive", "--listen", "127.0.0.1:0", "--json", "--quiet", *flags],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        # Also if a trial fails, or is ended.
        atexit.register(self.program.kill)
        self.url = json.loads(self.program.stdout.readline())["url"]
        self.port = int(self.url.rstrip("/").rsplit(":", 1)[1])
        self.records = []
        self.keep = keep
        self.reading = threading.Thread(target=self.read)
        self.reading.start()

    def read(self):
        for line in self.program.stdout:
            self.records.append(self.keep(json.loads(line)))

    def status(self, field):
        for line in pathlib.Path(f"/proc/{self.program.pid}/status").read_text().splitlines():
            if line.startswith(f"{field}:"):
                return int(line.split()[1])
        return 0

    def descriptors_and_threads(self):
        process = f"/proc/{self.program.pid}"
        return len(os.listdir(f"{process}/fd")), len(os.listdir(f"{process}/task"))

    def files(self, directory):
        """The sizes of the files of a directory: of those that it lists, and of those that are open and have no name."""
        paths = list(directory.iterdir())
        for descriptor in pathlib.Path(f"/proc/{self.program.pid}/fd").iterdir():
            try:
                if os.readlink(descriptor).startswith(f"{directory}/"):
                    paths.append(descriptor)
            except FileNotFoundError:
                pass  # It was closed meanwhile.
        sizes = []
        for path in paths:
            try:
                sizes.append(path.stat().st_size)
            except FileNotFoundError:
                pass
        return sizes

    def end(self, number=signal.SIGTERM, exit_code=0):
        self.program.send_signal(number)
        code = self.program.wait(60)
        self.reading.join()
        with self.program.stdout, self.program.stderr:
            for line in self.program.stderr.read().decode().splitlines():
                check("Ended by a signal" in line, f"its errors: {line}")
        check(code == exit_code, f"the receiver ended with {code}, not {exit_code}")


def until(condition, seconds=30):
    """Waits until a condition is true. Returns false after that many seconds."""
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.001)
    return True


def digest(path):
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def run(*words):
    return subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def peak_of(*words):
    """Runs a program, and returns its peak memory in KiB.

    `time` starts it, because a program begins with its parent's peak, and Python's is larger.
    """
    with tempfile.NamedTemporaryFile() as figures:
        done = run("time", "-f", "%M", "-o", figures.name, *words)
        check(done.returncode == 0, f"{words[:2]} ended with {done.returncode}: {done.stderr.decode()}")
        return int(figures.read().split()[-1])


def main(trials):
    """Runs those of the trials that the command line names, or all, each in a directory of its own."""
    # Files and programs are removed and ended then, too.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    formstream, names = sys.argv[1], sys.argv[2:]
    unknown = set(names) - {trial.__name__ for trial in trials}
    check(not unknown, f"there is no trial {', '.join(unknown)}")
    for trial in trials:
        if names and trial.__name__ not in names:
            continue
        with tempfile.TemporaryDirectory() as place:
            # Some trials run programs as another user, who may not write where this one keeps its files.
            os.environ["TMPDIR"] = place
            # The others are worth their hour, too.
            try:
                trial(formstream, pathlib.Path(place))
            except Exception:
                traceback.print_exc()
                check(False, f"{trial.__name__} did not come to its end")
        sys.stdout.flush()
    return 1 if failures else 0
