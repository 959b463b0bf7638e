#!/usr/bin/env python3
"""Changes a file of 1 GiB in several ways while formstream sends it, many times each.

usage: changed-sources.py FORMSTREAM [ROUNDS]

Each time the command must end with 74 and "source-changed" within a second after the change, and no body may
arrive completely. It runs for minutes, so it is not part of `make test`.
"""

import json
import os
import pathlib
import random
import socket
import subprocess
import sys
import tempfile
import threading
import time

SIZE = 1 << 30
# So slow that the change always happens during the upload.
RATE = "600M"


class Server:
    """Reads one request after another, counts the bytes of its body, and responds with 200 if it is complete."""

    def __init__(self):
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        self.received = 0
        self.complete = 0
        threading.Thread(target=self.serve, daemon=True).start()

    def serve(self):
        while True:
            client, _ = self.listener.accept()
            with client:
                try:
                    self.read_request(client)
                except OSError:
                    pass

    def read_request(self, client):
        head = b""
        while b"\r\n\r\n" not in head:
            piece = client.recv(65536)
            if not piece:
                return
            head += piece
        head, rest = head.split(b"\r\n\r\n", 1)
        fields = dict(line.split(b": ", 1) for line in head.split(b"\r\n")[1:])
        length = int(fields[b"Content-Length"])
        if fields.get(b"Expect") == b"100-continue":
            client.sendall(b"HTTP/1.1 100 Continue\r\n\r\n")
        self.received = len(rest)
        while self.received < length:
            piece = client.recv(1 << 20)
            if not piece:
                return
            self.received += len(piece)
        self.complete += 1
        client.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")


def grow(path):
    with open(path, "ab") as file:
        file.write(b"more")


def shrink(path):
    # Only bytes that are not sent yet are cut off, so that only the size can show the change.
    os.truncate(path, SIZE - 4096)


def rewrite(path):
    status = os.stat(path)
    with open(path, "r+b") as file:
        file.seek(SIZE - 10)
        file.write(b"other")
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))


def replace(path):
    other = path.with_name("other")
    with open(other, "wb") as file:
        file.truncate(SIZE)
    os.rename(other, path)


def main():
    formstream, rounds = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 50
    server = Server()
    draw = random.Random(20)
    failures = 0
    with tempfile.TemporaryDirectory() as name:
        path = pathlib.Path(name) / "file"
        for change in (grow, shrink, rewrite, replace):
            slowest = 0
            for number in range(rounds):
                with open(path, "wb") as file:
                    file.truncate(SIZE)
                server.received = 0
                form = number % 2 == 0
                body = ["-F", f"f=@{path};type=a/b"] if form else ["-T", str(path)]
                program = subprocess.Popen(
                    [formstream, "post", "--json", "--progress", "none", "--limit-rate", RATE, *body,
                     f"http://127.0.0.1:{server.port}/"], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
                wanted = draw.randrange(1, SIZE // 2)
                while server.received < wanted and program.poll() is None:
                    time.sleep(0.001)
                change(path)
                begun = time.monotonic()
                output, errors = program.communicate(timeout=60)
                slowest = max(slowest, time.monotonic() - begun)
                outcome = json.loads(output)["outcome"] if output else None
                if program.returncode != 74 or outcome != "source-changed":
                    failures += 1
                    print(f"{change.__name__} {number}: {program.returncode} {outcome} {errors.decode()}")
            if slowest > 1:
                failures += 1
            print(f"{change.__name__}: {rounds} times, noticed within {slowest:.3f} s")
    print(f"Bodies that arrived completely: {server.complete}")
    return 1 if failures or server.complete else 0


if __name__ == "__main__":
    sys.exit(main())
