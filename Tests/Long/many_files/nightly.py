"""Samples/nightly, night after night, while the server fails and the script is killed."""

import base64
import collections
import contextlib
import fcntl
import hashlib
import json
import os
import pathlib
import random
import signal
import socket
import subprocess
import threading
import time

from trials import check, until

from .sent import name_of, report
from .server import Decision, Server

SCRIPT = pathlib.Path(__file__).parents[3] / "Samples" / "nightly"

# What happens in which night of thirty; further nights repeat it.
DOWN, STORM, OVERLOADED, LOST, TWICE = {4, 5, 13, 22}, {7, 16, 25}, {29}, {10, 17}, {6, 11, 18, 28}
KILLED, ORPHANED = {3, 8, 14, 27}, {12, 19, 24}
# In these nights the folder has a file that the server refuses.
REFUSED = {9, 10, 11, 12, 20, 21, 22, 23, 26}
REFUSED_NAME = b"refused.jpg"

AWKWARD = [b"photo %d.jpg", b"line\n%d.jpg", b"\xff%d.jpg", b"-tab\t%d.jpg", b"it's $HOME %d.jpg"]


class Folder:
    """A folder that changes between the nights. `versions` has the digest of each file, and `known` all that there ever were."""

    def __init__(self, root, draw):
        self.root, self.draw = os.fsencode(root), draw
        self.paths, self.versions, self.known = {}, {}, {}
        self.made = 0

    def add(self, name=None):
        self.made += 1
        # A name is part of one path only.
        name = name or AWKWARD[self.made % len(AWKWARD)] % self.made
        self.paths[name] = os.path.join(self.root, b"20%02d" % (self.made % 7), name)
        os.makedirs(os.path.dirname(self.paths[name]), exist_ok=True)
        self.write(name)

    def write(self, name):
        self.made += 1
        contents = b"%d " % self.made + b"." * self.draw.randrange(2000)
        with open(self.paths[name], "wb") as file:
            file.write(contents)
        status = os.stat(self.paths[name])
        self.versions[name] = hashlib.sha256(contents).hexdigest()
        self.known[name, status.st_size, status.st_mtime_ns] = self.versions[name]

    def remove(self, name):
        os.unlink(self.paths.pop(name))
        self.versions.pop(name)

    def accepted(self):
        """The names and digests of the files that the server does not refuse."""
        return [(name, digest) for name, digest in self.versions.items() if name != REFUSED_NAME]

    def change(self, share):
        """Adds, changes and removes that many files."""
        names = self.draw.sample(sorted(set(self.paths) - {REFUSED_NAME}), 2 * share)
        for name in names[:share]:
            self.write(name)
            self.add()
        for name in names[share:]:
            self.remove(name)


class Photos:
    """What the server has, and what it does in a night. `given` has an id for each file that was stored, in their order."""

    def __init__(self):
        self.given = []
        self.begin()

    def begin(self, storm=0, is_overloaded=False, loses=False, holds=0):
        """Begins a night.

        For `storm` seconds after the first request, or all night if it `is_overloaded`, each response is 503. If it `loses`, it
        stores a file and resets the connection. The request with the number `holds` waits for `release`.
        """
        self.storm, self.is_overloaded, self.loses, self.holds = storm, is_overloaded, loses, holds
        self.requests, self.first = 0, None
        self.is_holding, self.release = threading.Event(), threading.Event()

    def decide(self, upload):
        self.requests += 1
        self.first = self.first or time.monotonic()
        if self.requests == self.holds:
            self.is_holding.set()
            self.release.wait(60)
        if upload.name == REFUSED_NAME:
            return Decision(422)
        if self.is_overloaded or time.monotonic() - self.first < self.storm:
            return Decision(503)
        self.given.append((upload.name, upload.digest))
        if self.loses:
            self.loses = False
            return Decision()
        return Decision(200, body=json.dumps({"id": len(self.given)}))


class Script:
    """The script with its folders. What it mails is in a file."""

    def __init__(self, formstream, place, url):
        self.state, self.mails, self.errors = place / "its state", place / "mails", place / "errors"
        flags = place / "more flags"
        flags.write_text("retry-delay 0.1\n")
        self.words = [SCRIPT, url, place / "all photos", self.state, "tee", "-a", self.mails]
        path = f"{pathlib.Path(formstream).resolve().parent}:{os.environ['PATH']}"
        self.environment = {**os.environ, "PATH": path, "FLAGS": str(flags), "ID": "id", "LIMIT": "8"}

    def start(self):
        with open(self.errors, "ab") as errors:
            return subprocess.Popen(self.words, env=self.environment, start_new_session=True,
                                    stdout=subprocess.DEVNULL, stderr=errors)

    def run(self):
        return self.start().wait(120)

    def wait_for_lock(self):
        """Waits until a run whose script was killed has ended."""
        with open(self.state / "lock") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)

    def new_mails(self):
        """What was mailed since the last call."""
        with contextlib.suppress(FileNotFoundError):
            text = self.mails.read_text(errors="replace")
            self.mails.unlink()
            return text
        return ""

    def ids(self):
        """The pairs of name and id in the file of ids, in order."""
        pairs = []
        with contextlib.suppress(FileNotFoundError):
            for line in (self.state / "ids").read_bytes().split(b"\n")[:-1]:
                # A path that can't be shown exactly follows in base 64.
                path, number, *exact = line.split(b"\t")
                pairs.append((base64.b64decode(exact[0]) if exact else path, int(number)))
        return [(os.path.basename(path), number) for path, number in pairs]

    def marked(self, known):
        """The versions that a record says were perhaps sent twice."""
        records = [json.loads(line) for path in (self.state / "journal").glob("journal-*.jsonl")
                   for line in path.read_bytes().split(b"\n")[:-1]]
        return {(name_of(each), known[name_of(each), each["size"], each["mtime_ns"]])
                for each in records if each.get("maybe_duplicate")}


def nightly(formstream, place, count=60, nights=30, share=3):
    """Each version arrives once or is marked, each id is kept, and a mail comes if somebody is needed, and only then."""
    draw = random.Random(30)
    folder, photos = Folder(place / "all photos", draw), Photos()
    for _ in range(count):
        folder.add()
    mailed, seconds, twice, ended_well = 0, [], 0, True
    with socket.socket() as reservation:
        # Keeps the port while the server is down. Nothing listens there then.
        reservation.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        reservation.bind(("127.0.0.1", 0))
        port = reservation.getsockname()[1]
        script = Script(formstream, place, f"http://127.0.0.1:{port}/")
        for night in range(1, nights + 1):
            kind = (night - 1) % 30 + 1
            if night > 1:
                folder.change(share)
            is_refused = kind in REFUSED
            if is_refused != (REFUSED_NAME in folder.paths):
                folder.add(REFUSED_NAME) if is_refused else folder.remove(REFUSED_NAME)
            # Each of these versions needs a request, others may.
            unsent = set(folder.accepted()) - set(photos.given)
            holds = draw.randrange(len(unsent)) + 1 if kind in TWICE | KILLED | ORPHANED else 0
            photos.begin(storm=1 if kind in STORM else 0, is_overloaded=kind in OVERLOADED, loses=kind in LOST, holds=holds)
            ids, begun, at = script.ids(), time.monotonic(), f"night {night}"
            with contextlib.nullcontext() if kind in DOWN else Server(photos.decide, port=port) as server:
                code, is_killed = one_night(script, photos, kind, at) if holds else (script.run(), False)
                # Requests of a program that was killed may still be on their way.
                check(not server or until(lambda: not server.connections), f"{at}: connections stay open")
                check(not server or not server.faults, f"{at}: {server and server.faults}")
            seconds.append(time.monotonic() - begun)
            mail = script.new_mails()
            is_needed = not is_killed and (is_refused or kind in DOWN | OVERLOADED | LOST)
            codes = {0} if not is_needed else {75} if kind in DOWN | OVERLOADED else {3} if kind in LOST else {1}
            # If the round of a night that was killed still can't be sent, files of it may have changed or be gone.
            codes |= {66, 74} if kind in DOWN and not ended_well else set()
            check(is_killed or code in codes, f"{at}: it ended with {code}, not {codes}: {mail}")
            check(mail.count(f"formstream ended with {code}.\n") == is_needed == bool(mail), f"{at}: it mailed {mail!r}")
            ended_well = not is_killed and code == 0
            mailed += bool(mail)
            stored = collections.Counter(photos.given)
            if not is_killed and kind not in DOWN | OVERLOADED:
                missing = set(folder.accepted()) - set(stored)
                check(not missing, f"{at}: the server does not have {missing}")
            marked = script.marked(folder.known)
            check({each for each in stored if stored[each] > 1} <= marked, f"{at}: versions are twice and not marked")
            check(set(stored) <= {(name, digest) for (name, _, _), digest in folder.known.items()}, f"{at}: it has other files")
            check(script.ids()[:len(ids)] == ids, f"{at}: lines of the ids were changed")
            twice = sum(stored.values()) - len(stored)
    check_ids(script.ids(), photos.given, {name for name, _ in folder.accepted()})
    said = report(formstream, script.state / "journal")
    check(said["missing"] == said["retryable"] == said["damaged_journals"] == 0, f"the report says {said}")
    check(script.errors.read_bytes() == b"", f"the script itself said {script.errors.read_bytes()[:300]}")
    print(f"{nights} nights of Samples/nightly, {count} files at first: {len(stored)} versions stored, {twice} of them once more, "
          f"{len(marked)} marked; {mailed} mails; {len(script.ids())} ids; a night takes {min(seconds):.2f} to {max(seconds):.1f} s",
          flush=True)


def one_night(script, photos, kind, at):
    """Starts the script, and kills it or starts a second one while a request waits for its response.

    Returns its exit code, and whether it was killed.
    """
    running = script.start()
    try:
        check(until(photos.is_holding.is_set), f"{at}: no request came")
        if kind in KILLED:
            os.killpg(running.pid, signal.SIGKILL)
        if kind in ORPHANED:
            running.kill()
            running.wait()
        if kind in TWICE | ORPHANED:
            # formstream holds the lock, also after its script was killed.
            check(script.run() == 75, f"{at}: the second run did not end with 75")
    finally:
        photos.release.set()
    code = running.wait(120)
    script.wait_for_lock()
    return code, kind in KILLED | ORPHANED


def check_ids(ids, given, present):
    """Each line has an id that the server gave to that name, and the last one of a name is the newest."""
    newest = {}
    for name, number in ids:
        check(given[number - 1][0] == name, f"{name} did not get the id {number}")
        newest[name] = number
    for name in present:
        expected = max(number for number, (other, _) in enumerate(given, 1) if other == name)
        check(newest.get(name) == expected, f"the newest id of {name} is {expected}, not {newest.get(name)}")
