"""A manifest that several processes share, as schedulers start them."""

import collections
import json
import os
import pathlib
import re
import shutil
import subprocess
import time

from trials import Receiver, check, digest

from .sent import name_of, report
from .server import Server

SAMPLES = pathlib.Path(__file__).resolve().parents[3] / "Samples" / "cluster"
SHARDS = 64


def make_manifest(formstream, place, count):
    """Makes files in directories of 1000, and their manifest; returns their digests by name."""
    digests = {}
    for number in range(count):
        directory = place / "photos" / f"{number // 1000:04}"
        if number % 1000 == 0:
            directory.mkdir(parents=True)
        path = directory / f"{number:07}.jpg"
        path.write_bytes(f"photo {number}".encode())
        digests[path.name.encode()] = digest(path)
    subprocess.run([formstream, "plan", "--sort", "-o", "photos.manifest", "photos"], cwd=place, check=True)
    return digests


def names_of_shard(manifest, number, shards=SHARDS):
    """The file names of a shard, by the rule of the documentation."""
    with open(manifest, "rb") as file:
        header = len(file.readline())
        size = os.path.getsize(manifest) - header
        begin, end = (number - 1) * size // shards, number * size // shards
        names, offset = set(), 0
        for line in file:
            if begin <= offset < end:
                names.add(name_of({"path_b64": None, **json.loads(line)}))
            offset += len(line)
    return names


def keep_name_and_digest(record):
    file = record["parts"][-1] if record["complete"] else {"filename": "", "sha256": None}
    return file["filename"].encode(), file["sha256"]


def stored_by(receiver, digests, what):
    """How often the receiver has stored each name; it has no other contents."""
    stored = collections.Counter(name for name, _ in receiver.records)
    wrong = sum(digests.get(name) != each for name, each in receiver.records)
    check(wrong == 0, f"{what}: {wrong} uploads are wrong")
    return stored


def compared(record):
    """What has to be the same in the reports of all ways."""
    return {key: value for key, value in record.items() if key not in ("manifest", "journals")}


def sample_arguments(url):
    """The arguments of the Kubernetes sample, for files in the current directory."""
    text = (SAMPLES / "send.kubernetes.yaml").read_text()
    words = re.search(r"\n +args:\n((?: +- .*\n)+)", text)[1].split("\n")
    words = [word.strip().removeprefix("- ") for word in words if word.strip()]
    return [url if word.startswith("https://") else word.replace("/data/", "") for word in words]


def path_with(formstream, place, path):
    """A value of PATH by which samples find the program, whatever its own name is."""
    programs = place / "programs"
    programs.mkdir(exist_ok=True)
    if not (programs / "formstream").exists():
        (programs / "formstream").symlink_to(os.path.abspath(formstream))
    return f"{programs}:{path}"


def by_parallel(formstream, place, url):
    """Runs the sample for GNU parallel. Returns the exit code, and those of the shards."""
    path = path_with(formstream, place, os.environ["PATH"])
    done = subprocess.run([SAMPLES / "send.parallel", url], cwd=place, env={**os.environ, "PATH": path},
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    log = (place / "parallel.log").read_text().splitlines()[1:]
    return done.returncode, [int(line.split("\t")[6]) for line in log]


def by_variable(variable):
    """Runs the command of the Kubernetes sample for each number, as an indexed job or an array job does."""

    def start(formstream, place, url):
        codes = []
        running = []
        for number in range(SHARDS):
            running.append(subprocess.Popen(
                [formstream, *sample_arguments(url)], cwd=place, env={**os.environ, variable: str(number)},
                stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL))
            if len(running) == 8 or number == SHARDS - 1:
                codes += [each.wait() for each in running]
                running = []
        return max(codes), codes

    return start


WAYS = {
    "GNU parallel": by_parallel,
    "JOB_COMPLETION_INDEX": by_variable("JOB_COMPLETION_INDEX"),
    "AWS_BATCH_JOB_ARRAY_INDEX": by_variable("AWS_BATCH_JOB_ARRAY_INDEX"),
}


def schedulers(formstream, place, count=100_000):
    """GNU parallel and the variables of Kubernetes and AWS give the same report."""
    digests = make_manifest(formstream, place, count)
    reports = {}
    for way, start in WAYS.items():
        if way == "GNU parallel" and shutil.which("parallel") is None:
            check(False, "GNU parallel is not installed")
            continue
        receiver = Receiver(formstream, keep=keep_name_and_digest)
        begun = time.monotonic()
        code, codes = start(formstream, place, receiver.url)
        seconds = time.monotonic() - begun
        receiver.end()
        check(code == 0 and codes == [0] * SHARDS, f"{way}: ended with {code}, its shards with {codes}")
        stored = stored_by(receiver, digests, way)
        check(len(stored) == count and len(receiver.records) == count, f"{way}: {len(stored)} of {count} are stored")
        reports[way] = report(formstream, "--manifest", "photos.manifest", "journals", cwd=place)
        check(reports[way]["ok"] == count and reports[way]["exit"] == 0, f"{way}: {reports[way]}")
        shutil.rmtree(place / "journals")
        print(f"{count} files in {SHARDS} shards by {way}: {len(stored)} stored; {seconds:.0f} s", flush=True)
    distinct = {json.dumps(compared(record)) for record in reports.values()}
    check(len(distinct) == 1, f"the reports differ: {distinct}")
    print(f"The merged report of all: {distinct.pop()}")


def large_manifest(formstream, place, size=10 << 30, rounds=5):
    """A shard of a manifest of 10 GB sends its first request within 200 ms."""
    (place / "photos").mkdir()
    lines = []
    for number in range(1000):
        path = place / "photos" / f"{number:04}"
        path.write_bytes(b"x" * 100)
        os.utime(path, ns=(0, 0))
        lines.append(b'{"path":"photos/%04d","path_b64":null,"size":100,"mtime_ns":0}\n' % number)
    piece = b"".join(lines) * 100
    manifest = place / "manifest"
    with open(manifest, "wb") as file:
        file.write(b'{"schema":"formstream.manifest/1","id":"8f8a6f84-5f5e-4a30-9b9c-3f6c3c1b6a55","root":null}\n')
        while file.tell() < size:
            file.write(piece)
        file.flush()
        os.fsync(file.fileno())
    times = []
    for shard in [1, SHARDS, *range(2, SHARDS, max(1, (SHARDS - 2) // rounds))]:
        with open(manifest, "rb") as file:
            # Not from memory: a node reads its shard for the first time.
            os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
        arrived = []

        def begin(head):
            arrived.append(time.monotonic())
            return True

        with Server(begin=begin) as server:
            begun = time.monotonic()
            program = subprocess.Popen(
                [formstream, "send", "--manifest", "manifest", "--shard", f"{shard}/{SHARDS}", "--journal", "journals",
                 "-j", "1", "--retry", "0", server.url], cwd=place,
                stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            while not arrived and program.poll() is None:
                time.sleep(0.001)
            program.kill()
            program.wait()
        check(arrived, f"shard {shard} sends nothing")
        times += [each - begun for each in arrived[:1]]
        shutil.rmtree(place / "journals")
    check(max(times) <= 0.2, f"a first request comes after {max(times):.3f} s")
    print(f"{len(times)} shards of {SHARDS} of a manifest of {manifest.stat().st_size / 1e9:.1f} GB: the first request "
          f"within {max(times) * 1e3:.0f} ms, the median after {sorted(times)[len(times) // 2] * 1e3:.0f} ms")
    manifest.unlink()
