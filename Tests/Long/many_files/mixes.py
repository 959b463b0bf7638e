"""Faults that depend on the file alone, by different numbers of requests at a time."""

import collections
import concurrent.futures
import os
import random
import shutil

from trials import check

from .changes import AS_ANOTHER
from .sent import name_of, send
from .server import ACCEPT, RESET, STORE_AND_RESET, Decision, Server

FILES = 40
# What the server does with the requests for a file, one after another; the last for all further ones.
REMOTE = {
    "accepted": [ACCEPT],
    "busy-once": [Decision(503, retry_after=0), ACCEPT],
    "limited-once": [Decision(429, retry_after=0), ACCEPT],
    "busy": [Decision(503, retry_after=0)],
    "refused": [Decision(400)],
    "too-large": [Decision(413)],
    "broken": [Decision(500)],
    "gateway": [Decision(502)],
    "moved": [Decision(302)],
    "reset": [RESET],
    "reset-and-stored": [STORE_AND_RESET],
    "reset-once": [RESET, ACCEPT],
    "broken-once": [Decision(500), ACCEPT],
    "silent": [Decision(stalls=True)],
}
LOCAL = ["missing", "unreadable", "link", "pipe", "changed"]
# Those that take seconds. Only one file of a mix has each of them.
SLOW = {"busy-once", "limited-once", "busy", "silent"}


class Mix:
    """Which file has which fault."""

    def __init__(self, number, place):
        draw = random.Random(number)
        # Few kinds in each, because the worst decides the exit code.
        kinds = ["accepted", *draw.sample([*REMOTE, *LOCAL], draw.randrange(5))]
        self.kinds = {}
        for place_in_list in range(FILES):
            kind = draw.choice(kinds)
            if kind in SLOW and kind in self.kinds.values():
                kind = "accepted"
            self.kinds[f"{place_in_list:03}-{kind}".encode()] = kind
        self.words = draw.choice(
            [[], [], ["--idempotency-key", "auto"], ["--retry", "0"], ["--sha256"], ["--retry-unsafe"]])
        self.number, self.place = number, place / str(number)

    def make(self):
        """Makes the files, and a manifest of them as they were before they changed."""
        directory = os.fsencode(self.place / "in")
        os.makedirs(directory)
        for name in self.kinds:
            path = os.path.join(directory, name)
            with open(path, "wb") as file:
                file.write(name * 20)
            os.utime(path, ns=(0, 0))
        lines = [b'{"schema":"formstream.manifest/1","id":"00000000-0000-4000-8000-%012d","root":null}' % self.number]
        lines += [b'{"path":"%s","size":%d,"mtime_ns":0}' % (name, 20 * len(name)) for name in self.kinds]
        (self.place / "manifest").write_bytes(b"\n".join(lines) + b"\n")
        for name, kind in self.kinds.items():
            path = os.path.join(directory, name)
            if kind in ("missing", "link", "pipe"):
                os.unlink(path)
            if kind == "link":
                os.symlink("/etc/hostname", path)
            elif kind == "pipe":
                os.mkfifo(path)
            elif kind == "unreadable":
                os.chmod(path, 0)
            elif kind == "changed":
                with open(path, "ab") as file:
                    file.write(b"x")

    def run(self, formstream, jobs, before):
        """The exit code, and the outcome and error code of each file."""
        seen = collections.Counter()

        def decide(upload):
            steps = REMOTE[self.kinds[upload.name]]
            seen[upload.name] += 1
            return steps[min(seen[upload.name], len(steps)) - 1]

        with Server(decide, remembers_keys=True) as server:
            run = send(formstream, "-j", str(jobs), "--response-timeout", "10", *self.words, "--sniff", "extension",
                       "--manifest", "../manifest", server.url, cwd=self.place / "in", before=before)
            names = server.names()
        states = {name_of(record): (record["outcome"], record["error"] and record["error"]["code"])
                  for record in run.records}
        for name, state in states.items():
            times = names[name]
            check(state[0] != "ok" or times > 0, f"mix {self.number}: {name.decode()} is ok and not stored")
            check(state[0] in ("ok", "unknown") or times == 0,
                  f"mix {self.number}: {name.decode()} is {state}, and stored")
        check(len(run.records) == len(self.kinds) == len(states), f"mix {self.number}: {len(run.records)} records")
        return run.exit, states


def fault_mixes(formstream, place, mixes=500, jobs=(1, 4, 50)):
    """The exit code and the states don't depend on the order of requests."""
    os.chmod(place, 0o755)
    formstream = shutil.copy(formstream, place / "formstream")
    before = AS_ANOTHER if os.geteuid() == 0 else []
    exits, outcomes = collections.Counter(), collections.Counter()
    differing = 0

    def compare(number):
        mix = Mix(number, place)
        mix.make()
        results = [mix.run(formstream, count, before) for count in jobs]
        shutil.rmtree(mix.place)
        return mix, results

    # They wait most of the time.
    with concurrent.futures.ThreadPoolExecutor(16) as pool:
        for mix, results in pool.map(compare, range(mixes)):
            first = results[0]
            for count, result in zip(jobs[1:], results[1:]):
                different = {name: (first[1].get(name), result[1].get(name)) for name in mix.kinds
                             if first[1].get(name) != result[1].get(name)}
                equal = first[0] == result[0] and not different
                differing += not equal
                check(equal, f"mix {mix.number} {mix.words}: -j {jobs[0]} ends with {first[0]}, -j {count} with "
                             f"{result[0]}; different: {different}")
            exits[first[0]] += 1
            outcomes.update(state[0] for state in first[1].values())
    print(f"{mixes} mixes of faults in {FILES} files, by -j {', '.join(map(str, jobs))}: {differing} runs differ; exit "
          f"codes {dict(sorted(exits.items()))}, outcomes {dict(outcomes)}", flush=True)
