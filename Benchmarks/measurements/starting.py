"""How long the command takes to start."""

import shutil
import subprocess
import time

from .programs import alternating, section


def starting(table, formstream, rounds):
    section("Starting")
    if shutil.which("curl") is None:
        table.note("curl is not installed: the time to start was left out.")
        return

    def start(program):
        begun = time.monotonic()
        subprocess.run([str(program), "--version"], stdout=subprocess.DEVNULL, check=True)
        return (time.monotonic() - begun) * 1000

    start(formstream), start("curl")
    ours, peer = alternating(rounds, lambda: start(formstream), lambda: start("curl"))
    table.add("--version", "ms", ours, peer, ("<=", 1.3), peer_name="curl")
