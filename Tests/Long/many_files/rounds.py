"""A directory of journals of 10,000 rounds: what a night and a report cost, with and without a state that sums up old rounds."""

import json
import os
import resource
import shutil
import subprocess
import time
import uuid

from trials import check

from .server import Server

# The time of all files, in nanoseconds since 1970.
TIME = 1_700_000_000_000_000_000


def few_files():
    """Leaves a process as many open files as "ulimit -n 256" does."""
    resource.setrlimit(resource.RLIMIT_NOFILE, (256, 256))


def measured(at, *words, cwd):
    """Runs a command. Returns its output, its seconds, and the most memory that it took, in MiB."""
    begun = time.monotonic()
    with open(cwd / "output", "w+b") as output, open(cwd / "errors", "w+b") as errors:
        running = subprocess.Popen(words, cwd=cwd, stdout=output, stderr=errors, preexec_fn=few_files)
        _, status, usage = os.wait4(running.pid, 0)
        running.returncode = os.waitstatus_to_exitcode(status)
        seconds = time.monotonic() - begun
        output.seek(0)
        errors.seek(0)
        text, said = output.read().decode(), errors.read().decode()
    check(running.returncode == 0, f"{at}: it ended with {running.returncode}: {said[-300:]}")
    print(f"  {at}: {seconds:.2f} s, {usage.ru_maxrss / 1024:.0f} MiB", flush=True)
    return text, said


def make_file(folder, name):
    path = folder / name
    path.write_bytes(b"a")
    os.utime(path, ns=(TIME, TIME))


def make_rounds(place, rounds, share):
    """Adds rounds to a directory that has the first one. Each is as if a run had sent some more files."""
    journals, folder = place / "journals", place / "in"
    manifest = json.loads((journals / "manifest.jsonl").read_bytes().split(b"\n")[0])
    journal = json.loads(next(journals.glob("journal-*")).read_bytes().split(b"\n")[0])
    for number in range(2, rounds + 1):
        before, run = journal["run"], str(uuid.uuid4())
        manifest |= {"id": str(uuid.uuid4()), "round": {"number": number, "new": share}, "journals": [before]}
        journal |= {"manifest": manifest["id"], "manifest_bytes": None, "run": run, "begun_ns": journal["begun_ns"] + 10**9}
        text, records = json.dumps(manifest) + "\n", ""
        for each in range(share):
            name = f"f{number:05}-{each}"
            make_file(folder, name)
            file = {"path": name, "path_b64": None, "size": 1, "mtime_ns": TIME, "index": (number - 1) * share + each}
            records += json.dumps({"schema": "formstream.started/1", "offset": len(text)}, separators=(",", ":")) + "\n"
            records += json.dumps({"schema": "formstream.record/2", "manifest": manifest["id"], "offset": len(text), "path": name,
                                   "path_b64": None, "size": 1, "mtime_ns": TIME, "status": 200, "outcome": "ok", "attempts": 1,
                                   "maybe_duplicate": False, "seconds": 0.001, "response": None, "error": None},
                                  separators=(",", ":")) + "\n"
            text += json.dumps(file) + "\n"
        (journals / f"manifest-{number}.jsonl").write_text(text)
        (journals / f"journal-all-{run}.jsonl").write_text(
            json.dumps(journal, separators=(",", ":")) + "\n" + records + '{"schema":"formstream.closed/1","complete":true}\n')


def many_rounds(formstream, place, rounds=10_000, share=3):
    """A night and a report after many rounds cost what they cost after one, and need no more open files."""
    folder, journals = place / "in", place / "journals"
    folder.mkdir()
    with Server() as server:
        sent = share
        send = [formstream, "send", "-q", "--journal", "journals", server.url, "in"]

        def night(at, name):
            make_file(folder, name)
            measured(f"a night {at}", *send, cwd=place)
            check(server.stored.total() == sent, f"{at}: the server has {server.stored.total()} files, not {sent}")

        def report(at, files):
            text, _ = measured(f"a report {at}", formstream, "report", "journals", cwd=place)
            lines = text.splitlines()
            check(lines[0].startswith(f"{files} files: {files} ok."), f"{at}: it says {lines}")
            return lines[1:]

        for each in range(share):
            make_file(folder, f"f00001-{each}")
        measured("the first night", *send, cwd=place)
        make_rounds(place, rounds, share)
        files = rounds * share
        # The same files in one round.
        shutil.copytree(journals, place / "kept")
        shutil.rmtree(journals)
        sent += files
        measured(f"the first night with {files} files", *send, cwd=place)
        sent += 1
        night("after one round with all files", "one")
        report("after two rounds", files + 1)
        shutil.rmtree(journals)
        (folder / "one").unlink()
        (place / "kept").rename(journals)
        report(f"after {rounds} rounds, without a state", files)
        sent += 1
        night(f"after {rounds} rounds, without a state, which it makes", "two")
        check((journals / "state.jsonl").exists(), "there is no state")
        sent += 1
        night("with the state", "three")
        said = report("with the state", files + 2)
        check(said[0].startswith(f"{rounds + 2} manifests, {rounds + 2} journals"), f"the report says {said}")
        listed, _ = measured("a list of what may be deleted", formstream, "report", "--deletable", "-0", "journals", cwd=place)
        for name in listed.split("\0")[:-1]:
            (place / name).unlink()
        left = len(list(journals.iterdir()))
        check(left < 100, f"{left} files are left")
        sent += 1
        night("without the files that it sums up", "four")
        said = report("without these files", files + 3)
        check(said[0].startswith(f"{rounds + 3} manifests, {rounds + 3} journals"), f"the report says {said}")
