"""Reading a form's body, and forms of many parts."""

import importlib.util
import re
import shutil
import statistics
import subprocess
import sys
import time

from .programs import GIB, MIB, alternating, measured, section, write_noise


def draining(table, bench, work, rounds, size):
    section(f"Draining a cached file of {size / GIB:g} GiB")
    path = work / "cached"
    write_noise(path, size)
    available = int(re.search(r"MemAvailable:\s+(\d+)", open("/proc/meminfo").read())[1]) * 1024
    if available < size * 1.25:
        table.note(f"{available // MIB} MiB of memory can't hold the file in the page cache: "
                   "the figures for draining are the disk's.")
    for buffer in (64, 256):
        result = measured([bench, "drain", path, buffer * 1024, rounds])
        rate = {who: [size / GIB / seconds for seconds in result[who]]
                for who in ("ours", "peer", "ours_cpu", "peer_cpu")}
        table.add(f"draining, {buffer} KiB buffer", "GiB/s", rate["ours"], rate["peer"],
                  (">=", 0.95), peer_name="read(2)")
        table.add(f"draining, {buffer} KiB buffer, processor", "GiB/s", rate["ours_cpu"],
                  rate["peer_cpu"], peer_name="read(2)")
    path.unlink()


def many_parts(table, bench, work, rounds, count):
    directory = work / "parts"
    directory.mkdir()
    for number in range(count):
        (directory / str(number)).write_bytes(b"x")
    # File times advance every 10 ms at most, and layout waits if a file changed in the current tick.
    time.sleep(0.1)
    for kind, extra in (("text", []), ("file", [directory])):
        section(f"A form of {count:,} {kind} parts")
        ours, peer = alternating(
            rounds, lambda: measured([bench, f"{kind}-parts", count, *extra]),
            lambda: measured([bench, f"eager-{kind}-parts", count, *extra]))

        def samples(results, key, scale):
            return [result[key] * scale for result in results]

        per_part = samples(ours, "growth", 1 / count)
        millis = samples(ours, "seconds", 1000)
        # The bars are for short texts. A file part also keeps its path and its identity, and its
        # layout asks the system about the file twice.
        is_text = kind == "text"
        table.add(f"{count:,} {kind} parts: memory", "B a part", per_part,
                  samples(peer, "growth", 1 / count), ("<=", 400) if is_text else None,
                  statistics.median(per_part), "[UInt8]")
        table.add(f"{count:,} {kind} parts: layout", "ms", millis, samples(peer, "seconds", 1000),
                  ("<=", 100) if is_text else None, statistics.median(millis), "[UInt8]")
        if is_text:
            python_peer(table, millis, count, rounds)
    shutil.rmtree(directory)


def python_peer(table, ours, count, rounds):
    if importlib.util.find_spec("urllib3") is None:
        table.note("urllib3 is not installed: its encode_multipart_formdata was left out.")
        return
    program = f"""
import time, urllib3
fields = [(f"field-{{n}}", f"value number {{n}}") for n in range({count})]
begun = time.monotonic()
urllib3.encode_multipart_formdata(fields)
print(time.monotonic() - begun)"""
    seconds = [float(subprocess.run(
        [sys.executable, "-c", program], stdout=subprocess.PIPE, check=True, text=True).stdout)
        for _ in range(rounds)]
    table.add(f"{count:,} text parts: layout", "ms", ours, [s * 1000 for s in seconds],
              peer_name="urllib3, body and all")
