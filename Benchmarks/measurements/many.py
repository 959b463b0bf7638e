"""Many files by one command, against what people use for that."""

import os
import shutil
import statistics

from .network import DELAY, Certificate
from .programs import MIB, alternating, cost, section
from .requests import CONCURRENT
from .servers import Discarding, Gateway, Link, Receiving

# Loops that start a process for each file are slow: so many of the files are enough.
FEW = 500


def curl_list(path, url, files, *lines):
    """Writes a list for `curl --parallel`, with a request for each file and more lines for each."""
    path.write_text("next\n".join(
        "".join(f"{line}\n" for line in (
            f'url = "{url}"', f'form = "file=@{file};type=application/octet-stream"', 'output = "/dev/null"', *lines))
        for file in files))
    return ["curl", "-s", "--parallel", "--parallel-max", CONCURRENT, "-K", path]


def many(table, formstream, work, rounds, count):
    """Sends many files of 4 KiB, a request each."""
    if shutil.which("curl") is None:
        table.note("curl is not installed: many files were left out.")
        return
    section(f"Sending {count:,} files of 4 KiB by one command")
    directory = work / "many"
    directory.mkdir()
    files = [directory / f"{number}.bin" for number in range(count)]
    for file in files:
        file.write_bytes(os.urandom(4096))
    listed, few = work / "files", work / "few"
    for path, names in ((listed, files), (few, files[:FEW])):
        path.write_text("".join(f"{file}\n" for file in names))
    ours = [formstream, "send", "-q", "-j", CONCURRENT, "--files-from", listed]
    default = [formstream, "send", "-q", "--files-from", listed, "--sniff", "extension"]
    with Discarding(table, work) as server:
        if server.port is None:
            return
        commands = {
            "ours": [*ours, "--sniff", "extension", server.url],
            "default": [*default, server.url],
            "sniffed": [*ours, server.url],
            "digests": [*ours, "--sniff", "extension", "--sha256", server.url],
            "journal": [*ours, "--sniff", "extension", "--journal", work / "journals", server.url],
            "curl --parallel": curl_list(work / "curl-many", server.url, files),
        }

        def run(name):
            shutil.rmtree(work / "journals", ignore_errors=True)
            return cost(commands[name], work)

        results = dict(zip(commands, alternating(rounds, *(lambda name=name: run(name) for name in commands))))
        rates = {name: [count / seconds for seconds, _ in runs] for name, runs in results.items()}
        micros = {name: [processor / count * 1e6 for _, processor in runs] for name, runs in results.items()}
        bars = {"ours": (">=", 2), "default": (">=", 1.2)}
        what = {"ours": "files of 4 KiB by send", "default": "the same, without -j", "sniffed": "the same, types by contents",
                "digests": "the same, types by extension, with digests", "journal": "the same, with a journal"}
        for name, text in what.items():
            table.add(text, "1/s", rates[name], rates["curl --parallel"], bars.get(name),
                      peer_name="curl --parallel")
        for name, bar in (("ours", None), ("default", ("<=", 1.5))):
            table.add(f"{what[name]}: processor time for each", "µs", micros[name], micros["curl --parallel"], bar,
                      peer_name="curl --parallel")

        # One curl at a time is what a loop of the shell does.
        for jobs, name in ((8, "xargs -P8 curl"), (1, "a loop of curl")):
            loop = ["xargs", "-a", few, f"-P{jobs}", "-I{}", "curl", "-s", "-o", "/dev/null", "-F",
                    "file=@{};type=application/octet-stream", server.url]
            runs = [cost(loop, work) for _ in range(min(rounds, 3))]
            table.add("files of 4 KiB by send", "1/s", rates["ours"], [FEW / seconds for seconds, _ in runs],
                      peer_name=name)
    with_large(table, formstream, work, min(rounds, 3), files[:1000])
    refusing(table, formstream, work, min(rounds, 3), files[:600])
    if shutil.which("openssl") is None or Gateway.program("nginx") is None:
        table.note("openssl or nginx is not installed: many files over TLS were left out.")
        return
    on_slow_link(table, formstream, work, rounds, files[:max(count // 2, 1000)])


def with_large(table, formstream, work, rounds, small):
    """Sends large files, alone and among small ones."""
    large = work / "large.bin"
    with open(large, "wb") as file:
        file.truncate(64 * MIB)
    for what, files in (("100 files of 64 MiB", [large] * 100),
                        (f"20 files of 64 MiB among {len(small):,} of 4 KiB",
                         [file for index, file in enumerate(small)
                          for file in [file] + ([large] if index % (len(small) // 20) == 0 else [])])):
        section(f"Sending {what}")
        directory = work / "with-large"
        directory.mkdir()
        # A list names each file once, so each place has a name of its own.
        names = [directory / f"{index}.bin" for index in range(len(files))]
        for name, file in zip(names, files):
            os.link(file, name)
        with Discarding(table, work) as server:
            runs = alternating(rounds, *(lambda command=command: cost(command, work) for command in (
                [formstream, "send", "-q", "--sniff", "extension", server.url, directory],
                curl_list(work / "curl-large", server.url, names))))
        table.add(what, "s", *([seconds for seconds, _ in samples] for samples in runs), ("<=", 1.2),
                  peer_name="curl --parallel")
        shutil.rmtree(directory)
    large.unlink()


def refusing(table, formstream, work, rounds, files):
    """Sends files to a server that refuses some requests by chance."""
    listed = work / "files"
    listed.write_text("".join(f"{file}\n" for file in files))
    for refused in (0, 1, 2, 5, 30):
        section(f"Sending {len(files)} files of 4 KiB to a server that refuses {refused} of 100 requests")
        with Discarding(table, work, refused) as server:
            curl = curl_list(work / "curl-refused", server.url, files, "retry = 5")
            for jobs in (1, 8, CONCURRENT, None):
                chosen = ["-j", jobs] if jobs else []
                ours = [formstream, "send", "-q", *chosen, "--sniff", "extension", "--retry", 5,
                        "--files-from", listed, server.url]
                # Six refusals in a row end a file's attempts. curl shows its progress in spite of -s.
                runs = alternating(rounds, *(lambda command=command: cost(command, work, may_fail=True) for command in (
                    ours, [jobs if jobs and word == CONCURRENT else word for word in curl])))
                table.add(f"{len(files)} files by send {f'-j {jobs}' if jobs else 'without -j'}, {refused} % refused", "s",
                          *([seconds for seconds, _ in samples] for samples in runs),
                          ("<=", 1.2) if refused else None, peer_name="curl --parallel --retry 5")


def on_slow_link(table, formstream, work, rounds, files):
    """Sends files over TLS on a link on which only requests at the same time hide the delay."""
    section(f"Sending {len(files):,} files of 4 KiB over TLS on a link of {2000 * DELAY:g} ms")
    listed = work / "files"
    listed.write_text("".join(f"{file}\n" for file in files))
    certificate = Certificate(work)
    with Receiving(formstream, "--no-digest") as receiver, \
            Gateway("nginx", work, certificate, receiver.port) as gateway, Link(gateway.port, DELAY) as link:
        ours = [formstream, "send", "-q", "-j", CONCURRENT, "--sniff", "extension", "--cacert", certificate.path,
                "--files-from", listed, link.url]
        curl = curl_list(work / "curl-link", link.url, files, f'cacert = "{certificate.path}"')
        runs = alternating(rounds, *(lambda command=command: cost(command, work) for command in (ours, curl)))
        # What a person finds out by trying.
        tried = [[jobs if word == CONCURRENT else word for word in ours] for jobs in (16, 64, 128)]
        default = [word for word in ours if word not in ("-j", CONCURRENT)]
        found, *others = alternating(
            min(rounds, 3), *(lambda command=command: cost(command, work) for command in (default, *tried)))
    what = f"files of 4 KiB by send over TLS on a link of {2000 * DELAY:g} ms"
    table.add(what, "1/s", *([len(files) / seconds for seconds, _ in samples] for samples in runs),
              peer_name="curl --parallel")
    rates = [[len(files) / seconds for seconds, _ in samples] for samples in (found, *others)]
    best = max(rates[1:], key=statistics.median)
    table.add(f"{what}, without -j", "1/s", rates[0], best, (">=", 0.9), peer_name="the best of -j 16, 64 and 128")
