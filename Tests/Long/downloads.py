#!/usr/bin/env python3
"""Kills downloads at random moments and continues them, many times.

usage: downloads.py FORMSTREAM [KILLS]

A file of 64 MiB is downloaded over and over at about 200 MB/s by `formstream get -C -`, which is killed at a random moment and
started again, until KILLS (50) runs were killed. Each file must have the right bytes, and of the bytes that a killed run had
received, no more than 1 MiB may be requested again. The same then with Ctrl-C in place of the kill.
"""

import hashlib
import os
import pathlib
import random
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time

from trials import check
import trials

SIZE = 64 << 20
PIECE = 64 << 10
# A pause after each piece, which makes the kills fall within downloads.
PAUSE = 0.0003
MOST_TWICE = 1 << 20


class Server:
    """Serves one file, and counts for each request what of it the client has certainly received."""

    def __init__(self, contents):
        self.contents = contents
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self.listener.getsockname()[1]}/file"
        # For each request: its first byte, and the byte after the last one that left.
        self.requests = []
        threading.Thread(target=self.serve, daemon=True).start()

    def serve(self):
        while True:
            client, _ = self.listener.accept()
            # Little is on its way, so that what left is what the client has.
            client.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, PIECE)
            threading.Thread(target=self.respond, args=(client,), daemon=True).start()

    def respond(self, client):
        with client:
            try:
                while self.respond_once(client):
                    pass
            except OSError:
                pass

    def respond_once(self, client):
        head = b""
        while b"\r\n\r\n" not in head:
            piece = client.recv(65536)
            if not piece:
                return False
            head += piece
        fields = dict(line.split(b": ", 1) for line in head.split(b"\r\n")[1:] if line)
        first = 0
        if fields.get(b"If-Range") == b'"v1"':
            first = int(fields[b"Range"].removeprefix(b"bytes=").removesuffix(b"-"))
        request = [first, first]
        self.requests.append(request)
        length = f"ETag: \"v1\"\r\nContent-Length: {SIZE - first}\r\n\r\n"
        status = "200 OK\r\n" if first == 0 else (
            f"206 Partial Content\r\nContent-Range: bytes {first}-{SIZE - 1}/{SIZE}\r\n")
        client.sendall(f"HTTP/1.1 {status}{length}".encode())
        for offset in range(first, SIZE, PIECE):
            client.sendall(self.contents[offset:offset + PIECE])
            request[1] = min(offset + PIECE, SIZE)
            time.sleep(PAUSE)
        return True


def unread(url):
    """How many bytes wait in the sockets that are connected to a port of this machine, on both sides."""
    port = int(url.rsplit(":", 1)[1].split("/")[0])
    total = 0
    for line in pathlib.Path("/proc/net/tcp").read_text().splitlines()[1:]:
        words = line.split()
        if any(int(end.split(":")[1], 16) == port for end in words[1:3]):
            total += sum(int(queue, 16) for queue in words[4].split(":"))
    return total


def trial(formstream, kills, number):
    random_moments = random.Random(number)
    contents = random_moments.randbytes(SIZE)
    digest = hashlib.sha256(contents).hexdigest()
    server = Server(contents)
    killed, files, worst = 0, 0, 0
    with tempfile.TemporaryDirectory() as place:
        path = pathlib.Path(place, "file")
        while killed < kills:
            before = len(server.requests)
            run = subprocess.Popen(
                [formstream, "get", "-q", "-C", "-", "-o", path, server.url], stderr=subprocess.PIPE)
            moment = random_moments.uniform(0, 0.3)
            try:
                run.wait(moment)
                was_killed = False
            except subprocess.TimeoutExpired:
                # Stopped first, so that what waits in the sockets can be counted.
                run.send_signal(signal.SIGSTOP)
                time.sleep(0.01)
                waiting = unread(server.url)
                run.send_signal(number)
                run.send_signal(signal.SIGCONT)
                run.wait()
                was_killed = True
            message = run.stderr.read().decode()
            if was_killed and run.returncode == -number:
                killed += 1
                check(not path.exists() or whole(path, digest), "an incomplete file has its name")
                last = server.requests[-1] if len(server.requests) > before else None
                if not path.exists() and last is not None:
                    # The next request shows what was kept.
                    received = max(last[1] - waiting, last[0])
                    worst = max(worst, continued(formstream, server, path, received))
            else:
                check(run.returncode == 0, f"exit {run.returncode}: {message}")
            if path.exists():
                files += 1
                check(whole(path, digest), "the bytes are wrong")
                path.unlink()
                check(os.listdir(place) == [], f"left: {os.listdir(place)}")
    print(f"{signal.Signals(number).name}: {killed} runs were ended, {files} files are complete; of what a run had "
          f"received, at most {worst} bytes were requested again.", flush=True)
    check(worst <= MOST_TWICE, f"{worst} bytes were requested twice")
    check(files > 0, "no file was completed")


def continued(formstream, server, path, received):
    """Begins the next run, ends it as soon as it has requested something, and returns how much it requests again."""
    before = len(server.requests)
    run = subprocess.Popen(
        [formstream, "get", "-q", "-C", "-", "-o", path, server.url], stderr=subprocess.PIPE)
    while len(server.requests) == before and run.poll() is None:
        time.sleep(0.0005)
    run.kill()
    run.wait()
    return max(received - server.requests[before][0], 0) if len(server.requests) > before else 0


def whole(path, digest):
    return hashlib.sha256(path.read_bytes()).hexdigest() == digest


def main():
    # A shell that starts this in the background lets it, and the downloads, ignore Ctrl-C.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    formstream = sys.argv[1]
    kills = int(sys.argv[2]) if len(sys.argv) > 2 else 50
    for number in [signal.SIGKILL, signal.SIGINT]:
        trial(formstream, kills, number)
    sys.exit(1 if trials.failures else 0)


main()
