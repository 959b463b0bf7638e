"""A server that accepts forms with a file, and does with each what a trial decides."""

import asyncio
import collections
import hashlib
import re
import socket
import struct
import threading

LENGTH = re.compile(rb"\r\ncontent-length: *(\d+)", re.IGNORECASE)
KEY = re.compile(rb"\r\nidempotency-key: *([^\r\n]+)", re.IGNORECASE)
BOUNDARY = re.compile(rb'\r\ncontent-type:[^\r\n]*boundary="?([^";\r\n]+)', re.IGNORECASE)
FILENAME = re.compile(rb'; filename="([^"]*)"')


class Upload:
    """A request that arrived completely, with one file."""

    def __init__(self, number, head, body):
        self.number = number
        key = KEY.search(head)
        self.key = key and key[1]
        delimiter = b"\r\n--" + BOUNDARY.search(head)[1]
        pieces = (b"\r\n" + body).split(delimiter)
        if pieces[0] or pieces[-1] != b"--\r\n":
            raise ValueError("the form has no end")
        # The file is the last part.
        headers, self.contents = pieces[-2].split(b"\r\n\r\n", 1)
        name = FILENAME.search(headers)[1]
        self.name = name.replace(b"%22", b'"').replace(b"%0A", b"\n").replace(b"%0D", b"\r")
        self.digest = hashlib.sha256(self.contents).hexdigest()


class Decision:
    """What the server does with a complete request.

    Without a status there is no response: the connection is reset, or stays open for ever if it `stalls`.
    """

    def __init__(self, status=None, *, body="", headers="", stores=False, retry_after=None, stalls=False, closes=False):
        self.stores, self.stalls, self.closes = stores, stalls, closes
        headers += "" if retry_after is None else f"Retry-After: {retry_after}\r\n"
        head = f"HTTP/1.1 {status} Status\r\n{headers}Content-Length: {len(body)}\r\n\r\n"
        self.response = status and (head + body).encode()


ACCEPT = Decision(200, stores=True)
RESET = Decision()
STORE_AND_RESET = Decision(stores=True)
# It closes the connection, and does not say so.
ACCEPT_AND_CLOSE = Decision(200, stores=True, closes=True)


class Server:
    """Serves on a thread of its own, at any port or the one given. `stored` counts what it has, by name and digest.

    - `decide(upload)` returns the decision on a complete request.
    - `begin(head)` is called when the head of a request has arrived. If it returns True, the connection is reset.
    - `handle(number, head, body)` decides on a complete request that may be no form with one file.
    - With `remembers_keys`, a file whose idempotency key was seen before is accepted and not stored again.
    - No request may contain `forbidden`, not even one that is cut off.
    """

    def __init__(self, decide=lambda upload: ACCEPT, begin=None, remembers_keys=False, forbidden=None, port=0, handle=None):
        self.decide, self.begin, self.forbidden, self.port = decide, begin, forbidden, port
        self.handle = handle or (lambda number, head, body: self.answer(Upload(number, head, body)))
        self.remembers_keys, self.keys = remembers_keys, set()
        self.reset()
        self.connections = set()
        self.loop = asyncio.new_event_loop()
        started = threading.Event()
        self.thread = threading.Thread(target=self.run, args=(started,), daemon=True)
        self.thread.start()
        started.wait()

    def reset(self):
        """Forgets what it has seen, except for keys."""
        self.stored = collections.Counter()
        # How many requests arrived completely, and how many others began.
        self.complete = self.incomplete = 0
        self.leaks = 0
        self.faults = []

    def run(self, started):
        asyncio.set_event_loop(self.loop)
        listening = self.loop.run_until_complete(
            self.loop.create_server(lambda: Connection(self), "127.0.0.1", self.port, backlog=1024))
        port = listening.sockets[0].getsockname()[1]
        self.url = f"http://127.0.0.1:{port}/"
        started.set()
        self.loop.run_forever()
        listening.close()
        for connection in list(self.connections):
            connection.transport.abort()
        self.loop.run_until_complete(asyncio.sleep(0))
        self.loop.close()

    def names(self):
        """How often each name was stored."""
        names = collections.Counter()
        for (name, _), count in self.stored.items():
            names[name] += count
        return names

    def answer(self, upload):
        decision = self.decide(upload)
        is_known = self.remembers_keys and upload.key is not None and upload.key in self.keys
        if decision.stores and not is_known:
            self.stored[upload.name, upload.digest] += 1
            self.keys.add(upload.key)
        return decision

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.loop.call_soon_threadsafe(self.loop.stop)
        self.thread.join()


class Connection(asyncio.Protocol):
    """A client's connection. Requests come one after another."""

    def __init__(self, server):
        self.server = server
        self.held = bytearray()
        # The head of the request whose body is awaited, and the body's length.
        self.head = self.length = None
        self.is_over = False

    def connection_made(self, transport):
        self.transport = transport
        self.server.connections.add(self)

    def connection_lost(self, error):
        self.server.connections.discard(self)
        self.look_for_forbidden()
        if not self.is_over and (self.head is not None or self.held):
            self.server.incomplete += 1

    def data_received(self, data):
        if self.is_over:
            return
        self.held += data
        while self.take_request():
            pass

    def take_request(self):
        """Handles a request if it is there completely. Returns whether there may be another."""
        if self.head is None:
            end = self.held.find(b"\r\n\r\n")
            if end < 0:
                return False
            self.head = bytes(self.held[: end + 2])
            length = LENGTH.search(self.head)
            self.length = int(length[1]) if length else 0
            del self.held[: end + 4]
            if self.server.begin and self.server.begin(self.head):
                self.server.incomplete += 1
                self.look_for_forbidden()
                self.reset()
                return False
        if len(self.held) < self.length:
            return False
        self.look_for_forbidden()
        head, body = self.head, bytes(self.held[: self.length])
        del self.held[: self.length]
        self.head = None
        self.server.complete += 1
        try:
            decision = self.server.handle(self.server.complete, head, body)
        except (ValueError, TypeError, IndexError) as fault:
            self.server.faults.append(f"{fault}: {head + body[:200]}")
            self.reset()
            return False
        if decision.response:
            self.transport.write(decision.response)
            if decision.closes:
                self.is_over = True
                self.transport.close()
        elif decision.stalls:
            self.is_over = True
        else:
            self.reset()
        return not self.is_over

    def look_for_forbidden(self):
        if self.server.forbidden and self.server.forbidden in self.held:
            self.server.leaks += 1

    def reset(self):
        self.is_over = True
        # With a linger time of zero, closing resets the connection.
        socket_ = self.transport.get_extra_info("socket")
        socket_.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.transport.abort()
