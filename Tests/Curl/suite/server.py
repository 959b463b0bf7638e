"""Plays the server of curl's suite: it responds with the <reply> of the test that is run, and keeps what it was sent."""

import re
import socket
import threading
import time


class Request:
    """A request as it arrived. `raw` has its bytes, `body` those of its content without the framing of chunks."""

    def __init__(self, head):
        self.raw = self.head = head
        self.body = b""
        self.framing = "none"
        lines = head.rstrip(b"\r\n").split(b"\r\n")
        self.line = lines[0]
        words = lines[0].split(b" ")
        self.method = words[0]
        self.target = b" ".join(words[1:-1])
        self.version = words[-1]
        self.headers = [tuple(part.strip() for part in line.partition(b":")[::2]) for line in lines[1:]]

    def header(self, name):
        return next((value for key, value in self.headers if key.lower() == name), None)


class Server:
    """One listener on the loopback interface. A test is begun with `play`, and ended with `requests`."""

    def __init__(self):
        self.listener = socket.create_server(("127.0.0.1", 0), backlog=64)
        self.port = self.listener.getsockname()[1]
        self.lock = threading.Lock()
        self.run = None
        threading.Thread(target=self.accept, daemon=True).start()

    def play(self, number, files):
        """Begins a test. `files(number)` is the file of any test, or None."""
        with self.lock:
            self.run = Run(number, files)

    def requests(self):
        """Ends the test: the requests in the order in which they ended, and all bytes that arrived."""
        with self.lock:
            run, self.run = self.run, None
        run.close()
        return run.requests, b"".join(run.arrived)

    def accept(self):
        while True:
            connection, _ = self.listener.accept()
            with self.lock:
                run = self.run
            if run is None:
                connection.close()
            else:
                threading.Thread(target=run.serve, args=(connection,), daemon=True).start()


class Run:
    """What is known while a test is played."""

    def __init__(self, number, files):
        self.number = number
        self.files = files
        self.lock = threading.Lock()
        self.requests = []
        self.arrived = []
        self.open = set()
        self.idle = threading.Condition(self.lock)
        self.negotiated = None
        # The test and part of the last response, if the next request for it gets the next part.
        self.bounce = None

    def close(self):
        # The client has ended; what it sent last may still be on its way through a thread.
        with self.idle:
            self.idle.wait_for(lambda: not self.open, timeout=1)
            for connection in self.open:
                connection.shutdown(socket.SHUT_RDWR)

    def serve(self, connection):
        with self.lock:
            self.open.add(connection)
        try:
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            Conversation(self, connection).hold()
        except OSError:
            pass
        finally:
            with self.idle:
                self.open.discard(connection)
                self.idle.notify_all()
            # A client that still sends would lose the response to a reset.
            try:
                connection.shutdown(socket.SHUT_WR)
                connection.settimeout(0.2)
                while connection.recv(65536):
                    pass
            except OSError:
                pass
            connection.close()


class Conversation:
    """One connection."""

    def __init__(self, run, connection):
        self.run = run
        self.connection = connection
        self.buffer = b""
        # They hold for a connection: a request with Digest gets the numbers from 1000, and so do those after it.
        self.part = 0

    def receive(self):
        piece = self.connection.recv(65536)
        self.buffer += piece
        return piece

    def hold(self):
        monitored = False
        while True:
            while b"\r\n\r\n" not in self.buffer:
                if not self.receive():
                    if self.buffer:
                        self.run.arrived.append(self.buffer)
                    if monitored:
                        self.run.arrived.append(b"[DISCONNECT]\n")
                    return
            head, _, self.buffer = self.buffer.partition(b"\r\n\r\n")
            request = Request(head + b"\r\n\r\n")
            number, part, connects = self.place(request)
            test = self.run.files(number)
            commands = test.lines("reply", "servercmd") if test else []
            monitored = monitored or "connection-monitor" in commands
            whole = self.read_body(request, commands)
            with self.run.lock:
                self.run.requests.append(request)
                self.run.arrived.append(request.raw)
            if not whole:
                return
            part = self.authorized(request, part)
            with self.run.lock:
                if self.run.bounce == (number, part):
                    part += 1
            if not self.respond(test, number, part, connects, commands):
                if monitored:
                    self.run.arrived.append(b"[DISCONNECT]\n")
                return

    def place(self, request):
        """The test and the part that a target names, and whether it is that of a tunnel."""
        target = request.target.decode("latin-1")
        connects = False
        found = re.match(r"\d+", target[target.rfind("/") + 1:]) if "/" in target else None
        number = int(found[0]) if found else 0
        part = 0
        if number > 10000:
            number, part = divmod(number, 10000)
        if not number and request.method == b"CONNECT":
            connects = True
            if target.startswith("["):
                groups = re.findall(r"[0-9A-Fa-f]+", target[:target.find("]")])
                number = int(groups[-1], 16) if groups else 0
            else:
                found = re.search(r"\.(\d+)(?::\d+)?$", target)
                number = int(found[1]) if found else 0
        return number or self.run.number, part, connects

    def read_body(self, request, commands):
        """False if the connection ended within the body."""
        skip = next((int(line.split()[1]) for line in commands if line.startswith("skip:")), 0)
        if "no-expect" in commands and request.header(b"expect"):
            return True
        if "auth_required" in commands and b"Authorization:" not in request.head:
            return True
        if (request.header(b"transfer-encoding") or b"").lower().startswith(b"chunked"):
            request.framing = "chunks"
            return self.read_chunks(request)
        length = request.header(b"content-length")
        if length is None or not length.isdigit():
            return True
        request.framing = "length " + length.decode()
        wanted = max(int(length) - skip, 0)
        while len(self.buffer) < wanted:
            if not self.receive():
                wanted = len(self.buffer)
                self.take(request, wanted)
                return False
        self.take(request, wanted)
        return True

    def take(self, request, count):
        request.body += self.buffer[:count]
        request.raw += self.buffer[:count]
        self.buffer = self.buffer[count:]

    def read_line(self, request):
        while b"\n" not in self.buffer:
            if not self.receive():
                return None
        line, _, self.buffer = self.buffer.partition(b"\n")
        request.raw += line + b"\n"
        return line.strip()

    def read_chunks(self, request):
        while True:
            line = self.read_line(request)
            if line is None:
                return False
            size = int(line.partition(b";")[0], 16)
            if size == 0:
                break
            while len(self.buffer) < size + 2:
                if not self.receive():
                    return False
            request.body += self.buffer[:size]
            request.raw += self.buffer[:size + 2]
            self.buffer = self.buffer[size + 2:]
        while line := self.read_line(request):
            request.headers.append((b"trailer", line))
        return True

    def authorized(self, request, part):
        """The part after the authentication that a request has; FILEFORMAT.md has the rule."""
        # Also that of a proxy: the name's end is looked for.
        def has(value):
            return b"Authorization: " + value in request.head
        if has(b"Negotiate"):
            with self.run.lock:
                self.run.negotiated = part if self.run.negotiated is None else self.run.negotiated
                self.run.negotiated += 1
                return self.run.negotiated
        if has(b"Digest"):
            return part + 1000
        if has(b"NTLM TlRMTVNTUAAD"):
            return part + 1002
        if has(b"NTLM TlRMTVNTUAAB"):
            return part + 1001
        if has(b"Basic") and part >= 1000:
            return part + 1
        return part

    def respond(self, test, number, part, connects, commands):
        """Whether the connection stays open."""
        if "idle" in commands:
            while self.receive():
                pass
            return False
        if "stream" in commands:
            while True:
                self.connection.sendall(b"a string to stream 01234567890\n")
        name = ("connect" if connects else "data") + (str(part) if part else "")
        data = (test.content("reply", name) if test else b"HTTP/1.1 404 Not Found\r\nConnection: close\r\n\r\n") or b""
        with self.run.lock:
            self.run.bounce = (number, part) if b"swsbounce" in data else None
        delay = next((int(line.split()[1]) for line in commands if line.startswith("writedelay:")), 0)
        # In pieces, as curl's server does, so that clients have to read a response more than once.
        for begin in range(0, len(data), 20):
            self.connection.sendall(data[begin:begin + 20])
            time.sleep(delay / 1000)
        for line in test.lines("reply", "postcmd") if test else []:
            if line.startswith("wait"):
                time.sleep(int(line.split()[1]))
        if not data or b"swsclose" in data or "swsclose" in commands or "no-expect" in commands:
            return False
        # A body that was not read is no request.
        if any(line.startswith("skip:") for line in commands):
            return False
        # As each server does. curl's own leaves some of these connections open, and curl closes them.
        return connects or says_its_length(data)


def says_its_length(response):
    """Whether a response ends before its connection does."""
    head = response.replace(b"\r\n", b"\n").partition(b"\n\n")[0].lower()
    if re.search(rb"\nconnection: *close", head):
        return False
    return bool(re.search(rb"\n(content-length|transfer-encoding):|\Ahttp/[0-9.]+ (1..|204|304)", head))
