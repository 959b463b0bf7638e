"""Uploading a file with other clients: time, processor time and memory."""

import shutil
import subprocess

from .programs import (
    BENCHMARKS, GIB, alternating, c_program, go_program, section, try_build, usage, write_noise)
from .servers import Discarding

# A client that holds the whole form must not take the machine's memory.
LIMIT = 8 * GIB


def form_clients(table, work):
    """The words that start each client that sends forms, before a URL and a file, by name."""
    clients = {}
    go = go_program("go-upload", work)
    if go is None:
        table.note("Go is not installed: its uploads were left out.")
    else:
        clients["Go, io.Pipe"] = [go, "pipe"]
        clients["Go, bytes.Buffer"] = ["prlimit", f"--as={LIMIT}", go, "buffer"]
    test = ["node", "-e", "process.exit(require('fs').openAsBlob ? 0 : 1)"]
    if shutil.which("node") is None or subprocess.run(test).returncode != 0:
        table.note("Node 19.8 or later is not installed: its fetch was left out.")
    else:
        # Node warns that reading files as blobs is experimental.
        clients["Node's fetch"] = ["node", "--no-warnings", BENCHMARKS / "peers/node-fetch.mjs"]
    urlsession = try_build(table, BENCHMARKS / "peers/urlsession", "urlsession-upload", "URLSession was")
    if urlsession is not None:
        clients["URLSession, staged file"] = [urlsession]
    return clients


def uploaders(table, formstream, work, rounds, size):
    """Uploads a file as a form, and as it is, to a server that discards it."""
    if shutil.which("curl") is None:
        table.note("curl is not installed: uploads with other clients were left out.")
        return
    path = work / "cached"
    with Discarding(table, work) as server:
        if server.port is None:
            return
        section(f"Uploading {size / GIB:g} GiB with other clients")
        write_noise(path, size)
        part = ["-F", f"file=@{path};type=application/octet-stream", server.url]
        quiet = ["-q", "--progress", "none"]
        form = {"ours": [formstream, "post", *quiet, *part], "curl -F": ["curl", "-sf", *part]}
        for name, words in form_clients(table, work).items():
            form[name] = [*words, server.url, path]
        raw = {
            "ours": [formstream, "put", *quiet, "-T", path, server.url],
            "curl -T": ["curl", "-sf", "-T", path, server.url],
            "sendfile(2)": [c_program("sendfile", work), server.port, path],
        }
        for what, commands in (("as a form", form), ("as it is", raw)):
            results = alternating(rounds, *(
                lambda command=command: usage(command, work) for command in commands.values()))
            ours, *others = results
            for name, runs in zip(list(commands)[1:], others):
                for place, (figure, unit, scale) in enumerate((
                        ("time", "s", 1), ("processor", "s", 1), ("memory", "MiB", 1024))):
                    mine, theirs = ([run[place] / scale for run in samples] for samples in (ours, runs))
                    table.add(f"uploading {size / GIB:g} GiB {what}: {figure}", unit, mine, theirs, peer_name=name)
    path.unlink()
