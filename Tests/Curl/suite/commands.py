"""Runs a test's command line with curl, and with formstream in its place."""

import os
import pathlib
import shlex
import shutil
import subprocess

HERE = pathlib.Path(__file__).resolve().parent


class Ended:
    """What a command did: its exit code, its output, and the files that it left."""

    def __init__(self, code, output, errors, files):
        self.code = code
        self.output = output
        self.errors = errors
        self.files = files


class NotRunnable(Exception):
    """A test that can't be run here, and why."""


def prepare(test, place):
    """The directory of a test: the files that it asks for."""
    shutil.rmtree(place, ignore_errors=True)
    (place / "log").mkdir(parents=True)
    for suffix in ("", "1", "2", "3", "4"):
        part = test.part("client", "file" + suffix)
        if part and "name" in part.attributes:
            path = place / part.attributes["name"]
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(part.content)
    stdin = test.part("client", "stdin")
    (place / "stdin").write_bytes(stdin.content if stdin else b"")


def environment(test, place):
    kept = {name: os.environ[name] for name in ("PATH", "TZ") if name in os.environ}
    # curl's suite is run with such a home, so that no file of the user's has a say.
    result = kept | {"HOME": str(place), "LC_ALL": "C.UTF-8", "CURL_NOT_MEMDEBUG": "1"}
    for line in test.lines("client", "setenv"):
        name, _, value = line.partition("=")
        if name == "LD_PRELOAD":
            raise NotRunnable("needs a library of the suite")
        result.pop(name, None)
        if value:
            # Any locale of UTF-8 will do, and this one is on each machine.
            result[name] = value.replace("en_US.UTF-8", "C.UTF-8")
    return result


def snapshot(place):
    return {str(path.relative_to(place)): path.read_bytes()
            for path in sorted(place.rglob("*")) if path.is_file() and not path.is_symlink()}


def arguments(test):
    """The words of a test after "curl"."""
    return test.part("client", "command").content.decode(errors="surrogateescape").replace("\n", " ").strip()


def run(program, test, place, words):
    """Runs `program` (words of the shell) with the words of a test."""
    prepare(test, place)
    before = snapshot(place)
    line = f"{program} {words}".replace("%CURL", program)
    try:
        done = subprocess.run(
            ["sh", "-c", os.fsencode(f"{{ {os.fsdecode(os.fsencode(line))}\n}} < stdin")], cwd=place, capture_output=True,
            timeout=40, env=environment(test, place))
        code, output, errors = done.returncode, done.stdout, done.stderr
    except subprocess.TimeoutExpired as late:
        code, output, errors = 124, late.stdout or b"", b"(did not end)"
    after = snapshot(place)
    files = {name: content for name, content in after.items() if before.get(name) != content}
    files |= {name: None for name in before if name not in after}
    return Ended(code, output, errors, files)


def ours(formstream):
    return f"python3 -IB {shlex.quote(str(HERE / 'as-formstream'))} {shlex.quote(str(formstream))}"
