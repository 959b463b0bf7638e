"""The servers that uploads are measured against, all on the loopback."""

import json
import os
import shutil
import socket
import subprocess
import sys
import threading
import time

from .programs import c_program


class Discarding:
    """A server that discards bodies. Its port is None if there is no C compiler to build it with."""

    def __init__(self, table, work):
        self.port = None
        if shutil.which("cc") is None:
            table.note("There is no C compiler: uploads were left out.")
            return
        self.server = subprocess.Popen(
            [c_program("discard", work)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
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
        # Read its records, or they would fill the pipe.
        self.reader = threading.Thread(target=self.server.stdout.read)
        self.reader.start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.server.terminate()
        self.server.wait()
        self.reader.join()


class Nginx:
    """An nginx that writes each body to a file, responds, and removes the file."""

    def __init__(self, work, directory):
        def free_port():
            with socket.socket() as probe:
                probe.bind(("127.0.0.1", 0))
                return probe.getsockname()[1]

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
