"""Thirty nights of many folders, in each way of sending, and what the command and its reports claim about them.

Each folder has its own history: files change in all ways, the server fails, the program is killed at a request, and the clock is wrong.
After each run, what it says is compared with what the server has stored and what is on the disk. It is all drawn from a seed, but
for which of several requests at the same time comes first. In the environment, NIGHTS=8x6 chooses another number of folders and of
nights, SEED another seed, and FOLDER=9 only that folder.
"""

import collections
import hashlib
import json
import os
import pathlib
import random
import shutil
import socket
import subprocess

from trials import check, until

from .night_folder import Folder, own
from .night_server import NightServer
from .nights import AS_NOBODY
from .sent import Sent, path_of

SLICE = 150
DAY = 86400
# By how many seconds a clock can be wrong.
SKEWS = [-400 * DAY, -3 * 3600, -2, 1, 5 * 3600, 900 * DAY]


class Mode:
    """A way of sending. In it, a file that is sent twice `is_stored_once` if the server knows the request again."""

    def __init__(self, name, *flags, **facts):
        self.name, self.flags = name, flags
        self.puts = "--put" in flags
        self.slices = "--slice" in flags
        self.is_stored_once = self.puts or "--idempotency-key" in flags
        self.compares_contents = "--checksum" in flags
        self.all, self.keeps_lists, self.at_least = (facts.get(key, False) for key in ("all", "lists", "at_least"))


MODES = [
    Mode("forms", "-j", "4"),
    Mode("contents are compared", "--checksum", "-j", "6"),
    Mode("files as they are", "--put", "-j", "3"),
    Mode("keys", "--idempotency-key", "auto", "-j", "4"),
    Mode("slices", "--slice", str(SLICE), "-F", "slice={slice}", "-j", "5"),
    Mode("uploads that go on", "--resumable=tus", "--piece-size", "300", "-j", "3"),
    Mode("all again, and at least five", "--at-least", "5", "-j", "2", all=True, at_least=True),
    Mode("lists of failed files, and packed requests", "--checksum", "--per-request", "3", "-j", "8", lists=True),
]


class History:
    """The nights of one folder. `claims` counts what was compared with the truth."""

    def __init__(self, formstream, place, mode, seed, has_clocks):
        self.formstream, self.place, self.mode, self.has_clocks = formstream, place, mode, has_clocks
        self.name = f"{mode.name}, seed {seed}"
        self.draw = random.Random(seed)
        self.server = NightServer(seed)
        self.folder = Folder(place / "in", self.draw)
        self.runs, self.night = 0, 0
        # The versions that a run called ok, of files that nothing has happened to since.
        self.clean = {}
        # The versions that were on the disk when they were stored, and those that a record marks, by name.
        self.stored_as, self.marked = {}, collections.defaultdict(set)
        # The digests of contents that the server took for those of an earlier request, by its key.
        self.hidden = set()
        # Files that were not there when a run listed them.
        self.missed = set()
        self.read_journals = set()
        self.outcomes = collections.Counter()
        self.claims = self.kills = self.twice = 0
        for _ in range(40):
            self.folder.add()

    def claim(self, is_true, what):
        self.claims += 1
        check(is_true, f"{self.name}, night {self.night}, run {self.runs}: {what}")

    # What is true

    def parts(self, name, version):
        """The names and digests under which the server has a version if it has it."""
        _, _, digest = version
        if not self.mode.slices:
            return [(name, digest)]
        contents = self.folder.contents[digest]
        pieces = [contents[place:place + SLICE] for place in range(0, len(contents), SLICE)]
        return [(f"{name}#{number}", hashlib.sha256(piece).hexdigest()) for number, piece in enumerate(pieces)]

    def has(self, name, version):
        """Whether the server has this version, and nothing later."""
        return all(self.server.last.get(part) == digest for part, digest in self.parts(name, version))

    def is_current(self, name):
        """Whether the server has what is on the disk, as far as this mode looks at files."""
        version = self.folder.versions[name]
        if self.has(name, version):
            return True
        then = self.stored_as.get(name)
        # A clock that is wrong makes another file of the same size and time, in the same place, look as old as that one.
        may_differ = name not in self.missed or self.has_clocks
        return not self.mode.compares_contents and then is not None and then[:2] == version[:2] and may_differ

    def repeated(self, name, version):
        """Whether a version is stored twice, and nothing has happened to the file between."""
        if self.mode.puts:
            return False
        parts = dict(self.parts(name, version))
        epoch = self.folder.epochs[name]
        counts = collections.Counter(
            event.name for event in self.server.events if event.epoch == epoch and parts.get(event.name) == event.digest)
        return any(count > 1 for count in counts.values())

    # What is done

    def change(self):
        before = dict(self.folder.versions)
        kinds = self.folder.change()
        for name in before:
            if self.folder.versions.get(name) != before[name]:
                self.clean.pop(name, None)
        return kinds

    def command(self, *words, has_clock=False):
        before = AS_NOBODY if os.geteuid() == 0 else []
        if has_clock:
            clock = self.formstream.with_name("moved-clock.so")
            before = [*before, "env", f"LD_PRELOAD={clock}", f"MOVED_CLOCK={self.draw.choice(SKEWS)}"]
        # The other user can't write to the temporary directory of whoever runs the trial.
        environment = {**os.environ, "TMPDIR": str(self.place)}
        return subprocess.Popen([*before, self.formstream, *words], cwd=self.place, env=environment,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    def send(self, *more, fails=False, kill_at=None, source=("in",)):
        """Runs `send` to its end, or until it is killed, and judges what it says."""
        self.runs += 1
        url = self.server.url + ("{relative}" if self.mode.puts else "")
        names = [] if self.mode.puts else ["--filename", "{relative}"]
        # A list names its files. The next nights compare their contents if their digests are recorded.
        flags = [flag if source or flag != "--checksum" else "--sha256" for flag in self.mode.flags]
        words = ["send", "--json", "--retry", "1", "--retry-delay", "0.001", "--sniff", "extension", "--journal", "journals",
                 *flags, *names, *more, url, *source]
        has_clock = self.has_clocks and self.draw.random() < 0.4
        events = len(self.server.events)
        self.server.begin(self.runs, fails, kill_at, lambda: program.kill())
        program = self.command(*words, has_clock=has_clock)
        output, errors = program.communicate()
        self.settle()
        self.claim(not self.server.server.faults, f"{self.server.server.faults[:1]}")
        for name, old, new in self.server.conflicts:
            # If size and time are the same, only --checksum sees the change.
            is_hidden = not self.folder.seen[old].isdisjoint(self.folder.seen[new])
            self.claim(is_hidden and not self.mode.compares_contents, f"{name} has other contents, and the same key")
            self.hidden.add(new)
        self.server.conflicts.clear()
        done = subprocess.CompletedProcess(words, program.returncode, output, errors)
        sent = Sent(done)
        self.note(self.server.events[events:], "--all" in more)
        self.read_marks()
        is_killed = program.returncode == -9
        self.kills += is_killed
        if not is_killed:
            self.judge(sent, self.server.events[events:], is_list="--manifest" in more)
        return sent, is_killed

    def settle(self):
        """Waits until the server has handled all that a program has sent, also one that was killed."""
        # The server accepts connections in their order. When it has ended this one, it knows all earlier ones.
        with socket.create_connection(("127.0.0.1", int(self.server.url.rstrip("/").rsplit(":", 1)[1]))) as last:
            last.shutdown(socket.SHUT_WR)
            last.recv(1)
        check(until(lambda: not self.server.server.connections), "connections stay open")

    def note(self, events, sends_all):
        """Notes what a run has stored, and what it must not have stored."""
        if sends_all:
            for name in self.folder.versions:
                self.folder.changed(name)
        for event in events:
            name = event.name.split("#")[0]
            event.epoch = self.folder.epochs[name]
            version = self.folder.versions.get(name)
            self.claim(version is not None and (event.name, event.digest) in self.parts(name, version),
                       f"{event.name} was stored with wrong contents")
            self.claim(sends_all or self.has_clocks or name not in self.clean, f"{name} was sent again, and nothing has happened")
            self.clean.pop(name, None)
            if version and self.has(name, version):
                self.stored_as[name] = version
                self.missed.discard(name)

    def read_marks(self):
        for path in (self.place / "journals").glob("journal-*.jsonl"):
            if path not in self.read_journals:
                self.read_journals.add(path)
                for line in path.read_bytes().split(b"\n")[:-1]:
                    record = json.loads(line)
                    if record.get("maybe_duplicate"):
                        self.marked[self.relative(path_of(record))].add((record["size"], record["mtime_ns"]))

    def relative(self, path):
        path = os.path.join(os.fsencode(self.place), path)
        return os.path.relpath(path, os.fsencode(self.folder.root)).decode()

    # What is claimed

    def judge(self, sent, events, is_list):
        """Judges what a run says that came to its end."""
        self.claim(sent.summary is not None, f"it ended with {sent.exit} and no summary: {sent.errors[-300:]}")
        if sent.summary is None:
            return
        records = {self.relative(path_of(record)): record for record in sent.records}
        self.claim(len(records) == len(sent.records), "a file has two records")
        stored = {event.name.split("#")[0] for event in events}
        for name, record in records.items():
            outcome = record["outcome"]
            self.outcomes[outcome] += 1
            version = self.folder.versions.get(name)
            if outcome != "ok" and record["attempts"]:
                # It was to be sent once more, by --all or because of a doubt.
                self.clean.pop(name, None)
            if outcome == "ok":
                self.judge_accepted(name, version)
            # What was stored once can be sent again without harm, so that it may be retryable.
            # Of a file in slices, the server may have some.
            elif not self.mode.slices and (
                    outcome in ("failed", "source-changed") or outcome == "retryable" and not self.mode.is_stored_once):
                self.claim(name not in stored, f"{name} is {outcome}, and was stored")
        self.claim(sent.exit == sent.summary["exit"] == exit_code(records.values()),
                   f"it ended with {sent.exit}, and the outcomes are {sent.outcomes()}: {sent.errors[-300:]}")
        if sent.summary["resumed"] or is_list:
            return
        # It has listed the folder.
        visible = self.folder.visible()
        for name in visible - set(records):
            self.claim(self.is_current(name), f"{name} was left out, and the server does not have it")
        counts = sent.summary["round"]
        self.claim(sum(counts[key] for key in ("new", "changed", "again", "unchanged")) == len(visible),
                   f"the round is {counts}, and there are {len(visible)} files")
        if sent.summary["files"] == 0:
            self.claim(not events and not records, "nothing is new, and something was sent")
        for name in set(self.stored_as) - visible:
            if self.folder.is_visible(name):
                self.missed.add(name)

    def judge_accepted(self, name, version):
        self.claim(version is not None and (self.has(name, version) or version[2] in self.hidden),
                   f"{name} is ok, and the server has {self.server.last.get(name)}")
        if version is None:
            return
        if self.repeated(name, version):
            self.twice += 1
            self.claim(version[:2] in self.marked[name], f"{name} was stored twice, and is not marked")
        self.clean[name] = version

    def judge_report(self, last):
        """Judges the reports after a run that has listed the folder."""
        done = self.report("--json")
        said = json.loads(done.stdout)
        listed = self.report("--accepted", "-0").stdout.split(b"\0")[:-1]
        accepted = {self.relative(path) for path in listed}
        lines = self.report("--failures", "-0").stdout.split(b"\0")[:-1]
        failures = {self.relative(line.split(b"\t")[0]): line.split(b"\t")[1] for line in lines}
        for name in accepted:
            self.claim(name in self.folder.versions and self.is_current(name), f"--accepted has {name}, and the server does not")
        visible = self.folder.visible()
        for name in set(self.clean) & visible - self.folder.closed:
            self.claim(name in accepted, f"--accepted does not have {name}, which is ok")
            self.claim(name not in failures, f"--failures has {name}, which is ok")
        for record in last.records:
            name = self.relative(path_of(record))
            if record["outcome"] != "ok":
                self.claim(name in failures, f"--failures does not have {name}, which is {record['outcome']}")
        self.claim(said["missing"] == 0 and len(failures) == said["files"] - said["ok"],
                   f"--failures has {len(failures)} files, and the report says {said}")
        names = {event.name for event in self.server.events}
        versions = collections.Counter((event.name, event.digest) for event in self.server.events)
        self.claim(said["duplicates"] <= len({name for (name, _), count in versions.items() if count > 1}),
                   f"the report says {said['duplicates']} duplicates")
        # A file that could not be compared in this round counts as failed.
        repeated = {name for name, version in self.clean.items()
                    if name not in self.folder.closed and self.repeated(name, version)}
        self.claim(len(repeated) <= said["duplicates"] + said["maybe_duplicates"] or self.mode.all,
                   f"{len(repeated)} files are stored twice, and the report says {said}")
        self.claim(len({name.split("#")[0] for name in names}) >= said["ok"], f"the report says {said['ok']} files are ok")
        is_well = said["ok"] == said["files"] and said["duplicates"] + said["maybe_duplicates"] == 0
        self.claim((done.returncode == 0) == is_well, f"the report ended with {done.returncode}, and says {said}")
        if done.returncode == 0:
            self.claim(all(map(self.is_current, visible)), "the report ended with 0, and a file is missing")

    def report(self, *words):
        program = self.command("report", *words, "journals")
        output, errors = program.communicate()
        return subprocess.CompletedProcess(words, program.returncode, output, errors)

    # What happens

    def one_night(self):
        self.night += 1
        if self.night > 1:
            self.change()
        if self.mode.at_least and self.draw.random() < 0.1 and self.night > 1:
            self.without_folder()
        fails = self.draw.random() < 0.35
        if self.draw.random() < 0.4:
            self.send(fails=fails, kill_at=self.draw.randrange(1, 12 if self.night > 1 else 60))
            if self.draw.random() < 0.3:
                self.change()
        more = ["--all"] if self.mode.all and self.draw.random() < 0.2 else []
        sent, _ = self.send(*more, fails=fails)
        for _ in range(3):
            if not sent.summary or not sent.summary["resumed"]:
                break
            # It has gone on with the round before, and not listed the folder.
            sent, _ = self.send(*more, fails=fails)
        if self.mode.keeps_lists and sent.exit:
            self.send_list(fails)
            sent, _ = self.send()
            if sent.summary and sent.summary["resumed"]:
                sent, _ = self.send()
        self.judge_report(sent)

    def without_folder(self):
        """The folder's disk is missing. Nothing may be sent, and nothing counts as gone."""
        away = self.place / "away"
        self.folder.root.rename(away)
        self.folder.root.mkdir()
        own(self.folder.root)
        self.runs += 1
        self.server.begin(self.runs)
        program = self.command("send", "--json", "--journal", "journals", *self.mode.flags, "--filename", "{relative}",
                               self.server.url, "in")
        program.communicate()
        self.claim(program.returncode in (66, 74), f"without the folder, it ended with {program.returncode}")
        self.claim(self.server.requests == 0, "something was sent without the folder")
        self.folder.root.rmdir()
        away.rename(self.folder.root)

    def send_list(self, fails):
        """Writes the list of what was not accepted, changes some files, and sends the list."""
        self.report("--failed", "rest")
        self.change()
        if (self.place / "rest").exists():
            self.send("--manifest", "rest", fails=fails, source=())
            (self.place / "rest").unlink(missing_ok=True)


def exit_code(records):
    """The exit code of a run with these records."""
    outcomes = {record["outcome"] for record in records}
    codes = {record["error"]["code"] for record in records if record["outcome"] == "failed"}
    inputs = {"input-missing", "input-unreadable", "not-compared", "not-a-file"}
    for applies, code in ((outcomes & {"unknown"}, 3), (codes - inputs, 1), (outcomes & {"source-changed"}, 74), (codes & inputs, 66),
                          (outcomes & {"retryable"}, 75)):
        if applies:
            return code
    return 0


def nights_in_modes(formstream, place, folders=40, nights=30):
    """What `send` and `report` claim is true in each night, whatever happens to files, server, clock and program."""
    folders, nights = (int(number) for number in os.environ.get("NIGHTS", f"{folders}x{nights}").split("x"))
    seed = int(os.environ.get("SEED", "44"))
    # The other user has to reach all of it.
    place.chmod(0o755)
    program = shutil.copy(formstream, place / "formstream")
    subprocess.run(["cc", "-O2", "-Wall", "-shared", "-fPIC", "-o", place / "moved-clock.so",
                    pathlib.Path(__file__).with_name("moved-clock.c")], check=True)
    claims = 0
    only = os.environ.get("FOLDER")
    for number in range(folders):
        if only and number != int(only):
            continue
        mode = MODES[number % len(MODES)]
        home = place / str(number)
        home.mkdir()
        own(home)
        history = History(program, home, mode, seed * 1000 + number, has_clocks=number // len(MODES) % 5 == 1)
        with history.server:
            for _ in range(nights):
                history.one_night()
        claims += history.claims
        print(f"{history.name}: {nights} nights, {history.runs} runs, {history.kills} killed, {history.claims} claims; "
              f"{dict(history.outcomes)}; {history.twice} times a version was stored twice and marked", flush=True)
        subprocess.run(["chmod", "-R", "u+rwx", home])
        shutil.rmtree(home)
    print(f"seed {seed}: {folders} folders, {nights} nights each: {claims} claims", flush=True)
