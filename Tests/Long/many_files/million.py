"""A million files: memory, and how early the first request is sent."""

import hashlib
import os
import pathlib
import shutil
import tempfile
import time

from trials import Receiver, check, peak_of, run

KIB = 1024


def contents_of(number):
    return f"{number:015} ".encode() * (KIB // 16)


def make_tree(root, directories, each):
    """Makes directories with files of 1 KiB, of which no two have the same name or contents."""
    number = 0
    for directory in range(directories):
        path = os.path.join(root, f"d{directory:04}")
        os.makedirs(path)
        for _ in range(each):
            with open(os.path.join(path, f"f{number:07}"), "wb", buffering=0) as file:
                file.write(contents_of(number))
            number += 1


class Arrivals:
    """Counts the files that arrive, each in a bit, and those whose contents are wrong."""

    def __init__(self, count):
        self.seen, self.wrong, self.twice = bytearray(count), 0, 0

    def __call__(self, record):
        file = record["parts"][0]
        number = int(file["filename"][1:])
        if not record["complete"] or file["size"] != KIB or file["sha256"] != self.digest(number):
            self.wrong += 1
        self.twice += self.seen[number]
        self.seen[number] = 1

    @staticmethod
    def digest(number):
        return hashlib.sha256(contents_of(number)).hexdigest()


def place_for(bytes_needed, files_needed, place):
    """A directory in memory if there is room for the files, or else `place`."""
    memory = pathlib.Path("/dev/shm")
    if memory.is_dir():
        room = os.statvfs(memory)
        free = int(next(line for line in open("/proc/meminfo") if line.startswith("MemAvailable")).split()[1]) * KIB
        if min(room.f_bavail * room.f_frsize, free // 2) > bytes_needed and room.f_favail > files_needed:
            return memory
    return place


def million_files(formstream, place, directories=1000, each=1000):
    """Memory does not grow with the number of files."""
    count = directories * each
    # A file of 1 KiB takes a page, and its inode about as much again.
    with tempfile.TemporaryDirectory(dir=place_for(count * 6 * KIB, count, place)) as name:
        peaks, seconds = {}, {}
        for wanted, tree in ((1000, (10, 100)), (count, (directories, each))):
            root = os.path.join(name, f"tree-{wanted}")
            make_tree(root, *tree)
            arrivals = Arrivals(wanted)
            receiver = Receiver(formstream, keep=arrivals)
            begun = time.monotonic()
            peaks[wanted] = peak_of(formstream, "send", "--quiet", "-j", "8", receiver.url, root)
            seconds[wanted] = time.monotonic() - begun
            receiver.end()
            check(sum(arrivals.seen) == wanted, f"{sum(arrivals.seen)} of {wanted} files arrived")
            check(not arrivals.wrong and not arrivals.twice,
                  f"{arrivals.wrong} are wrong, {arrivals.twice} arrived twice")
            print(f"{wanted} files of 1 KiB: {sum(arrivals.seen)} arrived; peak {peaks[wanted]} KiB; "
                  f"{seconds[wanted]:.1f} s, {seconds[wanted] / wanted * 1e6:.0f} µs a file", flush=True)
            shutil.rmtree(root)
    grown = peaks[count] - peaks[1000]
    check(grown <= 16 * KIB, f"memory grows by {grown} KiB")
    print(f"{count} files against 1000: {grown:+} KiB")


def early_request(formstream, place, directories=1000, each=20):
    """The first connection is made before most directories are listed."""
    root = place / "tree"
    make_tree(root, directories, each)
    trace = place / "trace"
    receiver = Receiver(formstream, "--no-digest", keep=lambda record: None)
    done = run("strace", "-f", "--seccomp-bpf", "-e", "trace=connect,getdents64", "-o", str(trace),
               formstream, "send", "--quiet", "-j", "8", receiver.url, str(root))
    receiver.end()
    check(done.returncode == 0, f"it ended with {done.returncode}: {done.stderr.decode()}")
    check(len(receiver.records) == directories * each, f"{len(receiver.records)} files arrived")
    calls = [line for line in trace.read_text().splitlines() if "getdents64(" in line or "connect(" in line]
    listed = sum("getdents64(" in line for line in calls)
    first = next(place for place, line in enumerate(calls) if "AF_INET" in line)
    before = sum("getdents64(" in line for line in calls[:first])
    check(before < 0.05 * listed, "it lists most files before it connects")
    print(f"{directories * each} files in {directories} directories: {before} of {listed} calls of getdents64 before "
          f"the first connect ({before / listed:.1%})")
