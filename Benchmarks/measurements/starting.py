"""What a process of the command costs that does little: how long it takes, and its memory."""

import resource
import shutil
import statistics
import subprocess
import time

from .programs import alternating, peak, section
from .servers import Discarding


def starting(table, formstream, work, rounds):
    section("Starting")
    if shutil.which("curl") is None:
        table.note("curl is not installed: the time to start was left out.")
        return

    def version(program):
        return lambda: start([program, "--version"])[0]

    version(formstream)(), version("curl")()
    ours, peer = alternating(rounds, version(formstream), version("curl"))
    table.add("--version", "ms", ours, peer, ("<=", 1.0), peer_name="curl")
    installed = work / "installed"
    subprocess.run(["strip", "-o", installed, formstream], check=True)
    size = installed.stat().st_size / 1e6
    table.add("the program as installed", "MB", [size], None, ("<=", 16), size)
    with Discarding(table, work) as server:
        if server.port is not None:
            posting(table, formstream, work, rounds, server)


def start(command):
    """Runs a command, and returns its milliseconds of wall clock and of processor time."""
    before, begun = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    subprocess.run([str(word) for word in command], stdout=subprocess.DEVNULL, check=True)
    seconds, after = time.monotonic() - begun, resource.getrusage(resource.RUSAGE_CHILDREN)
    processor = after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime
    return seconds * 1000, processor * 1000


def posting(table, formstream, work, rounds, server):
    """Processes that post one file of 4 KiB."""
    section("Posting one small file")
    path = work / "small.png"
    # A picture by its first bytes, so that libmagic has something to find.
    path.write_bytes(bytes.fromhex("89504e470d0a1a0a0000000d49484452") + bytes(4080))

    def post(*arguments):
        return [formstream, "post", "-q", "--progress", "none", *arguments, server.url]

    typed = f"f=@{path};type=application/octet-stream"
    curl = ["curl", "-s", "-F", typed, server.url]
    kinds = {
        "type given": (post("-F", typed), 1.25, 17),
        "type by extension": (post("--sniff", "extension", "-F", f"f=@{path}"), 1.35, None),
        "type detected": (post("-F", f"f=@{path}"), 2.0, 23),
    }
    commands = [command for command, _, _ in kinds.values()] + [curl]
    *ours, peer = alternating(rounds, *(lambda command=command: start(command) for command in commands))
    for (what, (_, bar, _)), runs in zip(kinds.items(), ours):
        for place, kind, bar in ((0, "", ("<=", bar)), (1, ": processor time", None)):
            mine, curls = ([run[place] for run in samples] for samples in (runs, peer))
            table.add(f"one post of 4 KiB, {what}{kind}", "ms", mine, curls, bar, peer_name="curl -F")
    peaks = alternating(max(5, rounds // 10), *(lambda command=command: peak(command, work)[0] / 1024
                               for command in commands))
    for (what, (_, _, limit)), ours in zip(kinds.items(), peaks):
        if limit:
            table.add(f"one post of 4 KiB, {what}: peak memory", "MiB", ours, peaks[-1], ("<=", limit),
                      statistics.median(ours), "curl -F")
