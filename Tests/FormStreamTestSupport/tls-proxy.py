"""Ends TLS in front of a plain server on the loopback, until its standard input ends. It prints its port.

The ends of connections are passed on in both directions: a close_notify or a bare FIN becomes a FIN, a FIN
becomes a close_notify and a FIN (with --bare-ends only the FIN), and a reset becomes a reset.
"""

import argparse
import os
import select
import socket
import ssl
import struct
import sys
import threading

options = argparse.ArgumentParser()
options.add_argument("--to", type=int, required=True, help="the plain server's port")
options.add_argument("--h2-to", type=int, help="the plain server's port for the protocol h2")
options.add_argument("--listen", default="127.0.0.1")
options.add_argument("--certificate", required=True)
options.add_argument("--key", required=True)
options.add_argument("--client-ca", help="demand a certificate signed by this authority")
options.add_argument("--alpn", action="append", help="a protocol to negotiate")
options.add_argument("--first-alpn", help="the only protocol to negotiate on the first connection")
options.add_argument("--strict-alpn", action="store_true", help="refuse clients without a common protocol")
options.add_argument("--newest", choices=["1.1", "1.2", "1.3"], help="the newest version to use")
options.add_argument("--oldest", choices=["1.2", "1.3"], help="the oldest version to use")
options.add_argument("--reset-refused", choices=["alert", "bare"],
                     help="reset the connection of a refused client, with or without an alert before")
options.add_argument("--bare-ends", action="store_true", help="end without a close_notify")
options = options.parse_args()



def refuse_unknown(tls, name, context):
    """RFC 7301 §3.2: a client without a common protocol gets the alert no_application_protocol(120)."""
    offers = any(bytes([len(known)]) + known.encode() in tls.hello for known in options.alpn)
    return None if offers else 120


def make_context(protocols):
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(options.certificate, options.key)
    if options.client_ca:
        context.verify_mode = ssl.CERT_REQUIRED
        context.load_verify_locations(options.client_ca)
    if protocols:
        context.set_alpn_protocols(protocols)
    if options.strict_alpn:
        context.sni_callback = refuse_unknown
    if options.newest:
        if options.newest == "1.1":
            context.minimum_version = ssl.TLSVersion.TLSv1
            context.set_ciphers("ALL:@SECLEVEL=0")
        context.maximum_version = getattr(ssl.TLSVersion, "TLSv" + options.newest.replace(".", "_"))
    if options.oldest:
        context.minimum_version = getattr(ssl.TLSVersion, "TLSv" + options.oldest.replace(".", "_"))
    return context


context = make_context(options.alpn)
first_context = make_context([options.first_alpn]) if options.first_alpn else context


# The size of small buffers.
SMALL = 32768


class Reset(Exception):
    """One side sent a reset, or violated TLS."""


class Side:
    """A socket, the bytes to be written to it, and its closed directions."""

    def __init__(self, plain):
        self.socket = plain
        self.socket.setblocking(False)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.waiting = bytearray()  # to be sent
        self.has_ended = False  # the peer sends no more
        self.ends = False  # close after the waiting bytes
        self.is_shut = False

    def receive(self):
        """The received bytes: b"" at the end, None if there are none yet."""
        try:
            return self.socket.recv(65536)
        except (BlockingIOError, InterruptedError):
            return None
        except OSError as error:
            raise Reset from error

    def flush(self):
        try:
            while self.waiting:
                del self.waiting[: self.socket.send(self.waiting)]
            if self.ends and not self.is_shut:
                self.is_shut = True
                self.socket.shutdown(socket.SHUT_WR)
        except (BlockingIOError, InterruptedError):
            pass
        except OSError as error:
            raise Reset from error


class Connection:
    def __init__(self, accepted, context):
        self.client = Side(accepted)
        self.server = None  # connected after the handshake, so that the server sees no failed one
        self.incoming, self.outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
        self.tls = context.wrap_bio(self.incoming, self.outgoing, server_side=True)
        self.tls.hello = b""

    def run(self):
        try:
            while not (self.client.is_shut and self.client.has_ended and self.server.is_shut):
                self.step()
        except Reset:
            self.set_reset(self.client)
            self.set_reset(self.server)
        except ssl.SSLError:
            self.set_reset(self.server)
            self.refuse()
        finally:
            self.client.socket.close()
            if self.server:
                self.server.socket.close()

    def connected_server(self, port):
        if options.listen != "0.0.0.0":
            return socket.create_connection(("127.0.0.1", port))
        server = socket.socket()
        server.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, SMALL)
        server.connect((self.client.socket.getsockname()[0], port))
        return server

    def set_reset(self, side):
        if side:
            side.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))

    def refuse(self):
        """Sends OpenSSL's alert, and waits until the client has closed."""
        if options.reset_refused:
            if options.reset_refused == "alert":
                self.client.socket.setblocking(True)
                self.client.socket.sendall(self.client.waiting + self.outgoing.read())
            return self.set_reset(self.client)
        self.client.socket.setblocking(True)
        self.client.socket.settimeout(5)
        try:
            self.client.socket.sendall(self.client.waiting + self.outgoing.read())
            self.client.socket.shutdown(socket.SHUT_WR)
            while self.client.socket.recv(65536):
                pass
        except OSError:
            pass

    def step(self):
        poll = select.poll()
        # A side is read only if the other side has received everything, so that this proxy buffers little.
        self.watch(poll, self.client, not (self.server and self.server.waiting))
        self.watch(poll, self.server, not self.client.waiting)
        ready = dict(poll.poll())
        for side, move in ((self.client, self.from_client), (self.server, self.from_server)):
            events = ready.get(side.socket.fileno(), 0) if side else 0
            if events & select.POLLIN:
                move()
            elif events & select.POLLERR:
                raise Reset
        for side in (self.client, self.server):
            if side:
                side.flush()

    def watch(self, poll, side, reads):
        # Without events, poll still reports a reset. After both directions are closed there is nothing to
        # report.
        if side and not (side.has_ended and side.is_shut):
            events = select.POLLIN if reads and not side.has_ended else 0
            poll.register(side.socket, events | (select.POLLOUT if side.waiting else 0))

    def from_client(self):
        received = self.client.receive()
        if received is None:
            return
        if received == b"":
            self.client.has_ended = True
            self.incoming.write_eof()
        else:
            self.incoming.write(received)
            if not self.server:
                self.tls.hello += received
        try:
            if not self.server:
                self.tls.do_handshake()
                port = options.to
                if options.h2_to and self.tls.selected_alpn_protocol() == "h2":
                    port = options.h2_to
                try:
                    self.server = Side(self.connected_server(port))
                except OSError as error:
                    raise Reset from error
            while plain := self.tls.read(65536):
                self.server.waiting += plain
            self.server.ends = True
        except ssl.SSLWantReadError:
            if self.client.has_ended:
                raise Reset from None  # in the middle of the handshake
        except (ssl.SSLEOFError, ssl.SSLZeroReturnError):
            if not self.server:
                raise Reset from None
            self.server.ends = True
        self.move_out()

    def from_server(self):
        received = self.server.receive()
        if received is None:
            return
        if received:
            self.tls.write(received)
        else:
            self.server.has_ended = True
            self.client.ends = True
            if not options.bare_ends:
                try:
                    self.tls.unwrap()
                except ssl.SSLError:
                    pass  # it waits for the client's close_notify
        self.move_out()

    def move_out(self):
        self.client.waiting += self.outgoing.read()


def end_with_parent():
    """Ends the program with the one that started it."""
    sys.stdin.buffer.read()
    os._exit(0)


listener = socket.create_server((options.listen, 0), backlog=512)
if options.listen == "0.0.0.0":
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, SMALL)
threading.Thread(target=end_with_parent, daemon=True).start()
print(listener.getsockname()[1], flush=True)
while True:
    connected, _ = listener.accept()
    threading.Thread(target=Connection(connected, first_context).run, daemon=True).start()
    first_context = context
