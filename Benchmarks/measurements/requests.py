"""Many small requests, and many requests at once."""

import os
import shutil
import statistics
import subprocess

from .programs import MIB, alternating, c_program, cost, peak, section
from .servers import Discarding

CONCURRENT = 50


def requests(table, program, work, rounds, count):
    """Posts many files of 4 KiB, one request each, with what a program has for that."""
    if shutil.which("curl") is None:
        table.note("curl is not installed: small requests were left out.")
        return
    section(f"Posting {count:,} files of 4 KiB")
    directory = work / "requests"
    directory.mkdir()
    paths = [directory / f"{number}.bin" for number in range(count)]
    for path in paths:
        path.write_bytes(os.urandom(4096))
    files = work / "list"
    files.write_text("".join(f"{path}\n" for path in paths))
    with Discarding(table, work) as server:
        if server.port is None:
            return
        config = work / "config"
        config.write_text("next\n".join(
            f'url = "{server.url}"\nform = "f=@{path};type=application/octet-stream"\n'
            'output = "/dev/null"\n' for path in paths))
        bare = [c_program("multi", work, "-lcurl"), files, server.url, CONCURRENT]
        commands = {
            "ours": [program, "post", files, server.url, 2, CONCURRENT],
            "curl --parallel": ["curl", "-s", "--parallel", "--parallel-max", CONCURRENT,
                                "-K", config],
            "C, one thread": [*bare, 1],
            "C, two threads": [*bare, 2],
        }
        results = dict(zip(commands, alternating(
            rounds, *(lambda command=command: cost(command, work) for command in commands.values()))))
        rates = {name: [count / run[0] for run in runs] for name, runs in results.items()}
        micros = {name: [run[1] / count * 1e6 for run in runs] for name, runs in results.items()}
        for name, bar in (("curl --parallel", 1.5), ("C, one thread", 0.6), ("C, two threads", 0.6)):
            table.add("requests of 4 KiB, 2 engines", "1/s", rates["ours"], rates[name],
                      (">=", bar), peer_name=name)
        for name in ("curl --parallel", "C, one thread"):
            table.add("the same: processor time for each", "µs", micros["ours"], micros[name],
                      peer_name=name)
        if shutil.which("strace") is None:
            table.note("strace is not installed: system calls were not counted.")
        else:
            calls = [system_calls(commands["ours"]) / count]
            table.add("the same: system calls for each", "", calls, None, ("<=", 20), calls[0])

        body = work / "body"
        body.write_bytes(os.urandom(MIB))
        together = [peak([program, "together", 1000, body, server.url], work)[0] / 1024
                    for _ in range(min(rounds, 5))]
        table.add("1,000 bodies of 1 MiB at once: peak memory", "MiB", together)


def waiting(table, program, work, rounds, count):
    """Memory doesn't grow with the requests that wait."""
    section(f"{count:,} requests that wait")
    with Discarding(table, work) as server:
        if server.port is None:
            return
        few, many = ([peak([program, "waiting", number, server.url], work)[0] for _ in range(min(rounds, 3))]
                     for number in (1000, count))
        table.add(f"{count:,} waiting requests: peak memory", "KiB", many, few, ("<=", 2048),
                  statistics.median(many) - statistics.median(few), "itself, 1,000 waiting")


def system_calls(command):
    """How many system calls a program makes, in all its threads."""
    traced = subprocess.run(["strace", "-f", "-c", "-S", "calls", *map(str, command)],
                            stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, check=True, text=True)
    # % time, seconds, usecs/call, calls, errors if there are any, "total"
    total = [line for line in traced.stderr.splitlines() if line.endswith(" total")]
    return int(total[-1].split()[3])
