"""A proxy that breaks the connections that go through it."""

import random
import select
import socket
import struct
import threading

PIECE = 256 * 1024


class CuttingProxy:
    """Passes connections on to a port, and cuts each after the bytes that `plan` yields: by a reset, by a half-close (the
    end of what the client sends), or by silence. `passed` counts the bytes that have reached the other side."""

    WAYS = ["reset", "half-close", "silence"]

    def __init__(self, port, plan, ways=WAYS, seed=1):
        self.port_behind, self.plan, self.ways = port, plan, ways
        self.chance = random.Random(seed)
        self.passed = self.cuts = 0
        self.unused = []
        self.lock = threading.Lock()
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self.accept, daemon=True).start()

    @property
    def url(self):
        return f"http://127.0.0.1:{self.port}"

    def accept(self):
        while True:
            try:
                client, _ = self.listener.accept()
            except OSError:
                return
            threading.Thread(target=self.serve, args=(client,), daemon=True).start()

    def serve(self, client):
        try:
            server = socket.create_connection(("127.0.0.1", self.port_behind))
        except OSError:
            # The server is being started again.
            reset(client)
            return
        threading.Thread(target=self.answer, args=(server, client), daemon=True).start()
        with self.lock:
            place = self.unused.pop() if self.unused else next(self.plan, None)
            way = self.chance.choice(self.ways)
        left = place
        try:
            while piece := client.recv(PIECE if left is None else min(PIECE, max(left, 1))):
                server.sendall(piece)
                with self.lock:
                    self.passed += len(piece)
                if left is None:
                    continue
                left -= len(piece)
                if left <= 0:
                    with self.lock:
                        self.cuts += 1
                    return self.cut(client, server, way)
            server.shutdown(socket.SHUT_WR)
        except OSError:
            reset(server)
            reset(client)
        if place is not None:
            # A short request, such as a question, uses up no cut.
            with self.lock:
                self.unused.append(place)

    def answer(self, server, client):
        try:
            while piece := server.recv(PIECE):
                client.sendall(piece)
            client.shutdown(socket.SHUT_WR)
        except OSError:
            pass

    def cut(self, client, server, way):
        if way == "half-close":
            # The client may not notice before the server responds, or gives up.
            server.shutdown(socket.SHUT_WR)
            wait_for_end(client)
            reset(client)
        elif way == "silence":
            # What the client sends is no longer read. It has to find out by itself.
            wait_for_end(client)
            reset(client)
            reset(server)
        else:
            reset(client)
            reset(server)

    def close(self):
        self.listener.close()


def wait_for_end(connection):
    """Waits until the other side has closed the connection, without reading what it sends."""
    poller = select.poll()
    poller.register(connection, select.POLLRDHUP | select.POLLHUP | select.POLLERR)
    poller.poll(600_000)


def reset(connection):
    try:
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        connection.close()
    except OSError:
        pass
