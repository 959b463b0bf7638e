"""Builds programs, runs them, and measures what they cost."""

import json
import os
import pathlib
import shutil
import subprocess
import sys

BENCHMARKS = pathlib.Path(__file__).resolve().parent.parent
ROOT = BENCHMARKS.parent
MIB = 1 << 20
GIB = 1 << 30
# As long as the boundaries that formstream draws: a short one is slower to search for.
BOUNDARY = "FormStream-0123456789ABCDEFghijklmn"


def section(text):
    """Says on standard error what is measured next."""
    print(f"== {text}", file=sys.stderr)


def build(package, product):
    """Builds a release program as `make install` does, and returns its path."""
    flags = subprocess.run([ROOT / ".ci/release-flags"], stdout=subprocess.PIPE, check=True, text=True)
    command = ["swift", "build", "--package-path", str(package), *flags.stdout.splitlines(),
               "--product", product]
    made = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if made.returncode != 0:
        sys.exit(f"{made.stdout}\nBuilding {product} failed.")
    bin_path = subprocess.run(
        command[:-2] + ["--show-bin-path"], stdout=subprocess.PIPE, check=True, text=True)
    return pathlib.Path(bin_path.stdout.strip()) / product


def try_build(table, package, product, what):
    """Builds a peer in Swift and returns its path, or None if it can't be built: then a note says that `what` is left out."""
    try:
        return build(package, product)
    except SystemExit as failure:
        print(failure, file=sys.stderr)
        table.note(f"{product} can't be built: {what} left out.")
        return None


def c_program(name, work, *libraries):
    """Builds the peer in C of that name once, and returns its path."""
    program = work / name
    if not program.exists():
        subprocess.run(["cc", "-O2", "-pthread", "-o", program, BENCHMARKS / "peers" / name / "main.c",
                        *libraries], check=True)
    return program


def go_program(name, work):
    """Builds the peer in Go of that name and returns its path, or None if Go is not installed."""
    if shutil.which("go") is None:
        return None
    program = work / name
    subprocess.run(["go", "build", "-o", str(program), str(BENCHMARKS / "peers" / name / "main.go")],
                   env={**os.environ, "GOCACHE": str(work / "go-cache")}, check=True)
    return program


def measured(command):
    """Runs a benchmark program and returns the JSON object that it prints."""
    return json.loads(subprocess.run(
        [str(word) for word in command], stdout=subprocess.PIPE, check=True, text=True).stdout)


def alternating(rounds, *calls):
    """Calls all functions once a round, and returns a list of results for each. Every second round is reversed."""
    results = [[] for _ in calls]
    for index in range(rounds):
        order = list(zip(calls, results))
        for call, result in order if index % 2 == 0 else reversed(order):
            result.append(call())
    return results


def usage(command, work, may_fail=False):
    """Runs a command, discards its output, and returns its seconds of wall clock and of processor time, and its peak
    memory in KiB."""
    note = work / "time"
    subprocess.run(["time", "-q", "-f", "%e %U %S %M", "-o", str(note), *map(str, command)],
                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL if may_fail else None, check=not may_fail)
    seconds, user, system, kib = map(float, note.read_text().split())
    return seconds, user + system, kib


def cost(command, work, may_fail=False):
    """Runs a command, discards its output, and returns its seconds of wall clock and of processor time."""
    return usage(command, work, may_fail)[:2]


def peak(command, work, body=None):
    """Runs a command, discards its output, and returns its peak memory in KiB and its seconds.
    If `body` is given, it is a command too, and its output is piped into the first.

    GNU time starts the command: a child of Python begins with a copy of Python's memory, and the system
    counts that in the child's peak."""
    note = work / "time"
    timed = ["time", "-f", "%M %e", "-o", str(note), *map(str, command)]
    if body is None:
        subprocess.run(timed, stdout=subprocess.DEVNULL, check=True)
    else:
        with subprocess.Popen([str(word) for word in body], stdout=subprocess.PIPE) as writer:
            subprocess.run(timed, stdin=writer.stdout, stdout=subprocess.DEVNULL, check=True)
        if writer.returncode != 0:
            sys.exit("Writing the body failed.")
    kib, seconds = note.read_text().split()
    return int(kib), float(seconds)


def write_noise(path, size):
    """Writes a file of that size, one random block over and over."""
    noise = os.urandom(64 * MIB)
    with open(path, "wb") as file:
        for _ in range(size // len(noise)):
            file.write(noise)
