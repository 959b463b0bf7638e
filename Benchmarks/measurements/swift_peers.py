"""Parsing and encoding forms, against other libraries in Swift."""

import os
import pathlib
import random
import subprocess
import sys

from .programs import BENCHMARKS, BOUNDARY, MIB, alternating, measured, section, try_build

PEERS = {"openapi": "swift-openapi-runtime", "multipart-kit": "multipart-kit"}
COUNT = 10_000
NAMES = [f"field-{number}" for number in range(COUNT)]
TEXT = b"0123456789"


def program(table):
    """Builds the program with all libraries and returns its path, or None if it can't be built."""
    if not os.environ.get("SWIFT_PEERS"):
        table.note("SWIFT_PEERS names no directory: the other Swift libraries were left out.")
        return None
    # SwiftPM would look for a relative path beside the manifest.
    checkouts = pathlib.Path(os.environ["SWIFT_PEERS"]).resolve()
    os.environ["SWIFT_PEERS"] = str(checkouts)
    built = try_build(table, BENCHMARKS / "peers/swift-multipart", "swift-multipart",
                      "the other Swift libraries were")
    for name in PEERS.values() if built else ():
        version = subprocess.run(["git", "-C", checkouts / name, "describe", "--tags", "--always"],
                                 stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True).stdout.strip()
        table.note(f"{name} is {version or 'of an unknown version'}.")
    return built


def swift_peers(table, work, rounds):
    section("Other Swift libraries")
    libraries = program(table)
    if libraries is None:
        return

    def compare(what, arguments, expected, bar=("<=", 1)):
        """A row for each peer. All libraries must find, or write, what is expected."""
        names = ["formstream", *PEERS]
        results = alternating(rounds, *(
            lambda name=name: measured([libraries, arguments[0], name, *arguments[1:], BOUNDARY])
            for name in names))
        for name, runs in zip(names, results):
            for run in runs:
                found = run["parts"], run["bytes"], run["names"]
                if found != expected:
                    sys.exit(f"{name} has {found} in {what}, and not {expected}.")
        ours, *others = ([run["seconds"] * 1000 for run in runs] for runs in results)
        for name, samples in zip(PEERS.values(), others):
            table.add(what, "ms", ours, samples, bar, peer_name=name)

    small = COUNT, COUNT * len(TEXT), sum(map(len, NAMES))
    path = work / "body"
    opening = f"--{BOUNDARY}\r\nContent-Disposition: form-data; name=".encode()
    closing = f"\r\n--{BOUNDARY}--\r\n".encode()
    noise = random.Random(20).randbytes(64 * MIB)
    for what, part in (("64 MiB of noise", noise), ("16 MiB of CRLF", b"\r\n" * (8 * MIB))):
        path.write_bytes(opening + b'"f"; filename="f"\r\n\r\n' + part + closing)
        compare(f"parsing {what} in async chunks", ["parse", path], (1, len(part), 1))
    path.write_bytes(b"\r\n".join(
        opening + f'"{name}"\r\n\r\n'.encode() + TEXT for name in NAMES) + closing)
    compare(f"parsing {COUNT:,} parts in async chunks", ["parse", path], small)

    path.write_bytes(noise)
    large = 1, len(noise), len("file")
    compare("encoding 64 MiB in memory", ["encode", "file", path], large)
    compare("the same, for peers in 64 KiB chunks", ["encode", "chunks", path], large, bar=None)
    path.unlink()
    compare(f"encoding {COUNT:,} texts", ["encode", "texts", COUNT], small)
