"""Sending over TLS: over a link with a delay, and as fast as possible."""

import os
import shutil
import subprocess

from .programs import GIB, MIB, alternating, cost, section, write_noise
from .servers import Gateway, Link, Receiving

# Each way; so a round trip takes 50 ms.
DELAY = 0.025


class Certificate:
    """A certificate of localhost that is its own authority."""

    def __init__(self, work):
        self.path, self.key = work / "certificate.pem", work / "key.pem"
        subprocess.run(
            ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes",
             "-days", "30", "-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost",
             "-keyout", str(self.key), "-out", str(self.path)], check=True, capture_output=True)


def senders(formstream, certificate, path, work):
    """What sends a file as a form to a URL, in seconds and processor time: FormStream and curl, each with flags."""
    part = f"f=@{path};type=application/octet-stream"

    def ours(url, *flags):
        return lambda: cost([formstream, "post", "-q", "--progress", "none", "--cacert", certificate.path,
                             *flags, "-F", part, url], work)

    def curl(url, *flags):
        return lambda: cost(["curl", "-sf", "--cacert", certificate.path, *flags, "-F", part, url], work)

    return ours, curl


def network(table, formstream, work, rounds, link_size, size):
    for program in ("curl", "openssl"):
        if shutil.which(program) is None:
            table.note(f"{program} is not installed: sending over TLS was left out.")
            return
    certificate = Certificate(work)
    gateways = [kind for kind in Gateway.KINDS if Gateway.program(kind)]
    for kind in set(Gateway.KINDS) - set(gateways):
        table.note(f"{kind} is not installed: its rows of sending over TLS were left out.")
    with Receiving(formstream, "--no-digest", "--max-body", "64G") as receiver:
        slow = work / "slow"
        slow.write_bytes(os.urandom(link_size))
        ours, curl = senders(formstream, certificate, slow, work)
        for kind in gateways:
            section(f"Sending {link_size // MIB} MiB to {kind} on a link of {2000 * DELAY:g} ms")
            with Gateway(kind, work, certificate, receiver.port) as gateway, Link(gateway.port, DELAY) as link:
                mine, curls = alternating(rounds, ours(link.url), curl(link.url))
            table.add(f"sending {link_size // MIB} MiB over TLS on a link of {2000 * DELAY:g} ms: {kind}", "MB/s",
                      *([link_size / 1e6 / seconds for seconds, _ in runs] for runs in (mine, curls)),
                      (">=", 50) if kind == "nginx" else None, peer_name="curl -F")
        slow.unlink()

        fast = work / "fast"
        write_noise(fast, size)
        ours, curl = senders(formstream, certificate, fast, work)
        section(f"Sending {size / GIB:g} GiB over TLS")
        for kind in gateways[:1]:
            with Gateway(kind, work, certificate, receiver.port) as gateway:
                for flag, name in (("--http1.1", "HTTP/1.1"), ("--http2", "HTTP/2")):
                    runs = alternating(rounds, ours(gateway.url, flag), curl(gateway.url, flag))
                    for place, what in enumerate(("time", "processor")):
                        table.add(f"sending {size / GIB:g} GiB over TLS and {name}: {what}", "s",
                                  *([run[place] for run in samples] for samples in runs), ("<=", 1),
                                  peer_name=f"curl {flag} -F")
        fast.unlink()
