"""Compares what curl and formstream did for the same line."""

import re

# They differ by nature. docs/coming-from-curl.md says so at the head of its list.
IGNORED = {b"user-agent", b"expect", b"content-length", b"transfer-encoding", b"connection", b"accept-encoding"}
# How formstream says that a status is no success.
REFUSED = re.compile(rb" responded [3-9][0-9][0-9] (to|and redirects) |^$")
BOUNDARY = re.compile(rb"boundary=\"?([^\s\";]+)")


class Shape:
    """What is compared of a request."""

    def __init__(self, request, wanted):
        boundaries = set(BOUNDARY.findall(b"\n".join(value for _, value in request.headers)))
        boundaries |= set(BOUNDARY.findall(request.body))

        def plain(content):
            for boundary in sorted(boundaries, key=len, reverse=True):
                content = content.replace(boundary, b"BOUNDARY")
            return content
        self.method = request.method
        self.target = re.sub(rb"%[0-9a-f]{2}", lambda code: code[0].upper(), request.target)
        self.headers = {}
        for name, value in request.headers:
            if name.lower() not in IGNORED - wanted:
                value = digest(value) if value.startswith(b"Digest ") else plain(value)
                if name.lower() == b"cookie":
                    # curl puts no blank between the cookies of two -b, and has another order: docs/cookies.md says so.
                    value = b"; ".join(sorted(re.split(rb"; *", value)))
                self.headers.setdefault(name.lower(), []).append(value)
        self.body = plain(request.body)

    def differences(self, other):
        found = {}
        for name in ("method", "target", "body"):
            if getattr(self, name) != getattr(other, name):
                found[name] = (getattr(self, name), getattr(other, name))
        for name in self.headers.keys() | other.headers.keys():
            mine, others = self.headers.get(name), other.headers.get(name)
            if mine != others:
                found["header " + name.decode(errors="replace")] = (mine, others)
        return found


def digest(value):
    """The parameters of Digest in order, without the client's random number and what depends on it."""
    found = dict(re.findall(rb'([a-z]+)=("[^"]*"|[^",]+)', value))
    if b"cnonce" in found:
        found[b"cnonce"] = found[b"response"] = b"(random)"
    if found.get(b"algorithm", b"").upper().startswith((b"SHA-512-256", b'"SHA-512-256')):
        # curl 7.88 computes SHA-256 for it.
        found[b"response"] = b"(not compared)"
    return sorted((name, text.strip(b'"')) for name, text in found.items())


def named_headers(line):
    """The headers that a line of curl asks for: these are compared even if they differ by nature."""
    wanted = set()
    for name in re.findall(r"""(?:-H|--header)[ =]*["']?@?([A-Za-z-]+)""", line):
        wanted.add(name.lower().encode())
    if re.search(r"(^|\s)(-A|--user-agent)", line):
        wanted.add(b"user-agent")
    return wanted - {b"content-length", b"transfer-encoding", b"expect"}


def plain_output(content):
    # Heads are printed with CR LF by formstream, and as they arrived by curl.
    content = content.replace(b"\r\n", b"\n")
    content = re.sub(rb"curl/[0-9.]+", b"CLIENT", content)
    return re.sub(rb"formstream/[0-9.]+", b"CLIENT", content)


def jar(content):
    """A file of cookies without its comments, with domains in lower case."""
    if b"HTTP Cookie File" not in content:
        return content
    return b"\n".join(sorted(re.sub(rb"^[^\t]*", lambda domain: domain[0].lower(), line) for line in content.splitlines()
                             if line.strip() and (not line.startswith(b"#") or line.startswith(b"#HttpOnly_"))))


def differences(line, theirs, ours):
    """By place: what curl did, and what formstream did. `theirs` and `ours` have an end and requests."""
    found = {}
    if "%{local_port}" in line:
        for end, _ in (theirs, ours):
            end.output = re.sub(rb"(port == )[0-9]+", rb"\1PORT", end.output)
    (their_end, their_requests), (our_end, our_requests) = theirs, ours
    wanted = named_headers(line)
    if len(their_requests) != len(our_requests):
        found["requests"] = ([request.line for request in their_requests], [request.line for request in our_requests])
    for number, (theirs_request, ours_request) in enumerate(zip(their_requests, our_requests)):
        between = Shape(theirs_request, wanted).differences(Shape(ours_request, wanted))
        found |= {f"{number}.{place}": pair for place, pair in between.items()}
    if re.search(r"--(digest|anyauth)(\s|$)", line):
        # The requests before the one with the answer: the list says that ours have their bodies.
        for number, request in enumerate(our_requests):
            if not request.header(b"authorization") and found.get(f"{number}.body", (None,))[0] == b"":
                found["body"] = found.pop(f"{number}.body")
    if plain_output(their_end.output) != plain_output(our_end.output):
        found["output"] = (their_end.output, our_end.output)
    for name in sorted(their_end.files.keys() | our_end.files.keys()):
        pair = their_end.files.get(name), our_end.files.get(name)
        if tuple(plain_output(jar(content)) if content is not None else None for content in pair)[0] != (
                plain_output(jar(pair[1])) if pair[1] is not None else None):
            found["file " + name] = pair
    if (their_end.code == 0) != (our_end.code == 0):
        found["exit"] = (their_end.code, our_end.code)
        if their_end.code == 0 and our_end.code in (1, 75) and found.keys() <= {"exit", "body"} and REFUSED.search(our_end.errors):
            # A status that is no success is a failure without -f, too: the list says so of each line.
            found["status"] = found.pop("exit")
    return found
