"""A folder that changes between nights, and what is true about it."""

import hashlib
import os
import time

NOBODY = 65534
DIRECTORIES = 6
DAY = 86400 * 10**9

# Times that a file can have, in nanoseconds: before 1970, at its second 0, with and without a fraction, and to come.
ODD_TIMES = [-DAY - 1, 0, 1, 10**9, 10**18 + 999_999_999, int(time.time() + 10**9) * 10**9 + 5]

KINDS = [
    "new", "changed", "same size", "hidden", "touched", "older", "reverted", "gone", "away", "back", "replaced", "renamed",
    "closed", "opened", "closed directory", "opened directory", "link", "unlinked", "odd time",
]


class Folder:
    """The files below `root`, by their relative paths. `versions` has the size, the time and the digest of each.

    `epochs` counts how often a path was changed in a way that permits to send its contents once more.
    """

    def __init__(self, root, draw):
        self.root, self.draw = root, draw
        self.versions, self.epochs, self.contents = {}, {}, {}
        # The sizes and times of the files that had contents.
        self.seen = {}
        self.closed, self.closed_directories, self.links, self.ever_closed = set(), set(), set(), set()
        # Files that are somewhere else for a night or more, with their versions.
        self.away = {}
        # The contents of earlier versions, which can come back.
        self.earlier = {}
        self.made = 0
        for number in range(DIRECTORIES):
            self.directory(number).mkdir(parents=True)
            own(self.directory(number))

    def directory(self, number):
        return self.root / f"d{number}"

    def path(self, name):
        return self.root / name

    def changed(self, name):
        self.epochs[name] = self.epochs.get(name, 0) + 1

    def add(self):
        self.made += 1
        self.write(f"d{self.made % DIRECTORIES}/f{self.made:05}")

    def write(self, name, size=None, modified=None, contents=None):
        """Gives a file new contents, or those that it had once."""
        self.made += 1
        if contents is None:
            size = size or self.draw.randrange(40, 600)
            contents = f"{name} {self.made} ".encode().ljust(size, b".")[:size]
        path = self.path(name)
        path.write_bytes(contents)
        if modified is not None:
            os.utime(path, ns=(modified, modified))
        own(path)
        self.note(name, contents)

    def note(self, name, contents):
        status = self.path(name).stat()
        digest = hashlib.sha256(contents).hexdigest()
        self.versions[name], self.contents[digest] = (status.st_size, status.st_mtime_ns, digest), contents
        self.seen.setdefault(digest, set()).add(self.versions[name][:2])
        self.earlier.setdefault(name, []).append((contents, status.st_mtime_ns))
        self.changed(name)

    def drop(self, name):
        self.closed.discard(name)
        self.changed(name)
        return self.versions.pop(name)

    @staticmethod
    def directory_of(name):
        return name.split("/")[0]

    def is_visible(self, name):
        return self.directory_of(name) not in self.closed_directories

    def visible(self):
        """The files that a listing finds, whether they can be read or not."""
        return {name for name in self.versions if self.is_visible(name)}

    def readable(self):
        return self.visible() - self.closed

    def change(self, most=3):
        """Does some of the kinds of changes to some files. Returns the kinds."""
        kinds = self.draw.sample(KINDS, 12)
        for kind in kinds:
            for _ in range(self.draw.randrange(most + 1)):
                self.do(kind)
        return kinds

    def do(self, kind):
        names = sorted(self.readable())
        name = self.draw.choice(names)
        size, modified, _ = self.versions[name]
        match kind:
            case "new":
                self.add()
            case "changed":
                self.write(name)
            case "same size":
                self.write(name, size=size)
            case "hidden":
                self.write(name, size=size, modified=modified)
            case "touched":
                os.utime(self.path(name))
                self.note(name, self.path(name).read_bytes())
            case "odd time":
                moment = self.draw.choice(ODD_TIMES)
                os.utime(self.path(name), ns=(moment, moment))
                self.note(name, self.path(name).read_bytes())
            case "older":
                self.write(name, modified=modified - self.draw.randrange(1, 10 * DAY))
            case "reverted":
                contents, then = self.draw.choice(self.earlier[name])
                self.write(name, contents=contents, modified=then)
            case "gone" if len(names) > 20:
                self.path(name).unlink()
                self.drop(name)
            case "away" if len(names) > 20:
                self.path(name).rename(self.root.parent / name.replace("/", "-"))
                self.away[name] = self.drop(name)
            case "back" | "replaced":
                for name in sorted(self.away)[:1]:
                    if not self.is_visible(name):
                        continue
                    size, modified, _ = version = self.away.pop(name)
                    (self.root.parent / name.replace("/", "-")).rename(self.path(name))
                    self.versions[name] = version
                    self.changed(name)
                    if kind == "replaced":
                        self.write(name, size=size, modified=modified)
            case "renamed":
                other = f"d{self.draw.randrange(DIRECTORIES)}/r{self.made:05}{self.draw.randrange(1000)}"
                if self.is_visible(other) and other not in self.versions:
                    self.path(name).rename(self.path(other))
                    self.versions[other] = self.drop(name)
                    self.earlier[other] = [(self.path(other).read_bytes(), modified)]
                    self.changed(other)
            case "closed":
                self.path(name).chmod(0)
                self.closed.add(name)
                self.ever_closed.add(name)
            case "opened":
                for name in sorted(name for name in self.closed if self.is_visible(name))[:1]:
                    self.path(name).chmod(0o644)
                    self.closed.discard(name)
            case "closed directory" if not self.closed_directories:
                directory = self.draw.randrange(DIRECTORIES)
                self.directory(directory).chmod(0)
                self.closed_directories.add(f"d{directory}")
            case "opened directory":
                for directory in self.closed_directories:
                    (self.root / directory).chmod(0o755)
                self.closed_directories.clear()
            case "link" if len(names) > 20:
                self.path(name).unlink()
                self.path(name).symlink_to(self.path(names[0]))
                self.drop(name)
                self.links.add(name)
            case "unlinked":
                for name in sorted(name for name in self.links if self.is_visible(name))[:1]:
                    self.path(name).unlink()
                    self.links.discard(name)
                    self.write(name)


def own(path):
    if os.geteuid() == 0:
        os.chown(path, NOBODY, NOBODY)
