"""Uploads by each program that `formstream bench` knows: their processor time, and their memory by size and over time."""

import json
import os
import pathlib
import subprocess
import sys

from .programs import MIB, ROOT, build, measured, section
from .servers import Receiving

PROGRAMS = ["curl", "requests", "toolbelt", "httpx", "aiohttp"]


def contenders(table, formstream, work, rounds, sizes):
    """Keeps the records of `formstream bench`, and of the sample that measures itself."""
    sample = build(ROOT / "Samples", "measure-memory")
    section(f"Uploads by {len(PROGRAMS) + 1} programs")
    bench = subprocess.run(
        [formstream, "bench", "-q", "--json", "--rounds", str(rounds), "--with", ",".join(PROGRAMS),
         "--size", ",".join(f"{size // MIB}M" for size in sizes)],
        # `make bench-setup` installs some of the programs there.
        env={**os.environ, "PATH": f"{ROOT}/.build/bench-peers/bin:{os.environ['PATH']}", "TMPDIR": str(work)},
        stdout=subprocess.PIPE, text=True)
    # It also fails if a program is not installed, and then has a record of the others.
    if not bench.stdout:
        sys.exit(f"formstream bench ended with {bench.returncode}.")
    # Paths of this machine say nothing to others.
    table.uploads = json.loads(bench.stdout.replace(f"{work}/", ""))
    for program in table.uploads["programs"]:
        program["command"][0] = pathlib.Path(program["command"][0]).name
        if program["error"]:
            table.note(f"The uploads by {program['name']} are not complete: {program['error']}.")

    section("Memory during one upload")
    path = work / "large"
    with open(path, "wb") as file:
        file.truncate(sizes[-1])
    with Receiving(formstream, "--no-digest") as receiver:
        table.one_upload = measured([sample, path, receiver.url])
    table.one_upload["programs"][0]["command"] = [sample.name, "FILE", table.one_upload["url"]]
    path.unlink()
