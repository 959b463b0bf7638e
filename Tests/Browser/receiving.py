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


@contextlib.contextmanager
def receiving(formstream, *flags):
    """Runs a receiver on a free port. Yields its URL and its storage directory."""
    with tempfile.TemporaryDirectory(prefix="formstream-received-") as name:
        process = subprocess.Popen(
            [formstream, "receive", "--listen", "127.0.0.1:0", "--into", name, *flags],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        # Its messages are read to the end, or it would block.
        lines = []
        try:
            for line in process.stderr:
                lines.append(line)
                if found := re.search(r"http://127\.0\.0\.1:\d+/", line):
                    break
            else:
                raise Broken("formstream receive does not start: " + "".join(lines))
            rest = threading.Thread(target=lines.extend, args=(process.stderr,))
            rest.start()
            yield found[0], pathlib.Path(name)
        finally:
            process.send_signal(signal.SIGTERM)
            try:
                process.wait(DEADLINE)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
                raise Broken("formstream receive does not end after SIGTERM") from None
        rest.join()
        process.stderr.close()


class Relay(socketserver.ThreadingTCPServer):
    """Relays bytes in both directions. If `breaks_after` is set, resets a connection after that many uploaded bytes."""
    daemon_threads = True
    breaks_after = None

    def __init__(self, port):
        super().__init__(("127.0.0.1", 0), None)
        self.to = port

    def finish_request(self, request, _):
        # A numeric address: no name is looked up.
        with request, socket.create_connection(("127.0.0.1", self.to)) as onward:
            back = threading.Thread(target=self.pump, args=(onward, request, False))
            back.start()
            self.pump(request, onward, True)
            back.join()

    def pump(self, source, sink, is_upload):
        count = 0
        try:
            while piece := source.recv(1 << 16):
                count += len(piece)
                if is_upload and self.breaks_after is not None and count > self.breaks_after:
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
