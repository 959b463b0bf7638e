"""Files and directories that become links again and again while they are sent."""

import hashlib
import os
import pathlib
import subprocess

from trials import check

from .sent import send
from .server import Server

INSIDE, SECRET = b"what may be sent: " * 20, b"what is outside!! " * 20


def make(place):
    """Makes a directory with a file, a link and a directory of the same names outside. All have the same size and time,
    so that only the way to them tells them apart."""
    for name, contents in (("in/d", INSIDE), ("outside", SECRET)):
        (place / name).mkdir(parents=True)
        for file in ["f", *(f"g{number}" for number in range(20))]:
            (place / name / file).write_bytes(contents)
            os.utime(place / name / file, ns=(1, 1))
    # What the file and the directory are exchanged with. The links are absolute, or lead out of the root by "..".
    (place / "links").mkdir()
    (place / "links" / "f").symlink_to(place / "outside" / "f")
    (place / "links" / "d").symlink_to("../outside")
    names = sorted(path.name for path in (place / "in" / "d").iterdir())
    (place / "in" / "list").write_bytes(b"".join(f"d/{name}\0".encode() for name in names))


class Exchanging:
    """Two paths are exchanged while the block runs."""

    def __init__(self, program, one, other):
        self.command = [program, one, other]

    def __enter__(self):
        self.program = subprocess.Popen(self.command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        return self

    def __exit__(self, *_):
        self.rounds = int(self.program.communicate(b"x")[0])


def link_races(formstream, place, rounds=10_000):
    """No byte from outside the root is sent."""
    exchange = place / "exchange"
    subprocess.run(["cc", "-O2", "-Wall", "-o", exchange, pathlib.Path(__file__).with_name("exchange.c")], check=True)
    make(place)
    root = place / "in"
    subprocess.run([formstream, "plan", "-o", place / "manifest", "--files-from0", "list"], cwd=root, check=True)
    inputs = {
        "a list": ["--files-from0", "list"],
        "a manifest": ["--manifest", place / "manifest"],
        "a directory": ["--exclude", "list", "."],
    }
    exchanged = {"the file": ("d/f", "f"), "its directory": ("d", "d")}
    for input_name, words in inputs.items():
        for what, (path, link) in exchanged.items():
            for follow in ([], ["--follow-symlinks"]):
                # A manifest has been listed already.
                if follow and input_name == "a manifest":
                    continue
                with Server(forbidden=SECRET[:64]) as server:
                    files, outcomes, exchanges = 0, {}, 0
                    with Exchanging(exchange, root / path, place / "links" / link) as exchanging:
                        while files < rounds:
                            run = send(formstream, "-j", "4", "--sniff", "extension", *follow, server.url, *words,
                                       cwd=root)
                            check(run.exit in (0, 66, 74, 1), f"it ended with {run.exit}: {run.errors}")
                            # A directory is listed once in a run. Each look at it is a round.
                            files += max(len(run.records), 1)
                            for record in run.records:
                                outcomes[record["outcome"]] = outcomes.get(record["outcome"], 0) + 1
                    exchanges = exchanging.rounds
                    check(exchanges >= rounds, f"only {exchanges} exchanges")
                    check(not server.leaks and not server.faults, f"{server.leaks} leaks, {server.faults[:1]}")
                    digests = {digest for _, digest in server.stored}
                    check(digests <= {hashlib.sha256(INSIDE).hexdigest()}, "something else was stored")
                    check(sum(server.stored.values()) == outcomes.get("ok", 0), "ok and stored are not equal")
                    print(f"{files} files of {input_name} while {what} is exchanged with a link {exchanges} times"
                          f"{', links followed' * bool(follow)}: {outcomes}, nothing from outside", flush=True)
