"""The servers that uploads are measured against, all on the loopback."""

import json
import os
import queue
import shutil
import socket
import subprocess
import sys
import threading
import time
import urllib.parse

from .programs import c_program


class Discarding:
    """A server that discards bodies. Its port is None if there is no C compiler to build it with.
    It refuses a share of the requests with 503: so many of a hundred."""

    def __init__(self, table, work, refused=0):
        self.port = None
        if shutil.which("cc") is None:
            table.note("There is no C compiler: uploads were left out.")
            return
        self.server = subprocess.Popen(
            [c_program("discard", work), str(refused)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.port = int(self.server.stdout.readline())
        self.url = f"http://127.0.0.1:{self.port}/"

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.port is not None:
            self.server.stdin.close()
            self.server.wait()


class Endless:
    """A server whose responses to GET never end."""

    def __init__(self):
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self.listener.getsockname()[1]}/"
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            try:
                client, _ = self.listener.accept()
            except OSError:
                return
            threading.Thread(target=self.serve, args=(client,), daemon=True).start()

    def serve(self, client):
        with client:
            try:
                client.recv(65536)
                client.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 1000000000000\r\n\r\n")
                while True:
                    client.sendall(bytes(65536))
            except OSError:
                pass

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.listener.close()


class Receiving:
    """`formstream receive`."""

    def __init__(self, formstream, *flags):
        self.server = subprocess.Popen(
            [formstream, "receive", "--listen", "127.0.0.1:0", "--json", "-q", *map(str, flags)],
            stdout=subprocess.PIPE, text=True)
        self.url = json.loads(self.server.stdout.readline())["url"]
        self.port = urllib.parse.urlsplit(self.url).port
        # Read its records, or they would fill the pipe.
        self.reader = threading.Thread(target=self.server.stdout.read)
        self.reader.start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.server.terminate()
        self.server.wait()
        self.reader.join()


reserved = []


def free_port():
    """A port that belongs to this program until its end: only a server that asks for it gets it."""
    holder = socket.socket()
    holder.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    holder.bind(("127.0.0.1", 0))
    reserved.append(holder)
    return holder.getsockname()[1]


class Nginx:
    """An nginx that writes each body to a file, responds, and removes the file."""

    def __init__(self, work, directory):
        port, upstream = free_port(), free_port()
        home = work / "nginx"
        home.mkdir(exist_ok=True)
        (home / "conf").write_text(f"""
            daemon off; pid {home}/pid; error_log {home}/log; worker_processes auto;
            events {{}}
            http {{
              access_log off; client_max_body_size 0; client_body_temp_path {directory};
              client_body_in_file_only clean; client_body_buffer_size 256k;
              proxy_temp_path {home}/proxy; fastcgi_temp_path {home}/f; uwsgi_temp_path {home}/u;
              scgi_temp_path {home}/s;
              server {{
                listen 127.0.0.1:{port};
                location / {{
                  proxy_pass http://127.0.0.1:{upstream}; proxy_pass_request_body off;
                  proxy_set_header Content-Length "";
                }}
              }}
              server {{ listen 127.0.0.1:{upstream}; return 200 "ok"; }}
            }}""")
        # If root starts it, its workers run as another user, who can't write here.
        user = ["-g", "user root;"] if os.geteuid() == 0 else []
        nginx = shutil.which("nginx") or "/usr/sbin/nginx"
        self.server = subprocess.Popen(
            [nginx, "-p", str(home), "-c", str(home / "conf"), *user], stderr=subprocess.DEVNULL)
        self.url = f"http://127.0.0.1:{port}/"
        while True:
            try:
                socket.create_connection(("127.0.0.1", port)).close()
                return
            except ConnectionRefusedError:
                if self.server.poll() is not None:
                    sys.exit(f"nginx did not start: {(home / 'log').read_text()}")
                time.sleep(0.01)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.server.terminate()
        self.server.wait()


class Gateway:
    """A server with TLS and HTTP/2 that passes each body on to another one, at once."""

    KINDS = {"nginx": "nginx", "caddy": "caddy", "apache": "apache2"}

    @staticmethod
    def program(kind):
        return shutil.which(Gateway.KINDS[kind], path=os.environ["PATH"] + ":/usr/sbin")

    def __init__(self, kind, work, certificate, upstream):
        self.home, self.certificate = work / f"gateway-{kind}", certificate
        self.home.mkdir(exist_ok=True)
        self.port, self.upstream = free_port(), upstream
        self.url = f"https://localhost:{self.port}/"
        configuration = self.home / "configuration"
        configuration.write_text(getattr(self, kind)())
        command = {"nginx": ["-p", self.home, "-c", configuration],
                   "apache": ["-DFOREGROUND", "-d", self.home, "-f", configuration],
                   "caddy": ["run", "--config", configuration, "--adapter", "caddyfile"]}[kind]
        self.log = open(self.home / "output", "wb")
        self.server = subprocess.Popen(
            [self.program(kind), *map(str, command)], stdout=self.log, stderr=self.log,
            env={"PATH": os.environ["PATH"], "HOME": str(self.home)})
        while True:
            try:
                socket.create_connection(("127.0.0.1", self.port)).close()
                return
            except ConnectionRefusedError:
                if self.server.poll() is not None:
                    sys.exit(f"{kind} did not start: {(self.home / 'output').read_text()}")
                time.sleep(0.01)

    def nginx(self):
        places = "".join(f"{name}_temp_path {self.home}/{name};"
                         for name in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi"))
        return f"""
            {"user root;" if os.geteuid() == 0 else ""}
            daemon off; pid {self.home}/pid; error_log {self.home}/log; worker_processes auto;
            events {{}}
            http {{
              access_log off; client_max_body_size 0; {places}
              server {{
                listen 127.0.0.1:{self.port} ssl http2;
                ssl_certificate {self.certificate.path}; ssl_certificate_key {self.certificate.key};
                location / {{
                  proxy_pass http://127.0.0.1:{self.upstream}; proxy_http_version 1.1;
                  proxy_request_buffering off;
                }}
              }}
            }}"""

    def caddy(self):
        return f"""{{
              admin off
              auto_https off
            }}
            https://localhost:{self.port} {{
              bind 127.0.0.1
              tls {self.certificate.path} {self.certificate.key}
              reverse_proxy 127.0.0.1:{self.upstream}
            }}"""

    def apache(self):
        names = ("mpm_event", "authz_core", "proxy", "proxy_http", "ssl", "http2")
        modules = "\n".join(f"LoadModule {name}_module /usr/lib/apache2/modules/mod_{name}.so" for name in names)
        return f"""{modules}
Listen 127.0.0.1:{self.port}
ServerName localhost
PidFile {self.home}/pid
ErrorLog {self.home}/log
DefaultRuntimeDir {self.home}
{"User nobody" if os.geteuid() == 0 else ""}
SSLEngine on
SSLCertificateFile {self.certificate.path}
SSLCertificateKeyFile {self.certificate.key}
Protocols h2 http/1.1
LimitRequestBody 0
ProxyPass / http://127.0.0.1:{self.upstream}/
"""

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.server.terminate()
        self.server.wait()
        self.log.close()


class Link:
    """A proxy that holds every byte for `delay` seconds in each direction, and drops none."""

    def __init__(self, port, delay):
        self.target, self.delay = port, delay
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"https://localhost:{self.listener.getsockname()[1]}/"
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            try:
                client, _ = self.listener.accept()
                server = socket.create_connection(("127.0.0.1", self.target))
            except OSError:
                return
            for source, target in ((client, server), (server, client)):
                target.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                held = queue.SimpleQueue()
                threading.Thread(target=self.receive, args=(source, held), daemon=True).start()
                threading.Thread(target=self.send, args=(held, target), daemon=True).start()

    def receive(self, source, held):
        piece = None
        while piece != b"":
            try:
                piece = source.recv(1 << 18)
            except OSError:
                piece = b""
            held.put((time.monotonic() + self.delay, piece))

    def send(self, held, target):
        while True:
            due, piece = held.get()
            time.sleep(max(due - time.monotonic(), 0))
            try:
                if not piece:
                    return target.shutdown(socket.SHUT_WR)
                target.sendall(piece)
            except OSError:
                return None

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.listener.close()


class GoReceiving:
    """A receiver of Go's net/http that stores and hashes files, as `formstream receive` does."""

    def __init__(self, program, directory):
        self.server = subprocess.Popen([program, directory], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.url = f"http://127.0.0.1:{self.server.stdout.readline().strip()}/"

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.server.stdin.close()
        self.server.wait()
