"""Runs `formstream send`, and reads what it says and its journals."""

import base64
import collections
import json
import pathlib
import subprocess


def path_of(record):
    """The exact path of a record."""
    if record["path_b64"] is not None:
        return base64.b64decode(record["path_b64"])
    return record["path"].encode()


def name_of(record):
    """The file name of a record's path."""
    return path_of(record).rsplit(b"/", 1)[-1]


class Sent:
    """A run of `formstream send`: its exit code, its records and its summary."""

    def __init__(self, done):
        self.exit = done.returncode
        self.errors = done.stderr.decode(errors="replace")
        # The last line may be torn if the program was killed.
        lines = done.stdout.split(b"\n")[:-1]
        parsed = [json.loads(line) for line in lines]
        self.records = [each for each in parsed if each["schema"] == "formstream.record/2"]
        summaries = [each for each in parsed if each["schema"] == "formstream.summary/1"]
        self.summary = summaries[0] if summaries else None

    def names(self, **wanted):
        """The names of the files whose records have these values."""
        return {name_of(record) for record in self.records
                if all(record[key] == value for key, value in wanted.items())}

    def outcomes(self):
        return collections.Counter(record["outcome"] for record in self.records)


def send(formstream, *words, before=(), **options):
    """Runs `formstream send --json` to its end. `before` is what starts it."""
    return Sent(subprocess.run(
        [*before, formstream, "send", "--json", *words],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, **options))


def proven(journals):
    """The names of the files that the journals in a directory prove to be accepted."""
    names = set()
    for path in pathlib.Path(journals).glob("journal-*.jsonl"):
        for line in path.read_bytes().split(b"\n")[:-1]:
            record = json.loads(line)
            if record.get("outcome") == "ok":
                names.add(name_of(record))
    return names


def report(formstream, *words, **options):
    """What `formstream report --json` says."""
    done = subprocess.run([formstream, "report", "--json", *words],
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, **options)
    if not done.stdout:
        raise RuntimeError(f"The report ended with {done.returncode}: {done.stderr.decode()}")
    return json.loads(done.stdout)


def make_files(directory, count, size=4096):
    """Makes files of different contents in a new directory, and returns their contents by name."""
    directory.mkdir(parents=True)
    contents = {}
    for number in range(count):
        name = f"f{number:06}".encode()
        contents[name] = (f"{number:09} " * (size // 10 + 1)).encode()[:size]
        (directory / name.decode()).write_bytes(contents[name])
    return contents
