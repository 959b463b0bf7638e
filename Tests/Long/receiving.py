#!/usr/bin/env python3
"""Runs `formstream receive` under load and faults, and checks the results.

usage: receiving.py FORMSTREAM [TRIAL...]

Each trial prints its figures and its failures. The run takes minutes, so it is not part of `make test`, which has
short versions of most trials.
"""

import concurrent.futures
import json
import os
import random
import signal
import socket
import subprocess
import sys
import time

import httpx

from trials import Receiver, check, digest, main, peak_of, run, until

MIB = 1 << 20


def status_by_curl(url, *words):
    return run("curl", "-sS", "-o", "/dev/null", "-w", "%{http_code}", *words, url).stdout.decode()


def status_by_formstream(formstream, url, *words):
    return str(json.loads(run(formstream, "post", "--json", *words, url).stdout)["status"])


def many_uploads(formstream, place, count=1000, at_once=64):
    """Many uploads at once from each of three clients: the client, the response and the disk agree."""
    sent = place / "sent"
    sent.mkdir()
    digests = {}
    for number in range(count):
        path = sent / f"{number:04}.bin"
        path.write_bytes(os.urandom(MIB))
        digests[path.name] = digest(path)

    with httpx.Client(timeout=120, limits=httpx.Limits(max_connections=at_once)) as session:

        def by_httpx(url, path):
            with open(path, "rb") as file:
                return session.post(url, files={"f": file}).content

        clients = {
            "curl": lambda url, path: run("curl", "-sS", "-F", f"f=@{path}", url).stdout,
            "formstream": lambda url, path: run(formstream, "post", "-F", f"f=@{path}", url).stdout,
            "httpx": by_httpx,
        }
        for client, upload in clients.items():
            kept = place / client
            receiver = Receiver(formstream, "--into", str(kept))
            begun = time.monotonic()
            with concurrent.futures.ThreadPoolExecutor(at_once) as pool:
                responses = list(pool.map(
                    lambda name: (name, upload(receiver.url, sent / name)), digests))
            seconds = time.monotonic() - begun
            peak = receiver.status("VmHWM")
            receiver.end()
            equal = 0
            for name, response in responses:
                try:
                    part = json.loads(response)["parts"][0]
                    equal += digests[name] == part["sha256"] == digest(kept / part["stored_as"])
                except (ValueError, KeyError, IndexError, TypeError, OSError):
                    check(False, f"{client}, {name}: {response[:300]}")
            left = set(os.listdir(kept))
            check(equal == count, f"{equal} of {count} are equal")
            check(len(left) == count and all(name in digests for name in left), "there are other files")
            check(sum(record["complete"] for record in receiver.records) == count, "records are missing")
            print(f"{count} uploads of 1 MiB by {client}, {at_once} at once: {equal} equal in client, response and "
                  f"on disk; {len(left)} files and nothing else; receiver's peak {peak} KiB; {seconds:.1f} s")
            for path in kept.iterdir():
                path.unlink()


def memory(formstream, place):
    """A body of 64 GiB takes as much memory as one of 1 MiB. Digests of more than 1 MiB take buffers and a thread."""
    peaks = {}
    for name, size, flags in (
            ("1 MiB", MIB, ["--no-digest"]), ("64 GiB", 64 << 30, ["--no-digest"]),
            ("16 MiB with digest", 16 * MIB, []), ("4 GiB with digest", 4 << 30, [])):
        path = place / "sparse"
        with open(path, "wb") as file:
            file.truncate(size)
        receiver = Receiver(formstream, *flags)
        begun = time.monotonic()
        sender = peak_of(
            formstream, "post", "--quiet", "-o", "/dev/null", "-F", f"f=@{path};type=a/b", receiver.url)
        seconds = time.monotonic() - begun
        peaks[name] = (receiver.status("VmHWM"), sender)
        receiver.end()
        path.unlink()
        check([record["parts"][0]["size"] for record in receiver.records] == [size], "the size is wrong")
        print(f"{name}: peak of the receiver {peaks[name][0]} KiB, of the sender {sender} KiB; {seconds:.1f} s")
    for name, small in (("64 GiB", "1 MiB"), ("4 GiB with digest", "16 MiB with digest")):
        grown = [large - small for large, small in zip(peaks[name], peaks[small])]
        check(max(grown) <= 512, "memory grows with the body")
        print(f"{name} against {small}: receiver {grown[0]:+} KiB, sender {grown[1]:+} KiB")


def full_disk(formstream, place):
    """A body that does not fit is refused with 507, and leaves no file."""
    if os.geteuid() != 0:
        print("full disk: not tried, because only root may mount one")
        return
    small, large, kept = place / "small", place / "large", place / "full"
    small.write_bytes(os.urandom(MIB))
    large.write_bytes(os.urandom(128 * MIB))
    kept.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64m", "formstream", str(kept)], check=True)
    try:
        receiver = Receiver(formstream, "--into", str(kept))
        statuses = []
        for body in (["-F", f"f=@{large}"], ["-T", str(large)]):
            statuses.append(status_by_curl(receiver.url, *body, "-X", "POST"))
            check(until(lambda: not receiver.files(kept)), f"{os.listdir(kept)} is left")
            statuses.append(status_by_formstream(formstream, receiver.url, *body))
            check(until(lambda: not receiver.files(kept)), f"{os.listdir(kept)} is left")
        check(statuses == ["507"] * 4, f"the statuses are {statuses}, not 507")
        after = status_by_curl(receiver.url, "-F", f"f=@{small}")
        check(after == "200" and digest(kept / "small") == digest(small), "the next one is not stored")
        receiver.end()
        print(f"128 MiB onto 64 MiB, a form and a file, by curl and formstream: {', '.join(statuses)}; no files left; "
              f"the next 1 MiB: {after}")
    finally:
        subprocess.run(["umount", str(kept)], check=True)


def killed_receiver(formstream, place, rounds=10, uploads=100):
    """After a receiver is killed, each file with a final name is complete, and so is each reported upload."""
    draw = random.Random(20)
    sent = place / "sent"
    sent.mkdir()
    digests = {}
    for number in range(uploads):
        path = sent / f"{number:03}.bin"
        path.write_bytes(draw.randbytes(2 * MIB + number))
        digests[path.name] = digest(path)
    named = reported = unnamed = 0
    for number in range(rounds):
        kept = place / f"kept-{number}"
        receiver = Receiver(formstream, "--into", str(kept))
        clients = [
            subprocess.Popen(["curl", "-sS", "-f", "--limit-rate", f"{draw.randrange(1, 12)}M", "-F",
                              f"f=@{sent / name}", receiver.url],
                             stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) for name in digests]
        wanted = draw.randrange(uploads)
        until(lambda: len(receiver.records) >= wanted)
        time.sleep(draw.random() * 0.1)
        receiver.end(signal.SIGKILL, -signal.SIGKILL)
        for client in clients:
            response = client.communicate()[0]
            if client.returncode == 0:
                part = json.loads(response)["parts"][0]
                reported += 1
                check(digest(kept / part["stored_as"]) == part["sha256"] == digests[part["filename"]],
                      f"{part['filename']} is not what the response reported")
        for path in kept.iterdir():
            if path.name.startswith(".formstream-"):
                unnamed += 1
            else:
                named += 1
                check(digest(path) == digests.get(path.name), f"{path.name} is not complete")
            path.unlink()
    print(f"{rounds} receivers killed during {uploads} uploads each: {reported} uploads reported as stored, and "
          f"all were; {named} files with final names, all complete; {unnamed} .formstream-* left")


def killed_clients(formstream, place, rounds=100):
    """A client that is killed leaves no file, descriptor or thread."""
    kept = place / "kept"
    large = place / "large"
    with open(large, "wb") as file:
        file.truncate(64 * MIB)
    receiver = Receiver(formstream, "--into", str(kept))
    before = receiver.descriptors_and_threads()
    for number in range(rounds):
        body = ["-F", f"f=@{large}"] if number % 2 else ["-T", str(large)]
        client = subprocess.Popen(
            ["curl", "-sS", "--limit-rate", "4M", *body, receiver.url], stdout=subprocess.DEVNULL)
        check(until(lambda: any(receiver.files(kept))), "nothing arrives")
        client.kill()
        client.wait()
        check(until(lambda: not receiver.files(kept)), f"{os.listdir(kept)} is left")
    until(lambda: receiver.descriptors_and_threads() == before)
    after = receiver.descriptors_and_threads()
    check(after == before, f"descriptors and threads were {before} and are {after}")
    good = status_by_curl(receiver.url, "-F", "f=x")
    check(good == "200", f"the response to the next one is {good}")
    receiver.end()
    errors = {record["error"] and record["error"]["code"] for record in receiver.records[:-1]}
    check(errors == {"connection-lost"}, f"they ended with {errors}")
    print(f"{rounds} clients killed during a body: no files left; descriptors and threads before {before}, "
          f"after {after}; the next: {good}")


def slow_clients(formstream, place, slow=200, idle=64):
    """Clients that send almost nothing are disconnected, and don't delay others."""
    good = place / "good"
    good.write_bytes(os.urandom(MIB))
    receiver = Receiver(formstream, "--into", str(place / "kept"), "--min-rate", "100")
    start = receiver.status("VmRSS")
    resting = [socket.create_connection(("127.0.0.1", receiver.port)) for _ in range(idle - 20)]
    # These keep the connection after a response.
    for _ in range(20):
        kept = socket.create_connection(("127.0.0.1", receiver.port))
        kept.sendall(b"GET / HTTP/1.1\r\nHost: a\r\n\r\n")
        kept.recv(100)
        resting.append(kept)
    until(lambda: receiver.descriptors_and_threads()[0] >= idle)
    with_idle = receiver.status("VmRSS")
    for connection in resting:
        connection.close()
    until(lambda: receiver.descriptors_and_threads()[0] < idle)

    sockets = []
    for _ in range(slow):
        connection = socket.create_connection(("127.0.0.1", receiver.port))
        connection.sendall(b"POST /slow HTTP/1.1\r\nHost: a\r\nContent-Length: 100000\r\n\r\n")
        sockets.append(connection)
    begun = time.monotonic()
    statuses, slowest, uploads, with_slow = [], 0, 0, 0
    while sockets and time.monotonic() - begun < 90:
        second = time.monotonic()
        for connection in list(sockets):
            try:
                connection.send(b"x")
            except OSError:
                pass
            connection.setblocking(False)
            try:
                response = connection.recv(65536)
            except BlockingIOError:
                continue
            except OSError:
                response = b""
            statuses.append(response[9:12].decode() or "none")
            connection.close()
            sockets.remove(connection)
        asked = time.monotonic()
        check(status_by_curl(receiver.url, "-F", f"f=@{good}") == "200", "a good upload is refused")
        slowest = max(slowest, time.monotonic() - asked)
        uploads += 1
        with_slow = max(with_slow, receiver.status("VmRSS"))
        time.sleep(max(0, second + 1 - time.monotonic()))
    seconds = time.monotonic() - begun
    for connection in sockets:
        connection.close()
    check(statuses.count("408") == slow, f"the statuses are {dict.fromkeys(statuses)}")
    peak = receiver.status("VmHWM")
    receiver.end()
    print(f"{idle} idle connections: receiver has {with_idle} KiB, {start} KiB without")
    print(f"{slow} clients of a byte per second: {statuses.count('408')} responses of 408, all within "
          f"{seconds:.0f} s; {uploads} good uploads of 1 MiB meanwhile, the slowest {slowest:.2f} s; receiver had "
          f"{with_slow} KiB then, peak {peak} KiB")


TRIALS = [many_uploads, memory, full_disk, killed_receiver, killed_clients, slow_clients]


if __name__ == "__main__":
    sys.exit(main(TRIALS))
