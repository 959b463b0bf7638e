"""Peak memory: it does not grow with the body."""

import statistics

from .programs import BOUNDARY, GIB, MIB, alternating, peak, section
from .servers import Discarding


def memory(table, bench, formstream, work, rounds, size):
    section(f"Peak memory, 1 MiB against {size / GIB:g} GiB")
    small, large = work / "small", work / "large"
    for path, length in ((small, MIB), (large, size)):
        with open(path, "wb") as file:
            file.truncate(length)

    def encode(path, *kind):
        return [formstream, "encode", "--boundary", BOUNDARY, "--file", f"f={path}", *kind]

    programs = {
        "formstream encode": lambda path: peak(encode(path), work),
        "FormInputStream alone": lambda path: peak([bench, "stream", path, 256 * 1024], work),
        "formstream parse, from a pipe": lambda path: peak(
            [formstream, "parse", "--boundary", BOUNDARY, "-"], work, encode(path)),
    }
    for name, program in programs.items():
        large_runs, small_runs = alternating(
            rounds, lambda: program(large), lambda: program(small))
        of_large = [kib for kib, _ in large_runs]
        of_small = [kib for kib, _ in small_runs]
        growth = statistics.median(of_large) - statistics.median(of_small)
        table.add(f"{name}: peak memory, {size / GIB:g} GiB", "KiB", of_large, of_small,
                  ("<=", 512), growth, "itself, 1 MiB")
        table.add(f"{name}: time, {size / GIB:g} GiB", "s", [seconds for _, seconds in large_runs])
    for kind, what, bar in (((), "type sniffed", None), (("--type", "a/b"), "type given", ("<=", 14))):
        runs = [peak(encode(small, *kind), work)[0] / 1024 for _ in range(rounds)]
        table.add(f"formstream encode, {what}: peak memory in all", "MiB", runs, None, bar, statistics.median(runs))
    table.note("The bar for peak memory is the difference in KiB.")
    with Discarding(table, work) as server:
        if server.port is not None:
            uploading_memory(table, formstream, work, rounds, size, small, large, server)
    small.unlink()
    large.unlink()


def uploading_memory(table, formstream, work, rounds, size, small, large, server):
    def post(path, kind):
        return lambda: peak([formstream, "post", "-q", "--progress", "none", "-F",
                             f"f=@{path}{kind}", server.url], work)

    for kind, what, limit in ((";type=application/octet-stream", "type given", 17),
                              ("", "type sniffed", 23)):
        large_runs, small_runs = alternating(rounds, post(large, kind), post(small, kind))
        of_large = [kib for kib, _ in large_runs]
        of_small = [kib for kib, _ in small_runs]
        growth = statistics.median(of_large) - statistics.median(of_small)
        name = f"formstream post, {what}"
        table.add(f"{name}: peak memory, {size / GIB:g} GiB", "KiB", of_large, of_small,
                  ("<=", 512), growth, "itself, 1 MiB")
        table.add(f"{name}: peak memory in all", "MiB", [kib / 1024 for kib in of_large], None,
                  ("<=", limit), statistics.median(of_large) / 1024)
