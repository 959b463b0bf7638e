"""Files that change while others are sent."""

import collections
import hashlib
import os
import random
import shutil
import stat
import subprocess

from trials import check

from .sent import name_of, send
from .server import ACCEPT, Server

SECRET = b"a secret of another directory: "
OLD, NEW = b"old contents of ", b"new contents of "
# Not root, for which no file is unreadable.
AS_ANOTHER = ["setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups"]


def remains(path, outside):
    pass


def grows(path, outside):
    with open(path, "ab") as file:
        file.write(b" and more")


def shrinks(path, outside):
    os.truncate(path, os.path.getsize(path) - 1)


def rewritten(path, outside):
    """Only the time of the last change of its attributes shows it."""
    status = os.stat(path)
    with open(path, "r+b") as file:
        file.write(NEW)
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))


def touched(path, outside):
    os.utime(path, ns=(1, 1))


def replaced(path, outside):
    """By another file of the same size and time."""
    status = os.stat(path)
    with open(path, "rb") as file:
        contents = file.read()
    with open(path + b".new", "wb") as file:
        file.write(NEW + contents[len(OLD):])
    os.utime(path + b".new", ns=(status.st_atime_ns, status.st_mtime_ns))
    os.rename(path + b".new", path)


def removed(path, outside):
    os.unlink(path)


def unreadable(path, outside):
    os.chmod(path, 0)


def linked_outside(path, outside):
    """To a file of the same size and time."""
    secret = os.path.join(outside, os.path.basename(path))
    status = os.stat(path)
    with open(secret, "wb") as file:
        file.write((SECRET * 1000)[: status.st_size])
    os.utime(secret, ns=(status.st_atime_ns, status.st_mtime_ns))
    os.unlink(path)
    os.symlink(secret, path)


def linked_inside(path, outside):
    os.rename(path, path + b".moved")
    os.symlink(os.path.basename(path) + b".moved", path)


def pipe(path, outside):
    os.unlink(path)
    os.mkfifo(path)


def directory(path, outside):
    os.unlink(path)
    os.mkdir(path)


# What a file is after the change: its outcome and code if it was listed before. None is a file as it was.
CHANGES = {
    remains: ("ok", None),
    grows: ("source-changed", "source-changed"),
    shrinks: ("source-changed", "source-changed"),
    rewritten: ("source-changed", "source-changed"),
    touched: ("source-changed", "source-changed"),
    replaced: ("source-changed", "source-changed"),
    removed: ("failed", "input-missing"),
    unreadable: ("failed", "input-unreadable"),
    linked_outside: ("source-changed", "source-changed"),
    linked_inside: ("source-changed", "source-changed"),
    pipe: ("source-changed", "source-changed"),
    directory: ("source-changed", "source-changed"),
}
# What a list says of those that were not listed yet.
NOT_LISTED_YET = {
    removed: ("failed", "input-missing"), unreadable: ("failed", "input-unreadable"),
    linked_outside: ("failed", "not-a-file"), linked_inside: ("failed", "not-a-file"), pipe: ("failed", "not-a-file"),
    # A list leaves directories out.
    directory: None,
}
# What a manifest doesn't know: inode, attributes, and whether the way to a file was a link.
SAME_SIZE_AND_TIME = {rewritten, replaced, linked_inside}


def make(place, each):
    """Makes files for each change, and returns the change of each name."""
    inside, outside = os.fsencode(place / "in"), os.fsencode(place / "outside")
    for path in (inside, outside):
        os.mkdir(path)
    changes = {}
    for number in range(each):
        for change in CHANGES:
            name = f"{number:04}-{change.__name__}".encode()
            with open(os.path.join(inside, name), "wb") as file:
                file.write(OLD + name * 30)
            changes[name] = change
    if os.geteuid() == 0:
        for name in changes:
            os.chown(os.path.join(inside, name), 65534, 65534)
    return inside, outside, changes


def judge(what, server, run, changes, inside, expected):
    """Checks outcomes and the exit code, and that the server has nothing else than files as they were."""
    counts, codes = collections.Counter(), set()
    records = {name_of(record): record for record in run.records}
    check(len(records) == len(run.records), f"{what}: a file has two records")
    for name, change in changes.items():
        record = records.pop(name, None)
        found = record and (record["outcome"], record["error"] and record["error"]["code"])
        wanted = expected(name, change)
        check(found in wanted, f"{what}: {name.decode()} is {found}, not one of {wanted}")
        if found:
            counts[change.__name__, found[0]] += 1
            codes.add({"ok": 0, "source-changed": 74}.get(found[0], 66))
        for stored in [digest for stored_name, digest in server.stored if stored_name == name]:
            # What it was, or what it is: nothing between.
            versions = {hashlib.sha256(OLD + name * 30).hexdigest()}
            path = os.path.join(inside, name)
            if stat.S_ISREG(os.lstat(path).st_mode if os.path.lexists(path) else 0):
                with open(path, "rb") as file:
                    versions.add(hashlib.sha256(file.read()).hexdigest())
            check(found and found[0] == "ok" and stored in versions, f"{what}: {name.decode()}: wrong bytes are stored")
        if found and found[0] == "ok":
            check(server.names()[name] == 1, f"{what}: {name.decode()} is ok and not stored once")
    check(not records, f"{what}: there are records of other files: {list(records)[:3]}")
    check(not server.leaks and not server.faults, f"{what}: {server.leaks} leaks, {server.faults[:1]}")
    exit_code = next(code for code in (74, 66, 0) if code in codes)
    check(run.exit == exit_code, f"{what}: it ended with {run.exit}, not {exit_code}: {run.errors}")
    return counts


def changed_files(formstream, place, rounds=20, each=25):
    """What becomes of files that change during a run, and after a manifest was made."""
    # The other user has to reach all of it.
    os.chmod(place, 0o755)
    program = shutil.copy(formstream, place / "formstream")
    before = AS_ANOTHER if os.geteuid() == 0 else []
    for kind in ("manifest", "run"):
        counts = collections.Counter()
        for number in range(rounds):
            home = place / f"{kind}-{number}"
            home.mkdir()
            inside, outside, changes = make(home, each)
            manifest = home / "manifest"
            listed = subprocess.run(["find", ".", "-type", "f", "-print0"], cwd=inside, stdout=subprocess.PIPE).stdout
            names = [path[2:] for path in listed.split(b"\0")[:-1]]
            # In the run, all change at the same moment: some are sent, some listed, some not.
            moment = random.Random(number).randrange(1, len(names) - 100)

            def change_all():
                for name, change in changes.items():
                    change(os.path.join(inside, name), outside)

            def decide(upload):
                if kind == "run" and upload.number == moment:
                    change_all()
                return ACCEPT

            with Server(decide, forbidden=SECRET) as server:
                words = ["-j", str(1 + number % 4), "--sniff", "extension"]
                if kind == "manifest":
                    subprocess.run([program, "plan", "--sort", "-o", manifest, "in"], cwd=home, check=True)
                    change_all()
                    run = send(program, *words, "--manifest", manifest, server.url, cwd=home, before=before)
                else:
                    (home / "list").write_bytes(listed)
                    run = send(program, *words, server.url, "--files-from0", "../list", cwd=inside, before=before)

                def expected(name, change):
                    if kind == "manifest":
                        return {("ok", None) if change in SAME_SIZE_AND_TIME else CHANGES[change]}
                    if change is remains:
                        return {("ok", None)}
                    # Sent before, open already, listed already, or not.
                    return {("ok", None), CHANGES[grows], CHANGES[change], NOT_LISTED_YET.get(change, ("ok", None))}

                counts += judge(f"{kind} {number}", server, run, changes, inside, expected)
            shutil.rmtree(home)
        print(f"{rounds} rounds of {each * len(CHANGES)} files that change " + (
            "after a manifest was made" if kind == "manifest" else "at one moment of a run") + ": nothing wrong sent",
            flush=True)
        for change in CHANGES:
            outcomes = {outcome: count for (name, outcome), count in counts.items() if name == change.__name__}
            print(f"  {change.__name__}: {outcomes}", flush=True)


def changed_during_request(formstream, place, rounds=25, size=32 << 20):
    """A file that changes while it is sent is never accepted, and never arrives completely."""
    path = os.fsencode(place / "in" / "large")
    outside = os.fsencode(place / "outside")
    os.makedirs(place / "in")
    os.makedirs(place / "outside")
    for change in (grows, shrinks, rewritten, touched, replaced, removed, unreadable, linked_outside, pipe):
        outcomes = collections.Counter()
        for number in range(rounds):
            for name in os.listdir(place / "in"):
                entry = place / "in" / name
                entry.unlink()
            with open(path, "wb") as file:
                file.write(OLD)
                file.truncate(size)

            def begin(head):
                # Most of the body does not fit into the sockets' buffers, so the client can't have read it yet.
                change(path, outside)
                return False

            with Server(begin=begin, forbidden=SECRET) as server:
                run = send(formstream, server.url, "in/large", cwd=place)
                outcome = run.records[0]["outcome"]
                outcomes[outcome] += 1
                check(outcome == "source-changed" and run.exit == 74, f"{change.__name__}: {run.exit}, {run.records}")
                check(not server.complete and not server.leaks, f"{change.__name__}: {server.stored} is stored")
        print(f"{rounds} times a file of {size >> 20} MiB is sent and {change.__name__}: {dict(outcomes)}", flush=True)
