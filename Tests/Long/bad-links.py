#!/usr/bin/env python3
"""Uploads with `--resumable` over links that break, and from programs that are killed, and checks what the receiver has.

usage: bad-links.py FORMSTREAM [TRIAL...]

Each trial prints its figures and its failures. They need 45 GB of disk.
"""

import json
import os
import pathlib
import random
import resource
import shutil
import signal
import statistics
import subprocess
import sys
import time

sys.dont_write_bytecode = True
from cutting_proxy import CuttingProxy
from trials import Receiver, check, digest, main, until

MIB = 1 << 20
WAYS = ["http", "http-create", "tus"]
PATIENT = ["--retry", "20", "--retry-delay", "0.05", "--stall-timeout", "2"]


def make_file(path, size, seed):
    """A file in which no two blocks are alike."""
    chance = random.Random(seed)
    with open(path, "wb") as file:
        while size > 0:
            file.write(chance.randbytes(min(size, 16 * MIB)))
            size -= 16 * MIB


def make_parts(place, total=1024 * MIB):
    """Five files of different sizes, and the flags for a form with them."""
    sizes = [total // 2, total // 4, total // 8, total // 16, total - total * 15 // 16]
    digests, flags = [], ["--field", "note=hello"]
    for number, size in enumerate(sizes):
        make_file(place / f"part{number}", size, number)
        digests.append(digest(place / f"part{number}"))
        flags += ["--file", f"file{number}={place / f'part{number}'}"]
    return digests, flags


def stored(directory):
    return sorted(name for name in os.listdir(directory) if not name.startswith("."))


def check_form(kept, digests):
    """The receiver has each file once, and unchanged."""
    check(stored(kept) == [f"part{number}" for number in range(5)], f"stored: {stored(kept)}")
    for number, expected in enumerate(digests):
        path = kept / f"part{number}"
        check(path.exists() and digest(path) == expected, f"part{number} is wrong")
    left = [name for name in os.listdir(kept / ".formstream-uploads") if not name.endswith(".json")]
    check(left == [], f"bodies are left: {left}")
    for name in stored(kept):
        (kept / name).unlink()


def cuts(formstream, place, count=200):
    """A form of 1 GiB, cut at random bytes."""
    digests, flags = make_parts(place)
    for way in WAYS:
        chance = random.Random(way)
        receiver = Receiver(formstream, "--into", place / "kept")
        # The last of the cuts comes before the end of the body.
        proxy = CuttingProxy(
            receiver.port, (chance.randrange(1, 2 * 1000 * MIB // count) for _ in range(count)), seed=way)
        begun = time.monotonic()
        done = subprocess.run(
            [formstream, "post", "--json", "-q", f"--resumable={way}", *PATIENT, *flags, f"{proxy.url}/form"],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        check(done.returncode == 0, f"{way}: exit {done.returncode}: {done.stderr.decode()}")
        record = json.loads(done.stdout)
        check(record["outcome"] == "ok", f"{way}: {record['outcome']}")
        twice = proxy.passed - record["content_length"]
        check(twice <= proxy.cuts * MIB, f"{way}: {twice} bytes were sent twice")
        receiver.end()
        whole = [record for record in receiver.records if record["error"] is None]
        check(len(whole) == 1, f"{way}: {len(whole)} uploads")
        check_form(place / "kept", digests)
        print(f"{way}: {proxy.cuts} cuts, {record['attempts']} attempts; {twice / MIB / max(proxy.cuts, 1):.3f} MiB a cut sent "
              f"twice, heads included; {record['wire_bytes'] / record['content_length']:.2f} of the body handed over; "
              f"{time.monotonic() - begun:.0f} s", flush=True)
        proxy.close()


def killed(formstream, place, kills_client, kills_server, count=50):
    digests, flags = make_parts(place)
    chance = random.Random(count)
    kept = place / "kept"
    for way in WAYS:
        receiver, port = Receiver(formstream, "--into", kept), None
        proxy = CuttingProxy(receiver.port, iter(()))
        kills = runs = unknown = 0
        while kills < count:
            words = [formstream, "post", "--json", "-q", f"--resumable={way}", "--resume-file", place / "resume", *PATIENT, *flags,
                     f"{proxy.url}/form"]
            runs += 1
            client = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
            before = proxy.passed
            goal = before + chance.randrange(1, 150 * MIB)
            while client.poll() is None and kills < count:
                if not until(lambda: proxy.passed >= goal or client.poll() is not None, 60):
                    check(False, f"{way}: nothing moves")
                    client.kill()
                if client.poll() is not None:
                    break
                kills += 1
                goal = proxy.passed + chance.randrange(1, 150 * MIB)
                if kills_client:
                    client.kill()
                if kills_server:
                    receiver.end(signal.SIGKILL, -signal.SIGKILL)
                    receiver = Receiver(formstream, "--into", kept)
                    proxy.port_behind = receiver.port
                if kills_client:
                    break
            output, errors = client.communicate()
            if client.returncode == -signal.SIGKILL:
                continue
            check(not (place / "resume").exists() or client.returncode != 0, f"{way}: the resume file is left")
            if client.returncode == 3:
                # The receiver was killed while it stored the form, and says so.
                unknown += 1
                check(kills_server and b"may be stored or not" in output + errors, f"{way}: unknown: {output} {errors}")
                for name in stored(kept):
                    check(digest(kept / name) in digests, f"{way}: {name} is wrong")
                    (kept / name).unlink()
                (place / "resume").unlink(missing_ok=True)
                continue
            check(client.returncode == 0, f"{way}: exit {client.returncode}: {errors.decode()}")
            if client.returncode != 0:
                break
            check_form(kept, digests)
        # The last upload may have been killed, too.
        shutil.rmtree(kept, ignore_errors=True)
        (place / "resume").unlink(missing_ok=True)
        receiver.end(signal.SIGKILL, -signal.SIGKILL)
        proxy.close()
        print(f"{way}: {kills} kills of {'the client ' if kills_client else ''}{'the server' if kills_server else ''}, {runs} runs, "
              f"{unknown} unknown outcomes", flush=True)


def killed_clients(formstream, place):
    killed(formstream, place, kills_client=True, kills_server=False)


def killed_servers(formstream, place):
    killed(formstream, place, kills_client=False, kills_server=True)


def killed_both(formstream, place):
    killed(formstream, place, kills_client=True, kills_server=True)


def many(formstream, place, files=20, size=1024 * MIB):
    """`send` of 20 files of 1 GiB over a link that breaks every 300 MB."""
    source = place / "source"
    source.mkdir()
    make_file(source / "f00", size, 1)
    digests = {"f00": digest(source / "f00")}
    for number in range(1, files):
        # The files differ in their first block.
        name = f"f{number:02}"
        shutil.copyfile(source / "f00", source / name)
        with open(source / name, "r+b") as file:
            file.write(random.Random(number).randbytes(MIB))
        digests[name] = digest(source / name)
    kept = place / "kept"
    receiver = Receiver(formstream, "--into", kept)

    def every(count):
        while True:
            yield count

    proxy = CuttingProxy(receiver.port, every(300_000_000), ways=["reset"])
    done = subprocess.run(
        [formstream, "send", "--json", "-q", "--resumable=http", *PATIENT, "-j", "2", "--journal", place / "journal",
         f"{proxy.url}/form", source], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    check(done.returncode == 0, f"exit {done.returncode}: {done.stderr.decode()[-2000:]}")
    records = [json.loads(line) for line in done.stdout.splitlines()]
    files_sent = [record for record in records if "path" in record]
    check(all(record["outcome"] == "ok" and not record["maybe_duplicate"] for record in files_sent), "not all are ok, once")
    check(len(files_sent) == files, f"{len(files_sent)} records")
    check(stored(kept) == sorted(digests), f"stored: {stored(kept)}")
    for name, expected in digests.items():
        check((kept / name).exists() and digest(kept / name) == expected, f"{name} is wrong")
    receiver.end()
    print(f"{files} files of {size // MIB} MiB: {proxy.cuts} cuts; {(proxy.passed - files * size) / MIB / max(proxy.cuts, 1):.2f} "
          "MiB a cut sent twice", flush=True)


def changes(formstream, place):
    """A file changes between the break and the next run, in six ways: the upload ends, and nothing is stitched."""
    path, kept = place / "file", place / "kept"

    def rewrite():
        path.write_bytes(bytes(reversed(path.read_bytes())))

    def rewrite_with_old_time():
        times = path.stat()
        rewrite()
        os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))

    def append():
        with open(path, "ab") as file:
            file.write(b"x")

    def truncate():
        os.truncate(path, path.stat().st_size - 1)

    def replace():
        shutil.copy2(path, place / "other")
        os.replace(place / "other", path)

    def remove():
        path.unlink()

    for change in [rewrite, rewrite_with_old_time, append, truncate, replace, remove]:
        make_file(path, 64 * MIB, 1)
        receiver = Receiver(formstream, "--into", kept)
        proxy = CuttingProxy(receiver.port, iter([20 * MIB] + [1] * 100), ways=["reset"])
        words = [formstream, "post", "--json", "-q", "--resumable=http", "--resume-file", place / "resume", "--file", f"f={path}",
                 f"{proxy.url}/form"]
        first = subprocess.run([*words, "--retry", "0"], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        check(first.returncode == 75 and (place / "resume").exists(), f"{change.__name__}: the first run: {first}")
        change()
        proxy.plan = iter(())
        second = subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        expected = (66, "failed") if change is remove else (74, "source-changed")
        seen = (second.returncode, json.loads(second.stdout)["outcome"] if second.stdout else "failed")
        check(seen == expected, f"{change.__name__}: {seen}: {second.stderr.decode()}")
        check(stored(kept) == [], f"{change.__name__}: stored {stored(kept)}")
        receiver.end()
        proxy.close()
        (place / "resume").unlink(missing_ok=True)
    print("6 changes between a break and the next run: none was put together", flush=True)


def pace(formstream, place, rounds=9, size=2048 * MIB):
    """2 GiB with `--resumable` against without: as the body, and in a form, which the receiver writes twice if it is resumable."""
    make_file(place / "file", size, 1)
    receiver = Receiver(formstream, "--into", place / "kept", "--overwrite", "--no-digest")
    ways = ["without", "--resumable", "--resumable=http", "--resumable=tus"]
    for name, file in [("a body", ["-T", place / "file"]), ("a form", ["--file", f"f={place / 'file'}"])]:
        times, used = {way: [] for way in ways}, {way: [] for way in ways}
        for number in range(rounds + 1):
            for way in ways:
                flags = [] if way == "without" else [way]
                begun, before = time.monotonic(), resource.getrusage(resource.RUSAGE_CHILDREN)
                done = subprocess.run([formstream, "post", "-q", *flags, *file, receiver.url + "file"],
                                      stdout=subprocess.PIPE, stderr=subprocess.PIPE)
                check(done.returncode == 0, f"{way}: {done.stderr.decode()}")
                after = resource.getrusage(resource.RUSAGE_CHILDREN)
                if number > 0:
                    times[way].append(time.monotonic() - begun)
                    used[way].append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
                for stored_name in stored(place / "kept"):
                    (place / "kept" / stored_name).unlink()
        for what, seen in [("time", times), ("the client's processor time", used)]:
            medians = {way: statistics.median(seen[way]) for way in ways}
            print(f"2 GiB as {name}, {what}: " + "; ".join(
                f"{way} {median:.2f} s ({median / medians['without']:.3f})" for way, median in medians.items()), flush=True)
    receiver.end()


if __name__ == "__main__":
    sys.exit(main([changes, cuts, killed_clients, killed_servers, killed_both, many, pace]))
