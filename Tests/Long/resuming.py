#!/usr/bin/env python3
"""Breaks resumable uploads to `formstream receive` at random, and checks that each file is stored once and is right.

usage: resuming.py FORMSTREAM [TRIAL...]

The connections are closed, reset or given up, and the receiver is killed. Each trial prints its figures and its failures.
"""

import base64
import hashlib
import os
import random
import signal
import socket
import struct
import sys
import time

from trials import Receiver, check, main

MIB = 1 << 20
VERSION = "Upload-Draft-Interop-Version: 8"


class Connection:
    """A connection to a receiver."""

    def __init__(self, receiver):
        self.socket = socket.create_connection(("127.0.0.1", receiver.port), timeout=60)

    def send(self, head, body=b""):
        try:
            self.socket.sendall("\r\n".join(head).encode() + b"\r\n\r\n" + body)
        except OSError:
            pass  # The receiver was killed, or has ended the connection.

    def head(self):
        """The status and the headers of the next response."""
        head = b""
        while not head.endswith(b"\r\n\r\n"):
            byte = self.socket.recv(1)
            if not byte:
                raise EOFError
            head += byte
        lines = head.decode().split("\r\n")
        headers = dict(line.split(": ", 1) for line in lines[1:] if line)
        return int(lines[0].split()[1]), {name.lower(): value for name, value in headers.items()}

    def response(self):
        """The status and the headers of the response that is not an interim one."""
        while True:
            status, headers = self.head()
            if status >= 200:
                return status, headers

    def close(self, resets=False):
        if resets:
            self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.socket.close()


def resume(receiver, path, offset, body, size):
    """Sends a part of the body as if it were the rest."""
    connection = Connection(receiver)
    connection.send([f"PATCH {path} HTTP/1.1", "Host: h", "Content-Type: application/partial-upload",
                     f"Upload-Offset: {offset}", f"Content-Length: {size - offset}", "Upload-Complete: ?1", VERSION], body)
    return connection


def broken(formstream, place, is_form, count=60, seed=1):
    chance = random.Random(seed)
    kept = place / "kept"
    receiver = Receiver(formstream, "--into", kept)
    breaks = kills = late = unknown = sent_again = 0
    for number in range(count):
        contents = chance.randbytes(chance.choice([MIB, 3 * MIB, chance.randrange(MIB, 40 * MIB)]))
        body, type_header = contents, []
        if is_form:
            disposition = f'Content-Disposition: form-data; name="f"; filename="f{number}"'
            body = f"--b\r\n{disposition}\r\n\r\n".encode() + contents + b"\r\n--b--\r\n"
            type_header = ["Content-Type: multipart/form-data; boundary=b"]
        size = len(body)
        connection = Connection(receiver)
        connection.send([f"{'POST' if is_form else 'PUT'} /f{number} HTTP/1.1", "Host: h", f"Content-Length: {size}",
                         "Upload-Complete: ?1", VERSION, *type_header])
        status, headers = connection.head()
        check(status == 104, f"the first response is {status}")
        path, offset, most, end = headers["location"], 0, 0, None
        while end is None:
            sent = size if chance.random() < 0.25 else chance.randrange(offset, size + 1)
            try:
                connection.socket.sendall(body[offset:sent])
            except OSError:
                pass
            most = max(most, sent)
            how = chance.choice(["reset", "close", "kill", "give up"])
            if sent == size and how in ("reset", "close"):
                end = connection.response()
                connection.close()
                if end[0] == 409:
                    # A request that was given up had arrived only after the offset was told.
                    late, offset, end = late + 1, int(end[1]["upload-offset"]), None
                    connection = resume(receiver, path, offset, b"", size)
                continue
            breaks += 1
            time.sleep(chance.random() * 0.03)
            if how == "kill":
                kills += 1
                receiver.end(signal.SIGKILL, -signal.SIGKILL)
                receiver = Receiver(formstream, "--into", kept)
            if how != "give up":
                connection.close(resets=how == "reset")
            asking = Connection(receiver)
            asking.send([f"HEAD {path} HTTP/1.1", "Host: h"])
            status, headers = asking.head()
            asking.close()
            told = int(headers["upload-offset"])
            # A request that was given up earlier, and had sent more, may arrive as late as this.
            check(status == 204 and offset <= told <= most, f"{status}, {offset}, {told}, {most}")
            sent_again += max(0, sent - told)
            offset = told
            connection = resume(receiver, path, offset, b"", size)
            if headers["upload-complete"] == "?1":
                end = connection.response()
                connection.close()
        status, headers = end
        check(headers["upload-complete"] == "?1", f"{number}: {headers}")
        names = [name for name in os.listdir(kept) if name.startswith("f")]
        if status == 500:
            unknown += 1
        else:
            check(status == 200 and names == [f"f{number}"], f"{number}: {status}, {names}")
        for name in names:
            stored = (kept / name).read_bytes()
            check(hashlib.sha256(stored).digest() == hashlib.sha256(contents).digest(), f"{name} is wrong")
            (kept / name).unlink()
    left = [name for name in os.listdir(kept / ".formstream-uploads") if len(name) == 32]
    check(left == [], f"bodies are left: {left}")
    receiver.end()
    print(f"{count} {'forms' if is_form else 'files'}: {breaks} breaks, {kills} of them by kill -9; {sent_again / MIB:.0f} MiB sent "
          f"again, {late} late requests, {unknown} unknown outcomes")


def broken_files(formstream, place):
    broken(formstream, place, is_form=False)


def broken_forms(formstream, place):
    broken(formstream, place, is_form=True)


def broken_by_tus(formstream, place, count=60, seed=2):
    """By tus, in parts of which half have a checksum. A client whose upload has all its bytes goes away."""
    chance = random.Random(seed)
    kept = place / "kept"
    receiver = Receiver(formstream, "--into", kept)
    tus = ["Host: h", "Tus-Resumable: 1.0.0"]
    breaks = kills = unknown = 0
    for number in range(count):
        contents = chance.randbytes(chance.choice([1, MIB, 3 * MIB, chance.randrange(MIB, 20 * MIB)]))
        size, name = len(contents), f"f{number}"
        connection = Connection(receiver)
        connection.send(["POST / HTTP/1.1", *tus, f"Upload-Length: {size}", "Content-Length: 0",
                         f"Upload-Metadata: filename {base64.b64encode(name.encode()).decode()}"])
        status, headers = connection.response()
        check(status == 201, f"{number}: {status}")
        path, offset, most, is_known = headers["location"], 0, 0, True
        while offset < size and is_known:
            part = contents[offset:offset + chance.randrange(1, 8 * MIB)]
            is_checked = chance.random() < 0.5
            checksum = base64.b64encode(hashlib.sha1(part).digest()).decode()
            connection = Connection(receiver)
            how = chance.choice(["whole", "reset", "close", "kill", "give up"])
            sent = len(part) if chance.random() < 0.5 or how == "whole" else chance.randrange(len(part))
            connection.send([f"PATCH {path} HTTP/1.1", *tus, f"Upload-Offset: {offset}", f"Content-Length: {len(part)}",
                             "Content-Type: application/offset+octet-stream",
                             *([f"Upload-Checksum: sha1 {checksum}"] if is_checked else [])], part[:sent])
            most = max(most, offset + sent)
            if how == "whole":
                try:
                    status, headers = connection.response()
                except (EOFError, OSError):
                    status = None  # A request that was given up has arrived as late as this, and ended this one.
                connection.close()
                if status == 204:
                    offset = int(headers["upload-offset"])
                    continue
                check(status in (None, 409), f"{number}: {status}")
            else:
                breaks += 1
                time.sleep(chance.random() * 0.03)
            if how == "kill":
                kills += 1
                receiver.end(signal.SIGKILL, -signal.SIGKILL)
                receiver = Receiver(formstream, "--into", kept)
            if how in ("reset", "close"):
                connection.close(resets=how == "reset")
            asking = Connection(receiver)
            asking.send([f"HEAD {path} HTTP/1.1", *tus])
            status, headers = asking.head()
            asking.close()
            if status == 500:
                unknown, is_known = unknown + 1, False
                continue
            told = int(headers["upload-offset"])
            check(status == 200 and offset <= told <= most, f"{number}: {status}, {offset}, {told}, {most}")
            offset = told
        names = [name for name in os.listdir(kept) if name.startswith("f")]
        check(names == [name] or not is_known and names == [], f"{number}: {names}")
        for name in names:
            stored = (kept / name).read_bytes()
            check(stored == contents, f"{name} is wrong")
            (kept / name).unlink()
    left = [name for name in os.listdir(kept / ".formstream-uploads") if len(name) == 32]
    check(left == [], f"bodies are left: {left}")
    receiver.end()
    print(f"{count} files by tus: {breaks} breaks, {kills} of them by kill -9; {unknown} unknown outcomes")


def creations(formstream, place, count=10_000):
    """Uploads without a byte: bounded, refused in time, and no burden."""
    receiver = Receiver(formstream, "--into", place / "kept")
    before, begun, statuses = receiver.status("VmHWM"), time.monotonic(), {}
    for _ in range(count):
        connection = Connection(receiver)
        connection.send(["PUT /f HTTP/1.1", "Host: h", "Content-Length: 0", f"Upload-Length: {1 << 40}",
                         "Upload-Complete: ?0", VERSION])
        status, _ = connection.response()
        statuses[status] = statuses.get(status, 0) + 1
        connection.close()
    check(statuses == {201: 1024, 503: count - 1024}, f"the statuses are {statuses}")
    check(len(os.listdir(place / "kept/.formstream-uploads")) == 2048, "there are other files")
    grown = receiver.status("VmHWM") - before
    check(grown < 16 * 1024, f"the receiver has grown by {grown} KiB")
    print(f"{count} creations in {time.monotonic() - begun:.1f} s: {statuses}; the receiver has grown by {grown} KiB")
    receiver.end()


if __name__ == "__main__":
    sys.exit(main([broken_files, broken_forms, broken_by_tus, creations]))
