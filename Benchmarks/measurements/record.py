"""Writes the results of a run to Benchmarks/runs."""

import datetime
import json
import os
import platform
import re
import subprocess
import sys

from . import pictures
from .programs import BENCHMARKS, ROOT


def processor():
    """The name of the processor."""
    found = re.search(r"model name\s*:\s*(.*)", open("/proc/cpuinfo").read())
    return found[1].strip() if found else platform.machine()


def record(table, is_quick):
    """Writes results.txt, results.json and the pictures to Benchmarks/runs/<date>-<processor>."""
    now = datetime.datetime.now(datetime.timezone.utc)
    slug = re.sub(r"[^a-z0-9]+", "-", processor().lower()).strip("-")
    directory = BENCHMARKS / "runs" / f"{now:%Y-%m-%d}-{slug}"
    directory.mkdir(parents=True, exist_ok=True)
    swift = subprocess.run(["swift", "--version"], stdout=subprocess.PIPE,
                           stderr=subprocess.DEVNULL, text=True).stdout.splitlines()
    commit = subprocess.run(["git", "-C", str(ROOT), "describe", "--always", "--dirty"],
                            stdout=subprocess.PIPE, text=True).stdout.strip()
    results = {
        "schema": "formstream.benchmarks/1", "date": now.isoformat(timespec="seconds"),
        "commit": commit, "quick": is_quick,
        "machine": {
            "processor": processor(), "cores": len(os.sched_getaffinity(0)),
            "memory_bytes": os.sysconf("SC_PAGESIZE") * os.sysconf("SC_PHYS_PAGES"),
            "system": platform.platform(), "swift": swift[0] if swift else None},
        "rows": table.rows, "sizes": table.sizes, "uploads": table.uploads,
        "one_upload": table.one_upload, "notes": table.notes}
    # A list of samples is a line.
    text = re.sub(r'\[\s+([^][{}"]*?)\s+\]', lambda found: f"[{' '.join(found[1].split())}]",
                  json.dumps(results, indent=1))
    (directory / "results.json").write_text(text + "\n")
    (directory / "results.txt").write_text(table.text())
    pictures.draw(directory)
    print(f"Recorded in {directory.relative_to(ROOT)}.", file=sys.stderr)
