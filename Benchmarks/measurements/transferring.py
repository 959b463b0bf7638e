"""Sending and receiving a form over the loopback."""

import os
import pathlib
import shutil
import statistics
import sys
import tempfile

from .many import curl_list
from .programs import GIB, MIB, alternating, c_program, cost, go_program, section, write_noise
from .servers import Discarding, GoReceiving, Nginx, Receiving


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
    uploading_from_disk(table, formstream, work, max(rounds, 8), size // 2)


def uploading_from_disk(table, formstream, work, rounds, size):
    """Uploads a file that isn't in the page cache, like most files that people upload."""
    section(f"Uploading {size / GIB:g} GiB from the disk")
    path = work / "uncached"
    write_noise(path, size)

    def cold(command):
        def run():
            with open(path, "rb") as file:
                # Only pages that are on the disk leave the cache.
                os.fsync(file.fileno())
                os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
            return cost(command, work)
        return run

    part = f"f=@{path};type=application/octet-stream"
    with Discarding(table, work) as server:
        ours, curl = alternating(
            rounds, cold([formstream, "post", "-q", "--progress", "none", "-F", part, server.url]),
            cold(["curl", "-s", "-F", part, server.url]))
    for place, what in enumerate(("time", "processor")):
        table.add(f"uploading {size / GIB:g} GiB from the disk: {what}", "s",
                  *([run[place] for run in runs] for runs in (ours, curl)), ("<=", 1), peer_name="curl -F")
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


def receiving_small(table, formstream, work, rounds, count):
    """Small files from many requests at once, stored and hashed."""
    go = go_program("go-receive", work)
    if go is None or shutil.which("curl") is None:
        table.note("Go or curl is not installed: receiving small files was left out.")
        return
    section(f"Receiving {count:,} files of 4 KiB")
    memory = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
    with tempfile.TemporaryDirectory(prefix="formstream-bench-", dir=memory) as name:
        here = pathlib.Path(name)
        files = [here / "source" / f"{number}.bin" for number in range(count)]
        for directory in ("source", "into", "into-go"):
            (here / directory).mkdir()
        for file in files:
            file.write_bytes(os.urandom(4096))

        def rate(url, into):
            command = curl_list(work / f"curl-{into.name}", url, files)

            def run():
                seconds, _ = cost(command, work)
                stored = [path for path in into.iterdir() if path.stat().st_size == 4096]
                if len(stored) != count:
                    sys.exit(f"{into} has {len(stored)} of {count} files.")
                for path in stored:
                    path.unlink()
                return count / seconds
            return run

        with Receiving(formstream, "--into", here / "into") as ours, GoReceiving(go, here / "into-go") as other:
            mine, theirs = alternating(rounds, rate(ours.url, here / "into"), rate(other.url, here / "into-go"))
    table.add("receiving files of 4 KiB from curl --parallel, with digests", "1/s", mine, theirs, (">=", 0.9),
              peer_name="Go's net/http")


def digesting(table, formstream, work, rounds, size):
    """What digests cost while files are stored, and how fast URL-encoded bodies are decoded."""
    if shutil.which("curl") is None:
        table.note("curl is not installed: digests of received files were left out.")
        return
    section(f"Storing {size / GIB:g} GiB with digests and without")
    memory = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
    with tempfile.TemporaryDirectory(prefix="formstream-bench-", dir=memory) as name:
        here = pathlib.Path(name)
        source, fields = here / "source", here / "fields"
        write_noise(source, size)

        def rate(size, *arguments, stored=None):
            def run():
                seconds, _ = cost(["curl", "-sf", "-H", "Expect:", *arguments], work)
                for file in stored.glob("*") if stored else ():
                    if file.stat().st_size != size:
                        sys.exit(f"{file} has not the size of what was sent.")
                    file.unlink()
                return size / GIB / seconds
            return run

        part = f"f=@{source};type=application/octet-stream"
        with Receiving(formstream, "--into", here / "a") as digests, \
                Receiving(formstream, "--into", here / "b", "--no-digest") as plain:
            ours, peers = alternating(
                rounds, rate(size, "-F", part, digests.url, stored=here / "a"),
                rate(size, "-F", part, plain.url, stored=here / "b"))
        table.add(f"storing {size / GIB:g} GiB from curl -F, with digests", "GiB/s", ours, peers,
                  (">=", 0.85), peer_name="without digests")
        source.unlink()

        for what, text in (("plain text", b"abcdefghijklmnop"), ("percent codes", b"%41%e2%82%ac+ab")):
            with open(fields, "wb") as file:
                file.write(b"f=")
                for _ in range(size // 4 // MIB):
                    file.write(text * (MIB // len(text)))
            count = fields.stat().st_size
            with Receiving(formstream, "--no-digest", "--max-body", "8G") as server:
                decoded, = alternating(rounds, rate(
                    count, "-X", "POST", "-T", fields, "-H",
                    "Content-Type: application/x-www-form-urlencoded", server.url))
            table.add(f"decoding a URL-encoded field of {count // MIB} MiB: {what}", "MB/s",
                      [gib * GIB / 1e6 for gib in decoded], None, (">=", 200),
                      value=statistics.median(decoded) * GIB / 1e6)
