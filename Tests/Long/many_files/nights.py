"""The same command, night after night, over a tree that changes."""

import collections
import hashlib
import os
import random
import subprocess
import time

from trials import check

from .sent import name_of, report, send
from .server import Server

# A user who can't read each file.
NOBODY = 65534
AS_NOBODY = ["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups", "--inh-caps=-all"]


class Tree:
    """A tree of files that changes, and what a command that runs each night has to do about it.

    Each file has a name of its own. Of each, `listed` has the version that the last night saw, and `accepted` the one that the
    server has got last, by size and time.
    """

    def __init__(self, root, draw, count):
        self.root, self.draw = root, draw
        self.paths, self.versions, self.closed = {}, {}, set()
        # Files that are somewhere else for a night or more.
        self.away, self.home = {}, {}
        self.listed, self.accepted, self.unaccepted = {}, {}, set()
        self.made = 0
        for directory in range(100):
            (root / f"d{directory:02}").mkdir(parents=True)
            os.chown(root / f"d{directory:02}", NOBODY, NOBODY)
        for _ in range(count):
            self.add()

    def add(self):
        name = f"f{self.made:07}".encode()
        self.paths[name] = self.root / f"d{self.made % 100:02}" / name.decode()
        self.write(name)

    def write(self, name, keeps_time=False):
        """Gives a file new contents; with `keeps_time` of the same size, and with the time that it had."""
        self.made += 1
        path = self.paths[name]
        times = path.stat() if keeps_time else None
        size = times.st_size if keeps_time else self.draw.randrange(20, 400)
        contents = f"{name.decode()} {self.made} ".encode().ljust(size, b".")[:size]
        path.write_bytes(contents)
        if keeps_time:
            os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))
        os.chown(path, NOBODY, NOBODY)
        status = path.stat()
        self.versions[name] = (status.st_size, status.st_mtime_ns, hashlib.sha256(contents).hexdigest())

    def remove(self, name):
        self.paths.pop(name).unlink()
        self.versions.pop(name)
        self.closed.discard(name)

    def change(self, share):
        """Does each kind of change to that share of the files."""
        kinds = ["new", "changed", "hidden", "renamed", "gone", "away", "back", "closed", "opened"]
        for kind in kinds:
            names = [name for name in self.draw.sample(sorted(self.paths), int(share * len(self.paths)))
                     if name not in self.closed]
            if kind == "opened":
                names = sorted(self.closed)[::2]
            if kind == "back":
                names = sorted(self.away)[::2]
            for name in names:
                match kind:
                    case "new":
                        self.add()
                    case "changed":
                        self.write(name)
                    case "hidden":
                        self.write(name, keeps_time=True)
                    case "gone":
                        self.remove(name)
                    case "away":
                        away = self.root.parent / name.decode()
                        self.home[name] = self.paths.pop(name)
                        self.home[name].rename(away)
                        self.away[name] = (away, self.versions.pop(name))
                    case "back":
                        away, self.versions[name] = self.away.pop(name)
                        self.paths[name] = away.rename(self.home[name])
                    case "renamed":
                        renamed = name + b"r%d" % self.made
                        self.paths[renamed] = self.paths[name].with_name(renamed.decode())
                        self.paths.pop(name).rename(self.paths[renamed])
                        self.versions[renamed] = self.versions.pop(name)
                    case "closed":
                        self.paths[name].chmod(0)
                        self.closed.add(name)
                    case "opened":
                        self.paths[name].chmod(0o644)
                        self.closed.discard(name)

    def round(self):
        """The numbers of the round that this night has to send, and the names of its files."""
        numbers = collections.Counter()
        names = set()
        for name, version in self.versions.items():
            if name not in self.unaccepted and self.accepted.get(name) == version[:2]:
                kind = "unchanged"
            elif name not in self.listed:
                kind = "new"
            elif self.listed[name] != version[:2]:
                kind = "changed"
            else:
                kind = "again"
            numbers[kind] += 1
            if kind != "unchanged":
                names.add(name)
        numbers["gone"] = len(set(self.listed) - set(self.versions))
        return {key: numbers[key] for key in ("new", "changed", "again", "unchanged", "gone")}, names

    def note(self, names):
        """Notes that a night has sent these files, but for those that can't be read."""
        self.listed = {name: version[:2] for name, version in self.versions.items()}
        self.unaccepted = {name for name in self.unaccepted | names if name in self.closed and name in names}
        for name in names - self.closed:
            self.accepted[name] = self.versions[name][:2]


def nights(formstream, place, count=100_000, rounds=10, share=0.002):
    """Each version arrives once, the numbers of each round are right, and a night that was killed is continued."""
    draw = random.Random(28)
    place.chmod(0o777)
    tree = Tree(place / "in", draw, count)
    expected = collections.Counter()
    marked, kills, seconds = set(), 0, []
    with Server() as server:
        words = ["-j", "8", "--sniff", "extension", "--journal", "journals", server.url, "in"]
        for night in range(1, rounds + 1):
            if night > 1:
                tree.change(share)
            numbers, names = tree.round()
            for name in names - tree.closed:
                expected[name, tree.versions[name][2]] += 1
            if night % 3 == 0:
                kills += 1
                running = subprocess.Popen([*AS_NOBODY, formstream, "send", "--json", *words], cwd=place,
                                           stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
                complete, wanted = server.complete, draw.randrange(len(names))
                while server.complete - complete < wanted and running.poll() is None:
                    time.sleep(0.001)
                running.kill()
                running.wait()
                while server.connections:
                    time.sleep(0.001)
            begun = time.monotonic()
            sent = send(formstream, *words, cwd=place, before=AS_NOBODY)
            seconds.append(time.monotonic() - begun)
            at = f"night {night}"
            check(sent.exit == (66 if names & tree.closed else 0), f"{at}: it ended with {sent.exit}: {sent.errors[-300:]}")
            number = sent.summary["round"].pop("number")
            check(sent.summary["round"] == numbers, f"{at}: {sent.summary['round']} instead of {numbers}")
            check(number == night, f"{at}: it is round {number}")
            check(sent.summary["resumed"] == (night % 3 == 0), f"{at}: resumed is {sent.summary['resumed']}")
            check({name_of(each) for each in sent.records} <= names, f"{at}: others are sent")
            marked |= sent.names(maybe_duplicate=True)
            tree.note(names)
            wrong = {key for key in server.stored | expected
                     if server.stored[key] != expected[key] and not (server.stored[key] > expected[key] and key[0] in marked)}
            check(not wrong and not server.faults, f"{at}: {len(wrong)} files are missing or twice: {sorted(wrong)[:2]}")
    said = report(formstream, "journals", cwd=place)
    unsent = len(tree.unaccepted)
    check(said["rounds"] == rounds and said["missing"] == 0 and said["failed"] == unsent, f"the report says {said}")
    check(said["duplicates"] == 0 and said["maybe_duplicates"] <= len(marked), f"the report says {said}")
    # A file that could not be read before it was gone is not counted.
    check(said["ok"] + unsent == said["files"], f"the report says {said}")
    last = send(formstream, *words, cwd=place, before=AS_NOBODY)
    check(last.summary["ok"] == 0 and last.summary["files"] == unsent, f"a night without changes: {last.summary}")
    print(f"{rounds} nights, {count} files at first, {kills} of the nights killed and continued: {sum(expected.values())} versions, "
          f"all stored, {sum((server.stored - expected).values())} of them twice and marked; {len(marked)} marked; a night takes "
          f"{min(seconds[1:]):.1f} to {max(seconds[1:]):.1f} s, the first {seconds[0]:.1f} s", flush=True)
