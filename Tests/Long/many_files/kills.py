"""Runs that are killed, and go on."""

import hashlib
import os
import random
import shutil
import subprocess
import time

from trials import check

from .sent import make_files, name_of, proven, report, send
from .server import ACCEPT, STORE_AND_RESET, Server

KEYS = ["--idempotency-key", "auto"]


class Totals:
    """What all runs of a trial have seen."""

    def __init__(self):
        self.kills = self.sent_again = self.marked = self.twice = 0

    def __str__(self):
        return (f"{self.kills} runs killed and resumed; {self.sent_again} files sent again, {self.marked} marked, "
                f"{self.twice} stored twice")


def resume(formstream, place, server, sent, words, totals, has_keys):
    """Resumes a run that was killed, and judges it."""
    at = f"kill {totals.kills}"
    totals.kills += 1
    settle(server)
    before = server.names()
    known = proven(place / "journals") if (place / "journals").is_dir() else set()
    check(known <= set(before), f"{at}: {len(known - set(before))} files are proven and not stored")
    again = send(formstream, *words, cwd=place)
    check(again.exit == 0, f"{at}: it ended with {again.exit}: {again.errors}")
    if again.exit == 0:
        judge(formstream, place, server, sent, words, totals, has_keys, known, before, again, at)
    shutil.rmtree(place / "journals")
    server.reset()
    server.keys.clear()


def judge(formstream, place, server, sent, words, totals, has_keys, known, before, again, at):
    """Judges a run that went on after a kill, by what the server has."""
    check(not server.faults, f"{at}: {server.faults[:1]}")
    stored = server.names()
    contents = {name: digest for name, digest in server.stored}
    check(set(stored) == set(sent), f"{at}: {len(set(sent) - set(stored))} files are missing")
    check(contents == sent and len(server.stored) == len(sent), f"{at}: contents are wrong")
    resumed = {name_of(record) for record in again.records if record["attempts"]}
    check(resumed == set(sent) - known, f"{at}: sent {len(resumed)}, not proven {len(sent) - len(known)}")
    marked = again.names(maybe_duplicate=True)
    twice = {name for name, count in stored.items() if count > 1}
    check(twice <= marked, f"{at}: {len(twice - marked)} duplicates are not marked")
    check(marked <= set(sent) - known, f"{at}: files are marked that are proven")
    if has_keys:
        check(not marked and not twice, f"{at}: with keys, {len(marked)} are marked and {len(twice)} stored twice")
    totals.sent_again += len(resumed & set(before))
    totals.marked += len(marked)
    totals.twice += len(twice)
    # A finished run does nothing, and the report agrees.
    requests = server.complete + server.incomplete
    finished = send(formstream, *words, cwd=place)
    check(finished.exit == 0 and finished.summary["round"]["unchanged"] == len(sent)
          and server.complete + server.incomplete == requests, f"{at}: a finished run sends something")
    said = report(formstream, "journals", cwd=place)
    check((said["files"], said["ok"], said["missing"]) == (len(sent), len(sent), 0), f"{at}: the report says {said}")
    check(said["duplicates"] == 0 and said["maybe_duplicates"] == len(marked),
          f"{at}: {len(marked)} are marked, and the report says {said}")


def digests(contents):
    return {name: hashlib.sha256(each).hexdigest() for name, each in contents.items()}


def killed_after_each_line(formstream, place, count=200):
    """A run is killed after each line of its journal and of its manifest, and after these files are made."""
    killer = place / "kill-after-change"
    subprocess.run(["cc", "-O2", "-Wall", "-o", killer, os.path.join(os.path.dirname(__file__), "kill-after-change.c")],
                   check=True)
    sent = digests(make_files(place / "in", count))
    # A journal has a first line, two lines for each file, and a last one.
    for kind, lines, keys in (
            ("journal-", 2 * count + 2, []), ("journal-", 2 * count + 2, KEYS), ("manifest", 1 + count, [])):
        with Server(remembers_keys=bool(keys)) as server:
            words = ["-j", "4", "--journal", "journals", *keys, server.url, "in"]
            totals, seen = Totals(), set()
            while True:
                (place / "journals").mkdir()
                killed = send(formstream, *words, cwd=place, before=[
                    killer, f"{os.path.realpath(place / 'journals')}/{kind}", str(totals.kills + 1)])
                if killed.exit == 0:
                    break
                check(killed.exit == 137, f"it ended with {killed.exit}: {killed.errors}")
                seen |= {path.read_bytes().count(b"\n") for path in (place / "journals").glob(f"{kind}*")}
                resume(formstream, place, server, sent, words, totals, bool(keys))
            check(seen == set(range(lines + 1)), f"killed after {len(seen)} of {lines + 1} numbers of lines")
            print(f"{count} files, a kill after each line of the {kind.strip('-')}{', with keys' * bool(keys)}: "
                  f"{totals}", flush=True)
            shutil.rmtree(place / "journals")


def killed_in_each_request(formstream, place, count=200):
    """A run is killed when the server has stored a file and not responded, for each file."""
    sent = digests(make_files(place / "in", count))
    for keys in ([], KEYS):
        running, wanted = None, 0

        def decide(upload):
            if upload.number != wanted:
                return ACCEPT
            while running is None:
                time.sleep(0.001)
            running.kill()
            return STORE_AND_RESET

        totals = Totals()
        with Server(decide, remembers_keys=bool(keys)) as server:
            words = ["-j", "4", "--journal", "journals", *keys, server.url, "in"]
            for number in range(1, count + 1):
                running, wanted = None, number
                running = subprocess.Popen([formstream, "send", "--json", *words], cwd=place,
                                           stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
                running.wait()
                wanted = 0
                resume(formstream, place, server, sent, words, totals, bool(keys))
            print(f"{count} files, a kill in each request{', with keys' * bool(keys)}: {totals}", flush=True)


def settle(server):
    """Waits until the server has handled what a killed program had sent."""
    while server.connections:
        time.sleep(0.001)


def killed_at_random(formstream, place, count=2000, kills=200):
    """A run is killed at random moments, from its start to its end."""
    draw = random.Random(15)
    sent = digests(make_files(place / "in", count))
    for keys in ([], KEYS):
        with Server(remembers_keys=bool(keys)) as server:
            words = ["-j", "8", "--journal", "journals", *keys, server.url, "in"]
            begun = time.monotonic()
            check(send(formstream, *words, cwd=place).exit == 0, "a run without a kill fails")
            length = time.monotonic() - begun
            shutil.rmtree(place / "journals")
            server.reset()
            server.keys.clear()
            totals, moments = Totals(), []
            while totals.kills < kills:
                running = subprocess.Popen([formstream, "send", "--json", *words], cwd=place,
                                           stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
                time.sleep(draw.random() * length)
                running.kill()
                running.wait()
                moments.append(server.complete)
                resume(formstream, place, server, sent, words, totals, bool(keys))
            print(f"{count} files, a kill at random moments, after {min(moments)} to {max(moments)} requests"
                  f"{', with keys' * bool(keys)}: {totals}", flush=True)
