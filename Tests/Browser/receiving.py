"""`formstream receive`, and a relay before it that can hold connections up and break them."""

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
    """A receiver on a free port: its address, and the directory that it stores in."""
    with tempfile.TemporaryDirectory(prefix="formstream-received-") as name:
        process = subprocess.Popen(
            [formstream, "receive", "--listen", "127.0.0.1:0", "--into", name, *flags],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        # What it has to say is read to the end, or it would wait for us.
        said = []
        try:
            for line in process.stderr:
                said.append(line)
                if found := re.search(r"http://127\.0\.0\.1:\d+/", line):
                    break
            else:
                raise Broken("formstream receive does not start: " + "".join(said))
            rest = threading.Thread(target=said.extend, args=(process.stderr,))
            rest.start()
            yield found[0], pathlib.Path(name)
        finally:
            process.send_signal(signal.SIGTERM)
            try:
                process.wait(DEADLINE)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
                raise Broken("formstream receive does not end when it is told to") from None
        rest.join()
        process.stderr.close()


class Relay(socketserver.ThreadingTCPServer):
    """Hands bytes on, both ways. While `breaks_after` is set, a connection is reset when that many came."""
    daemon_threads = True
    breaks_after = None

    def __init__(self, port):
        super().__init__(("127.0.0.1", 0), None)
        self.to = port

    def finish_request(self, request, _):
        # Looked up by number: no name of anything is asked for.
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
                        # Closed with what was not sent thrown away: a reset.
                        end.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                        end.shutdown(socket.SHUT_RD)
                    return
                sink.sendall(piece)
            sink.shutdown(socket.SHUT_WR)
        except OSError:
            pass


@contextlib.contextmanager
def relaying(address):
    """A relay before the receiver at an address: its own address, and itself."""
    with Relay(int(re.search(r":(\d+)/", address)[1])) as relay:
        thread = threading.Thread(target=relay.serve_forever)
        thread.start()
        try:
            yield f"http://127.0.0.1:{relay.server_address[1]}/", relay
        finally:
            relay.shutdown()
            thread.join()
