"""Detecting the media types of files."""

import io
import itertools
import json
import os
import random
import shutil
import zipfile

from .programs import alternating, peak, section


def zipped(name, content):
    memory = io.BytesIO()
    with zipfile.ZipFile(memory, "w") as archive:
        archive.writestr(name, content)
    return memory.getvalue()


def many_kinds(directory, count):
    """Writes files of about 4 KiB and of six kinds in turn, and returns their paths."""
    draw = random.Random(44)
    words = "a form is sent in parts and each part has a type that tells what is in it".split()

    def text(size):
        return " ".join(draw.choices(words, k=size // 4))[:size].encode()

    kinds = {
        "bin": lambda: draw.randbytes(4096),
        "txt": lambda: text(4096),
        "png": lambda: (b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\1\0\0\0\1\0\b\6\0\0\0\x5c\x72\xa8\x66"
                        + draw.randbytes(4063)),
        "zip": lambda: zipped("noise", draw.randbytes(3980)),
        "html": lambda: (b"<!DOCTYPE html>\n<html><head><title>A form</title></head><body><p>"
                         + text(4000) + b"</p></body></html>\n"),
        "json": lambda: json.dumps({"title": "A form", "words": text(4000).decode()}).encode(),
    }
    directory.mkdir()
    paths = []
    for number, (kind, content) in zip(range(count), itertools.cycle(kinds.items())):
        paths.append(directory / f"{number}.{kind}")
        paths[-1].write_bytes(content())
    return paths


def sniffing(table, formstream, work, rounds, count):
    if shutil.which("file") is None:
        table.note("file is not installed: sniffing was left out.")
        return
    section(f"Sniffing {count:,} files of 4 KiB")
    paths = many_kinds(work / "kinds", count)
    for files in (paths, paths[:1]):
        listed = work / "list"
        listed.write_text("".join(f"{path}\n" for path in files))
        ours, peer = alternating(
            rounds,
            lambda: peak([formstream, "sniff", "--sniff", "content", "--files-from", listed], work),
            lambda: peak(["file", "--mime-type", "-f", listed], work))
        what = f"sniffing {len(files):,} file{'s' if len(files) > 1 else ''}"
        is_judged = len(files) > 1

        def rates(runs):
            # GNU time counts hundredths of a second: enough for many files, too coarse for one.
            return [len(files) / seconds for _, seconds in runs]

        if is_judged:
            table.add(what, "files/s", rates(ours), rates(peer), (">=", 1.8), peer_name="file")
        table.add(f"{what}: peak memory", "KiB", [kib for kib, _ in ours],
                  [kib for kib, _ in peer], peer_name="file")
    cores = len(os.sched_getaffinity(0))
    if cores != 2:
        table.note(f"The bar for sniffing is for 2 cores; this machine has {cores}.")
    shutil.rmtree(work / "kinds")
    listed.unlink()
