"""A server that keeps all that it stored, in each way in which `formstream send` can deliver a file."""

import base64
import collections
import hashlib
import random
import re
import urllib.parse

from .server import Decision, Server

BOUNDARY = re.compile(rb'boundary="?([^";\r\n]+)')
DISPOSITION = re.compile(rb'; name="([^"]*)"(?:; filename="([^"]*)")?')

# What happens to a request, and how often: whether the file is stored, and the status; none if the connection is reset.
FAULTS = [
    (70, True, 200), (6, False, None), (8, True, None), (4, False, 422), (5, False, 503), (3, True, 502), (2, False, 502),
    (1, False, 500), (1, False, 429),
]


class Event:
    """Something that was stored: when, under which name, and its digest."""

    def __init__(self, run, name, digest, key):
        self.run, self.name, self.digest, self.key = run, name, digest, key


class NightServer:
    """Stores forms with files, files by PUT, and uploads by tus, and fails as a run's draws say.

    `events` are all that it stored, in order. `last` has the digest of what it stored last under each name. If a file is stored
    twice under one idempotency key, or to one URL, it is stored once.
    """

    def __init__(self, seed):
        self.seed = seed
        self.events, self.last, self.keys = [], {}, {}
        self.uploads = {}
        # The names, the known digests and the new ones of what came under a key of something else.
        self.conflicts = []
        self.begin(0)
        self.server = Server(handle=self.handle)

    @property
    def url(self):
        return self.server.url

    def begin(self, run, fails=False, kill_at=None, kill=None):
        """Begins a run. If it `fails`, some of its requests do. The request with the number `kill_at` calls `kill`."""
        self.run, self.fails, self.kill_at, self.kill = run, fails, kill_at, kill
        self.requests = 0
        self.asked = collections.Counter()

    def draw(self, name):
        """What happens to the next request about a name. It does not depend on the order of the requests."""
        self.asked[name] += 1
        draw = random.Random(f"{self.seed} {self.run} {name} {self.asked[name]}")
        self.requests += 1
        if self.requests == self.kill_at:
            self.kill()
            return draw.random() < 0.5, None
        if not self.fails:
            return True, 200
        _, stores, status = draw.choices(FAULTS, [share for share, _, _ in FAULTS])[0]
        return stores, status

    def handle(self, number, head, body):
        request, *lines = head.decode("latin-1").split("\r\n")
        method, target, _ = request.split(" ", 2)
        headers = {name.lower(): value.strip() for name, value in (line.split(":", 1) for line in lines if line)}
        if "tus-resumable" in headers:
            return self.tus(method, target, headers, body)
        if method == "PUT":
            files = [(urllib.parse.unquote(target[1:]), body)]
        else:
            files = parse(BOUNDARY.search(headers["content-type"].encode())[1], body)
        key = headers.get("idempotency-key")
        stores, status = self.draw(" ".join(name for name, _ in files))
        if key in self.keys and status not in (None, 429, 503):
            # The response to the first request with the key.
            stores, status = True, 200
        if stores:
            self.store(files, key)
        return Decision(status, retry_after=0 if status in (429, 503) else None)

    def store(self, files, key=None):
        digests = [(name, hashlib.sha256(contents).hexdigest()) for name, contents in files]
        if key is not None:
            known = self.keys.setdefault(key, digests)
            if known != digests:
                self.conflicts += [(name, old, new) for (name, old), (_, new) in zip(known, digests)]
            if known != digests or any(event.key == key for event in self.events):
                return
        for name, digest in digests:
            self.events.append(Event(self.run, name, digest, key))
            self.last[name] = digest

    def tus(self, method, target, headers, body):
        """Does a step of an upload. A step that is drawn to store is done, whether its response arrives or not."""
        if method == "POST":
            metadata = dict(each.split(" ") for each in headers.get("upload-metadata", "").split(",") if " " in each)
            kind = base64.b64decode(metadata.get("filetype", ""))
            stores, status = self.draw(f"upload {target} {headers['upload-metadata']}")
            place = f"/upload/{len(self.uploads)}"
            if stores:
                self.uploads[place] = (kind, int(headers["upload-length"]), bytearray())
            return self.step(status, 201, f"Location: {place}\r\n")
        kind, length, held = self.uploads[target]
        if method == "HEAD":
            return self.step(200, 200, f"Upload-Offset: {len(held)}\r\nUpload-Length: {length}\r\n")
        offset = int(headers["upload-offset"])
        if offset != len(held):
            return self.step(409, 409)
        stores, status = self.draw(target)
        if stores and body:
            held += body
            if len(held) == length:
                self.store(parse(BOUNDARY.search(kind)[1], bytes(held)))
        return self.step(status, 204, f"Upload-Offset: {len(held)}\r\n")

    @staticmethod
    def step(status, success, headers=""):
        return Decision(success if status == 200 else status, headers=f"Tus-Resumable: 1.0.0\r\n{headers}")

    def __enter__(self):
        self.server.__enter__()
        return self

    def __exit__(self, *error):
        self.server.__exit__(*error)


def parse(boundary, body):
    """The names and the contents of a form's files. A text field that is called `slice` belongs to the name."""
    pieces = (b"\r\n" + body).split(b"\r\n--" + boundary)
    if pieces[0] or pieces[-1] != b"--\r\n":
        raise ValueError("the form has no end")
    files, suffix = [], ""
    for piece in pieces[1:-1]:
        head, contents = piece.split(b"\r\n\r\n", 1)
        field, name = DISPOSITION.search(head).groups()
        if name is None:
            suffix = "#" + contents.decode() if field == b"slice" else suffix
        else:
            files.append((name.decode() + suffix, contents))
    return files
