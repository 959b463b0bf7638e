#!/usr/bin/env python3
"""Sends a manifest by Samples/cluster/send.slurm on a Slurm of three nodes, which fail.

usage: slurm.py FORMSTREAM [TRIAL...]
"""

import collections
import json
import os
import pathlib
import random
import shutil
import subprocess
import sys
import time

sys.dont_write_bytecode = True
from many_files.sent import name_of, report
from many_files.shards import (
    SAMPLES, SHARDS, keep_name_and_digest, make_manifest, names_of_shard, path_with, stored_by)
from many_files.slurm import NODES, Slurm
from trials import Receiver, check, digest, main


def submit(slurm, formstream, place, url, *flags, manifest="photos.manifest"):
    """Submits the sample."""
    path = path_with(formstream, place, slurm.environment["PATH"])
    said = slurm.call("sbatch", f"--chdir={place}", *flags, str(SAMPLES / "send.slurm"), URL=url, PATH=path, MANIFEST=manifest)
    check("Submitted" in said, f"sbatch: {said}")


def fail_something(slurm, draw, counts):
    """Does to a random running task, or its node, what happens on a cluster."""
    running = slurm.running()
    if not running:
        return
    task, node = draw.choice(running)
    what = draw.choice(["node lost with its tasks", "node lost, its tasks go on", "task requeued", "task requeued"])
    counts[what] += 1
    if what == "task requeued":
        slurm.call("scontrol", "requeue", task)
    else:
        slurm.lose(node, with_tasks=what == "node lost with its tasks")


def in_journals(directory):
    """How often each name was accepted, by the journals; which have a mark; and which of these in the only journal of
    their shard, where nothing ever failed."""
    accepted, marked, runs = collections.Counter(), {}, collections.Counter()
    for path in pathlib.Path(directory).glob("journal-*.jsonl"):
        lines = [json.loads(line) for line in path.read_bytes().split(b"\n")[:-1]]
        shard = lines[0]["shard"] if lines else None
        runs[shard] += 1
        for record in lines:
            if record.get("outcome") == "ok":
                accepted[name_of(record)] += 1
            if record.get("maybe_duplicate"):
                marked[name_of(record)] = shard
    return accepted, set(marked), {name for name, shard in marked.items() if runs[shard] == 1}


def failing_nodes(formstream, place, count=100_000, failures=20):
    """After all failures and requeues, none is missing, and duplicates are known."""
    draw = random.Random(15)
    digests = make_manifest(formstream, place, count)
    receiver = Receiver(formstream, keep=keep_name_and_digest)
    counts, submitted = collections.Counter(), 0
    with Slurm(place / "slurm") as slurm:
        begun = time.monotonic()
        while submitted < 10:
            submit(slurm, formstream, place, receiver.url)
            submitted += 1
            while slurm.is_busy():
                time.sleep(draw.random())
                if sum(counts.values()) < failures:
                    fail_something(slurm, draw, counts)
                slurm.help_waiting()
            said = report(formstream, "--manifest", "photos.manifest", "journals", cwd=place)
            # Tasks of lost nodes may still run: they are a part of what has to come out well.
            if said["ok"] == count:
                break
        seconds = time.monotonic() - begun
    receiver.end()
    stored = stored_by(receiver, digests, "Slurm")
    said = report(formstream, "--manifest", "photos.manifest", "journals", cwd=place)
    accepted, marked, marked_alone = in_journals(place / "journals")
    check(len(stored) == count and said["ok"] == count and said["missing"] == 0, f"{len(stored)} are stored, {said}")
    check(set(accepted) == set(digests), "the journals prove others than the report says")
    twice = {name for name, times in stored.items() if times > 1}
    known = marked | {name for name, times in accepted.items() if times > 1}
    check(twice <= known, f"{len(twice - known)} duplicates are not known")
    check(said["duplicates"] + said["maybe_duplicates"] >= len(twice), f"{len(twice)} are stored twice: {said}")
    check(not marked_alone, f"{len(marked_alone)} files are marked in shards that were never interrupted")
    check(sum(counts.values()) >= failures, f"only {sum(counts.values())} failures")
    print(f"{count} files in {SHARDS} tasks of Slurm on {len(NODES)} nodes; {dict(counts)}; submitted {submitted} "
          f"times; {seconds:.0f} s: {len(stored)} stored, none missing, {len(twice)} twice, all of them known; the report has "
          f"{said['journals']} journals, {said['open_journals']} without an end, {said['duplicates']} duplicates and "
          f"{said['maybe_duplicates']} possible ones", flush=True)


def rounds(formstream, place, count=20_000, nights=4):
    """The manifest of each night has what is new or has changed. Nodes fail, and each version arrives."""
    draw = random.Random(28)
    make_manifest(formstream, place, count)
    (place / "photos.manifest").rename(place / "night-1.manifest")
    versions = {path: digest(path) for path in (place / "photos").rglob("*.jpg")}
    expected = {(path.name.encode(), each) for path, each in versions.items()}
    receiver = Receiver(formstream, keep=keep_name_and_digest)
    counts = collections.Counter()
    with Slurm(place / "slurm") as slurm:
        for night in range(1, nights + 1):
            manifest = f"night-{night}.manifest"
            if night > 1:
                paths = draw.sample(sorted(versions), count // 50)
                for number, path in enumerate(paths):
                    match number % 3:
                        case 0:
                            path.write_bytes(f"{path.name} in night {night}".encode())
                            versions[path] = digest(path)
                        case 1:
                            path.unlink()
                            del versions[path]
                        case 2:
                            new = path.with_name(f"new-{night}-{path.name}")
                            new.write_bytes(f"{new.name}".encode())
                            versions[new] = digest(new)
                expected |= {(path.name.encode(), each) for path, each in versions.items()}
                subprocess.run([formstream, "plan", "-q", "--sort", "-o", manifest, "--against", "journals", "photos"],
                               cwd=place, check=True)
            failures = 0
            for _ in range(10):
                submit(slurm, formstream, place, receiver.url, manifest=manifest)
                while slurm.is_busy():
                    time.sleep(draw.random() / 2)
                    if failures < 2:
                        before = sum(counts.values())
                        fail_something(slurm, draw, counts)
                        failures += sum(counts.values()) - before
                    slurm.help_waiting()
                said = report(formstream, "--manifest", manifest, "journals", cwd=place)
                if said["ok"] == said["files"]:
                    break
            check(said["ok"] == said["files"], f"night {night}: {said}")
    receiver.end()
    stored = collections.Counter(receiver.records)
    accepted, marked, _ = in_journals(place / "journals")
    missing = expected - set(stored)
    twice = {key for key, times in stored.items() if times > 1}
    unknown = {key for key in twice if key[0] not in marked}
    check(not missing, f"{len(missing)} versions are missing, such as {sorted(missing)[:2]}")
    check(set(stored) <= expected, "there are other contents")
    check(not unknown, f"{len(unknown)} versions arrived twice without a mark, such as {sorted(unknown)[:2]}")
    print(f"{nights} nights of {count} files on Slurm; {dict(counts)}: {len(expected)} versions, none missing, {len(twice)} twice "
          f"and marked", flush=True)


def some_tasks(formstream, place, count=20_000):
    """An array of two tasks sends their shards and nothing else, and all tasks the rest."""
    digests = make_manifest(formstream, place, count)
    with Slurm(place / "slurm") as slurm:
        for array, wanted in (("3,5", names_of_shard(place / "photos.manifest", 4)
                               | names_of_shard(place / "photos.manifest", 6)), (None, set(digests))):
            receiver = Receiver(formstream, keep=keep_name_and_digest)
            submit(slurm, formstream, place, receiver.url, *([f"--array={array}"] if array else []))
            while slurm.is_busy():
                time.sleep(0.1)
            receiver.end()
            stored = stored_by(receiver, digests, "Slurm")
            check(set(stored) == wanted and max(stored.values()) == 1,
                  f"--array={array}: {len(stored)} are stored instead of {len(wanted)}")
            print(f"--array={array}: {len(stored)} files stored once, of {len(wanted)}", flush=True)
            said = report(formstream, "--manifest", "photos.manifest", "journals", cwd=place)
            check(said["ok"] == len(wanted) and said["missing"] == count - len(wanted), f"the report says {said}")
            shutil.rmtree(place / "journals")


if __name__ == "__main__":
    if os.geteuid() != 0:
        sys.exit("Only root may start nodes with a boot of their own.")
    sys.exit(main([some_tasks, failing_nodes, rounds]))
