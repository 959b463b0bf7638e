#!/usr/bin/env python3
"""Uploads by tus between FormStream and programs from PyPI: `tus.py FORMSTREAM`.

tuspy uploads to `formstream receive`, and `formstream post --resumable=tus` to tuspyserver and to aiohttp-tus, at once and over a
link that breaks. Prints a line for each, and exits with 1 if a file is missing, doubled or wrong."""

import hashlib
import json
import os
import pathlib
import random
import signal
import socket
import subprocess
import sys
import tempfile
import time

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "Long"))
from cutting_proxy import CuttingProxy

MIB = 1 << 20
SIZE = 24 * MIB + 5
# The path at which each creates uploads, and its program.
SERVERS = {
    # tus by FastAPI
    "tuspyserver": ("files/", """
import sys
import fastapi, uvicorn
from tuspyserver import create_tus_router
app = fastapi.FastAPI()
app.include_router(create_tus_router(files_dir=sys.argv[2], prefix="files"))
uvicorn.run(app, host="127.0.0.1", port=int(sys.argv[1]), log_level="warning")
"""),
    # tus by aiohttp
    "aiohttp-tus": ("files", """
import pathlib, sys
from aiohttp import web
from aiohttp_tus import setup_tus
app = web.Application(client_max_size=1 << 30)
setup_tus(app, upload_url="/files", upload_path=pathlib.Path(sys.argv[2]))
web.run_app(app, host="127.0.0.1", port=int(sys.argv[1]), print=None)
"""),
}
failures = 0


def report(row, problem):
    global failures
    failures += problem is not None
    print(f"{'FAILED' if problem else 'ok':6} {row}{': ' + problem if problem else ''}", flush=True)


reserved = []


def free_port():
    """A port that belongs to this program until its end: only a server that asks for it gets it."""
    holder = socket.socket()
    holder.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    holder.bind(("127.0.0.1", 0))
    reserved.append(holder)
    return holder.getsockname()[1]


def wait_for(port, process):
    for _ in range(1500):
        try:
            socket.create_connection(("127.0.0.1", port)).close()
            return
        except OSError:
            if process.poll() is not None:
                sys.exit(f"a server ended with {process.returncode}")
            time.sleep(0.02)
    sys.exit("a server did not start")


def sha256(path):
    return hashlib.sha256(pathlib.Path(path).read_bytes()).hexdigest()


def whole_files(directory):
    """The digests of the files of the size that was sent."""
    return [sha256(path) for path in pathlib.Path(directory).rglob("*") if path.is_file() and path.stat().st_size == SIZE]


def to_server(formstream, place, name, file, digest):
    stored = place / name
    stored.mkdir()
    path, program = SERVERS[name]
    port = free_port()
    server = subprocess.Popen([sys.executable, "-c", program, str(port), str(stored)], stderr=subprocess.DEVNULL)
    try:
        wait_for(port, server)
        rows = [("at once", [], []), ("in pieces of 5 MiB", [], ["--piece-size", "5M"])]
        # tuspyserver 4.4.3 keeps the lock of a request whose client has gone, and responds 503 from then on.
        if name != "tuspyserver":
            rows += [("over a link that breaks", [3 * MIB, 1 * MIB, 7 * MIB, 5], []),
                     ("in pieces over a link that breaks", [3 * MIB, 1 * MIB, 6 * MIB], ["--piece-size", "4M"])]
        for kind, cuts, flags in rows:
            before = len(whole_files(stored))
            proxy = CuttingProxy(port, iter(cuts), ways=["reset"])
            done = subprocess.run(
                [formstream, "post", "--json", "-q", "--resumable=tus", "--retry", "8", "--retry-delay", "0.2", *flags, "-T", file,
                 "--upload-metadata", f"filename=file{before}", f"{proxy.url}/{path}"], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
            proxy.close()
            digests = whole_files(stored)
            problem = None
            if done.returncode != 0:
                problem = f"exit {done.returncode}: {done.stderr.decode()}"
            elif len(digests) != before + 1 or set(digests) != {digest}:
                problem = f"{len(digests) - before} new files: {digests}"
            report(f"post --resumable=tus to {name}, {kind}", problem)
    finally:
        server.kill()
        server.wait()


def from_tuspy(formstream, place, file, digest):
    from tusclient.client import TusClient

    kept = place / "kept"
    receiver = subprocess.Popen(
        [formstream, "receive", "--listen", "127.0.0.1:0", "--json", "--quiet", "--into", kept], stdout=subprocess.PIPE)
    try:
        url = json.loads(receiver.stdout.readline())["url"]
        port = int(url.rstrip("/").rsplit(":", 1)[1])
        for number, (kind, chunk, cuts) in enumerate([
                ("at once", SIZE, []), ("in pieces of 1 MiB", MIB, []), ("over a link that breaks", 4 * MIB, [3 * MIB, MIB, 6 * MIB])]):
            proxy = CuttingProxy(port, iter(cuts), ways=["reset"])
            problem = None
            try:
                uploader = TusClient(f"{proxy.url}/").uploader(
                    file, chunk_size=chunk, retries=10, retry_delay=0.2, metadata={"filename": f"f{number}"})
                uploader.upload()
            except Exception as error:
                problem = repr(error)
            proxy.close()
            names = sorted(name for name in os.listdir(kept) if not name.startswith("."))
            if problem is None and (names[-1] != f"f{number}" or len(names) != number + 1 or sha256(kept / names[-1]) != digest):
                problem = f"stored: {names}"
            report(f"tuspy to receive, {kind}", problem)
    finally:
        receiver.send_signal(signal.SIGTERM)
        receiver.wait(20)


def main():
    formstream = os.path.abspath(sys.argv[1])
    with tempfile.TemporaryDirectory() as directory:
        place = pathlib.Path(directory)
        file = place / "file"
        file.write_bytes(random.Random(1).randbytes(SIZE))
        digest = sha256(file)
        for name in SERVERS:
            to_server(formstream, place, name, file, digest)
        from_tuspy(formstream, place, str(file), digest)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
