"""Parsing bodies: large parts, many parts, and bodies made to be slow."""

import random
import statistics
import subprocess
import sys

from .programs import BOUNDARY, GIB, MIB, alternating, go_program, measured, section


def parsing(table, bench, work, rounds, size, count):
    """One large part of each kind, then many small ones, against Go's mime/multipart."""
    go = go_program("go-multipart", work)
    if go is None:
        table.note("Go is not installed: its mime/multipart and the bars against it were left out.")
    else:
        version = subprocess.run(["go", "version"], stdout=subprocess.PIPE, check=True, text=True)
        table.note(f"mime/multipart is from {version.stdout.strip()}.")
    opening = f"--{BOUNDARY}\r\nContent-Disposition: form-data; name=".encode()
    closing = f"--{BOUNDARY}--\r\n".encode()
    path = work / "body"

    def ours(piece):
        return lambda: measured([bench, "file", path, BOUNDARY, piece])

    def theirs(buffer):
        return lambda: measured([go, path, BOUNDARY, buffer])

    def compare():
        """The results of ours with pieces of three sizes, and of Go with its fastest buffer."""
        calls = [ours(piece) for piece in (64 * 1024, 0, 4096)]
        if go is not None:
            tried = {buffer: alternating(3, theirs(buffer))[0]
                     for buffer in (0, 32 * 1024, 256 * 1024, MIB)}
            best = min(tried, key=lambda buffer: min(run["seconds"] for run in tried[buffer]))
            calls.append(theirs(best))
        results = alternating(rounds, *calls)
        found = {(run["parts"], run["bytes"], run["names"]) for runs in results for run in runs}
        if len(found) != 1:
            sys.exit(f"The parsers disagree about the body: {found}.")
        return results if go is not None else [*results, None]

    def rows(what, unit, results, figure, bar=None):
        *sizes, peer = [runs and [figure(run) for run in runs] for runs in results]
        for pieces, samples in zip(("64 KiB pieces", "whole", "4 KiB pieces"), sizes):
            is_judged = bar and peer and pieces == "64 KiB pieces"
            table.add(f"{what}, {pieces}", unit, samples, peer, (">=", bar) if is_judged else None,
                      peer_name=peer and "mime/multipart")
        return sizes[0]

    kinds = {
        "noise": (random.Random(20).randbytes(64 * MIB), 1.5), "zeros": (bytes(64 * MIB), 2),
        "CRLF": (b"\r\n" * (32 * MIB), 2), "CRLF and --": (b"\r\n--" * (16 * MIB), 2),
    }
    for kind, (block, bar) in kinds.items():
        section(f"Parsing {size / GIB:g} GiB of {kind}")
        with open(path, "wb") as file:
            file.write(opening + b'"f"; filename="f"\r\n\r\n')
            for _ in range(size // len(block)):
                file.write(block)
            file.write(b"\r\n" + closing)
        speeds = rows(f"parsing {kind}", "GB/s", compare(),
                      lambda run: run["bytes"] / run["seconds"] / 1e9, bar)
        if kind == "noise":
            table.add(f"parsing {kind}, alone", "GB/s", speeds, None, (">=", 8),
                      statistics.median(speeds))

    section(f"Parsing {count:,} parts of 10 bytes")
    with open(path, "wb") as file:
        for number in range(count):
            file.write(opening + f'"field-{number}"\r\n\r\n0123456789\r\n'.encode())
        file.write(closing)
    rows(f"parsing {count:,} parts", "ns a part", compare(),
         lambda run: run["seconds"] / run["parts"] * 1e9)
    path.unlink()

    section(f"Events of {count:,} parts of 10 bytes")
    micros = measured([bench, "events", count, rounds])
    for where, samples, bar in (("on no actor", micros["detached"], None),
                                ("on the main actor", micros["main"], ("<=", 2))):
        table.add(f"FormEvents, {where}", "µs a part", samples, micros["by_hand"], bar,
                  peer_name="feeding the parser by hand")


def linear(table, bench, rounds, mebibytes):
    section(f"Bodies made to be slow, 1 to {mebibytes} MiB")
    worst = {}
    table.sizes = measured([bench, "linear", mebibytes, rounds])
    for case in table.sizes:
        pieces = f"{case['piece']:,} B" if case["piece"] else "whole"
        *smaller, largest = case["bytes_per_second"].items()
        before = [statistics.median(rates) / 1e6 for _, rates in smaller]
        at_last = [rate / 1e6 for rate in largest[1]]
        shown = " ".join(f"{rate:,.0f}" for rate in [*before, statistics.median(at_last)])
        print(f"  {case['what']}, {pieces}: {shown} MB/s", file=sys.stderr)
        row = (statistics.median(at_last) / statistics.median(before), pieces, at_last, before,
               int(largest[0]) // MIB)
        worst[case["what"]] = min(worst.get(case["what"], row), row)
    for what, (_, pieces, at_last, before, size) in worst.items():
        table.add(f"{what} ({pieces}), {size} MiB", "MB/s", at_last, before, (">=", 0.8),
                  peer_name="itself, smaller")
    table.note("Each body made to be slow has one row: the pieces with the worst ratio.")
