"""Runs `formstream receive`, and a relay in front of it that can break connections."""

import contextlib
import pathlib
import re
import signal
import socket
import socketserver
import struct
import subprocess
import tempfile
import threading

from webdriver import DEADLINE, Broken


class Receiver:
    """A process of `formstream receive`, which can be ended and started again with its port and its directory."""

    def __init__(self, formstream, directory, flags):
        self.formstream, self.directory, self.flags = formstream, directory, flags
        self.port = 0
        self.start()

    def start(self):
        self.process = subprocess.Popen(
            [self.formstream, "receive", "--listen", f"127.0.0.1:{self.port}", "--into", self.directory, *self.flags],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        # Its messages are read to the end, or it would block.
        lines = []
        for line in self.process.stderr:
            lines.append(line)
            if found := re.search(r"http://127\.0\.0\.1:(\d+)/", line):
                self.url, self.port = found[0], int(found[1])
                break
        self.rest = threading.Thread(target=lines.extend, args=(self.process.stderr,))
        self.rest.start()
        if not self.port:
            self.end()
            raise Broken("formstream receive does not start: " + "".join(lines))

    def end(self, how=signal.SIGTERM):
        self.process.send_signal(how)
        try:
            self.process.wait(DEADLINE)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
            raise Broken("formstream receive does not end after SIGTERM") from None
        finally:
            self.rest.join()
            self.process.stderr.close()

    def incomplete(self):
        """The files with the bytes of uploads that are not complete."""
        return [path for path in self.directory.glob(".formstream-uploads/*") if path.suffix != ".json"]


@contextlib.contextmanager
def restartable(formstream, *flags):
    """Runs a receiver on a free port, and ends it if it still runs."""
    with tempfile.TemporaryDirectory(prefix="formstream-received-") as name:
        receiver = Receiver(formstream, pathlib.Path(name), flags)
        try:
            yield receiver
        finally:
            if receiver.process.returncode is None:
                receiver.end()


@contextlib.contextmanager
def receiving(formstream, *flags):
    """Runs a receiver on a free port. Yields its URL and its storage directory."""
    with restartable(formstream, *flags) as receiver:
        yield receiver.url, receiver.directory


class Relay(socketserver.ThreadingTCPServer):
    """Relays bytes in both directions. If `breaks_after` is set, resets a connection after that many uploaded bytes. If
    `loses_after` is set, resets a connection in place of the next response after that many uploaded bytes. If `is_silent`,
    relays no further bytes instead of resetting the connection."""
    daemon_threads = True
    breaks_after = None
    loses_after = None
    is_silent = False

    def __init__(self, port):
        super().__init__(("127.0.0.1", 0), None)
        self.to = port

    def finish_request(self, request, _):
        # A numeric address: no name is looked up.
        with request, socket.create_connection(("127.0.0.1", self.to)) as onward:
            uploaded = [0]
            back = threading.Thread(target=self.pump, args=(onward, request, uploaded, self.loses))
            back.start()
            self.pump(request, onward, uploaded, self.breaks)
            back.join()

    def breaks(self, piece, uploaded):
        uploaded[0] += len(piece)
        return self.breaks_after is not None and uploaded[0] > self.breaks_after

    def loses(self, _, uploaded):
        return self.loses_after is not None and uploaded[0] > self.loses_after

    def pump(self, source, sink, uploaded, ends):
        try:
            while piece := source.recv(1 << 16):
                if ends(piece, uploaded):
                    if self.is_silent:
                        return
                    for end in (source, sink):
                        # Closing without lingering discards unsent bytes and sends a reset.
                        end.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                        end.shutdown(socket.SHUT_RD)
                    return
                sink.sendall(piece)
            sink.shutdown(socket.SHUT_WR)
        except OSError:
            pass


@contextlib.contextmanager
def relaying(address):
    """Runs a relay in front of a receiver. Yields the relay's URL and the relay."""
    with Relay(int(re.search(r":(\d+)/", address)[1])) as relay:
        thread = threading.Thread(target=relay.serve_forever)
        thread.start()
        try:
            yield f"http://127.0.0.1:{relay.server_address[1]}/", relay
        finally:
            relay.shutdown()
            thread.join()
