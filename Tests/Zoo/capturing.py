"""A server that keeps the type and the raw body of each request, and responds with 200."""

import contextlib
import http.server
import socketserver
import threading


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    # A client that sends less than it announced causes an error, and no hang.
    timeout = 20

    def do_POST(self):
        if self.headers.get("Transfer-Encoding", "").lower() == "chunked":
            body = self.chunked()
        else:
            body = self.rfile.read(int(self.headers["Content-Length"]))
        self.server.captured[self.path.strip("/")] = (self.headers["Content-Type"], body)
        self.send_response(200)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def chunked(self):
        body = b""
        while size := int(self.rfile.readline().split(b";")[0], 16):
            body += self.rfile.read(size)
            self.rfile.readline()
        while self.rfile.readline() not in (b"\r\n", b""):
            pass
        return body

    def log_message(self, *_):
        pass


# Not http.server's, which looks up the host's name.
class Server(socketserver.ThreadingTCPServer):
    daemon_threads = True

    def __init__(self):
        super().__init__(("127.0.0.1", 0), Handler)
        # By path, such as curl/quote: Content-Type and body.
        self.captured = {}


@contextlib.contextmanager
def capturing():
    with Server() as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_address[1]}", server.captured
        finally:
            server.shutdown()
            thread.join()
