"""A server that resets, stalls and is overloaded."""

import random
import time

from trials import check

from .sent import make_files, name_of, send
from .server import ACCEPT, ACCEPT_AND_CLOSE, RESET, STORE_AND_RESET, Decision, Server

TOO_MANY = Decision(429, retry_after=1)
UNAVAILABLE = Decision(503, retry_after=1)
STALL = Decision(stalls=True)
STORE_AND_STALL = Decision(stores=True, stalls=True)


class Faults:
    """Decides by chance: 5 % of the requests are reset and 1 % get no response, half of them stored.

    After every 1000 requests the server is overloaded for a while, in turn with 429 and 503.
    """

    def __init__(self, seed, burst=0.3):
        self.draw, self.burst = random.Random(seed), burst
        self.served, self.until, self.kinds = 0, 0, [TOO_MANY, UNAVAILABLE]
        self.refused = self.reset = self.stalled = 0

    def __call__(self, upload):
        if time.monotonic() < self.until:
            self.refused += 1
            return self.kinds[0]
        self.served += 1
        if self.served % 1000 == 0:
            self.until = time.monotonic() + self.burst
            self.kinds.reverse()
        chance = self.draw.random()
        if chance < 0.05:
            self.reset += 1
            return STORE_AND_RESET if chance < 0.025 else RESET
        if chance < 0.06:
            self.stalled += 1
            return STORE_AND_STALL if chance < 0.055 else STALL
        return ACCEPT_AND_CLOSE if chance < 0.08 else ACCEPT


def judge(sent, stored, run, what):
    """Each file has one record, and its outcome is true."""
    records = {name_of(record): record for record in run.records}
    check(len(run.records) == len(sent) and set(records) == set(sent), f"{what}: {len(records)} files have a record")
    for name, record in records.items():
        times = stored[name]
        outcome = record["outcome"]
        honest = times > 0 if outcome == "ok" else times == 0 if outcome in ("failed", "retryable") else \
            outcome == "unknown"
        check(honest, f"{what}: {name.decode()} is {outcome} after {record['attempts']} requests, stored {times} times")
        check(not record["maybe_duplicate"], f"{what}: {name.decode()} is marked")
    twice = sum(count > 1 for count in stored.values())
    check(twice == 0, f"{what}: {twice} are stored twice")
    missing = sum(stored[name] == 0 for name in sent)
    outcomes = dict(run.outcomes())
    exit_code = 3 if outcomes.get("unknown") else 75 if outcomes.get("retryable") else 0
    check(run.exit == exit_code, f"{what}: it ended with {run.exit}, not {exit_code}")
    return outcomes, missing


def overloaded_server(formstream, place, count=10_000):
    """All files end as `ok`, or as what is known about them, without many requests more."""
    sent = set(make_files(place / "in", count, 1024))
    for keys in ([], ["--idempotency-key", "auto"]):
        faults = Faults(15)
        what = "with keys" if keys else "without keys"
        with Server(faults, remembers_keys=bool(keys)) as server:
            begun = time.monotonic()
            run = send(formstream, "-j", "16", "--response-timeout", "3", *keys, server.url, "in", cwd=place)
            seconds = time.monotonic() - begun
            outcomes, missing = judge(sent, server.names(), run, what)
            requests = server.complete + server.incomplete
        excess = requests / count - 1
        check(excess <= 0.10, f"{what}: {requests} requests for {count} files")
        if keys:
            check(outcomes.get("ok", 0) >= 0.999 * count, f"{what}: {outcomes}")
        print(f"{count} files {what}, {faults.reset} resets, {faults.stalled} stalls, {faults.refused} responses of "
              f"429 or 503: {outcomes}, all true; {missing} not stored; {requests} requests ({excess:+.1%}); "
              f"{seconds:.0f} s", flush=True)
