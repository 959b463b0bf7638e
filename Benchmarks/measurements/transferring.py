"""Sending and receiving a form over the loopback."""

import os
import pathlib
import shutil
import sys
import tempfile

from .programs import GIB, alternating, c_program, cost, section, write_noise
from .servers import Discarding, Nginx, Receiving


def uploading(table, formstream, work, rounds, size):
    if shutil.which("curl") is None:
        table.note("curl is not installed: uploads were left out.")
        return
    section(f"Uploading {size / GIB:g} GiB over the loopback")
    path = work / "cached"
    write_noise(path, size)
    with Discarding(table, work) as server:
        if server.port is None:
            return
        ours, curl, bare = alternating(
            rounds,
            lambda: cost([formstream, "post", "-q", "--progress", "none", "-F",
                          f"f=@{path};type=application/octet-stream", server.url], work),
            lambda: cost(["curl", "-s", "-F", f"f=@{path};type=application/octet-stream",
                          server.url], work),
            lambda: cost([c_program("sendfile", work), server.port, path], work))
    for place, what in enumerate(("time", "processor")):
        mine, curls, bares = ([run[place] for run in runs] for runs in (ours, curl, bare))
        table.add(f"uploading {size / GIB:g} GiB: {what}", "s", mine, curls, ("<=", 0.9),
                  peer_name="curl -F")
        table.add(f"uploading {size / GIB:g} GiB: {what}", "s", mine, bares, peer_name="sendfile(2)")
    path.unlink()


def receiving(table, formstream, work, rounds, size):
    if shutil.which("curl") is None:
        table.note("curl is not installed: receiving was left out.")
        return
    section(f"Receiving {size / GIB:g} GiB over the loopback")
    # In memory if possible: otherwise a slow disk is all that is measured.
    memory = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
    with tempfile.TemporaryDirectory(prefix="formstream-bench-", dir=memory) as name:
        here = pathlib.Path(name)
        into = here / "into"
        path = here / "source"
        write_noise(path, size)
        part = f"f=@{path};type=application/octet-stream"

        def post(url):
            return [formstream, "post", "-q", "--progress", "none", "-F", part, url]

        def curl(url):
            return ["curl", "-sf", "-F", part, url]

        def rate(command):
            def run():
                seconds, _ = cost(command, work)
                for stored in into.glob("*"):
                    if stored.stat().st_size != size:
                        sys.exit(f"{stored} has not the size of what was sent.")
                    stored.unlink()
                return size / GIB / seconds
            return run

        for what, flags in (("stored, with digests", ["--into", into]),
                            ("stored", ["--into", into, "--no-digest"]),
                            ("thrown away, with digests", []),
                            ("thrown away", ["--no-digest"])):
            nginx = shutil.which("nginx") or os.access("/usr/sbin/nginx", os.X_OK)
            with Receiving(formstream, *flags) as ours:
                calls = [rate(post(ours.url)), rate(curl(ours.url))]
                if nginx and flags[:1] == ["--into"]:
                    (here / "nginx").mkdir(exist_ok=True)
                    with Nginx(work, here / "nginx") as other:
                        calls += [rate(post(other.url)), rate(curl(other.url))]
                        results = alternating(rounds, *calls)
                else:
                    results = alternating(rounds, *calls)
            names = ["curl -F into the same", "formstream post into nginx", "curl -F into nginx"]
            for peer, samples in zip(names, results[1:]):
                table.add(f"receiving {size / GIB:g} GiB, {what}", "GiB/s", results[0], samples,
                          peer_name=peer)
