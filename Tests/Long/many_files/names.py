"""Files with awkward names, from `find -print0` to the receiver's records."""

import base64
import collections
import hashlib
import os
import random
import subprocess

from trials import Receiver, check

PIECES = [
    b" ", b"  ", b"\t", b"'", b'"', b'\\"', b",", b";", b"; filename=", b";type=image", b"\n", b"\r\n", b"\r",
    b"@", b"<", b">", b"-", b"--", b"-F", b"=", b"%", b"%41", b"%25", b"\\", b"\\\\", b"{name}", b"{", b"}", b"{{",
    b"*", b"?", b"[a]", b"$(x)", b"`x`", b"!", b"#", b"&", b"|", b"~", b"..", b"\x01", b"\x1b[31m", b"\x7f", b"\xff",
    b"\xc3", b"\xe2\x82", b"\xf0\x9f", b"\xed\xa0\x80", b"\xc0\xaf", "ü".encode(), "u\u0308".encode(), "€".encode(),
    "日本".encode(), "\u202etxt".encode(), "\ufeff".encode(), "\u2028".encode(), "👪".encode(), b".jpg", b".",
]


def in_header(name):
    """A name as browsers write it, and as a record has it: with U+FFFD in place of what is not UTF-8."""
    for byte in b'"\n\r':
        name = name.replace(bytes([byte]), b"%%%02X" % byte)
    return name.decode(errors="replace")


def awkward_names(formstream, place, count=10_000):
    """Names and contents arrive as they are on the disk, by a list from `find`."""
    draw = random.Random(15)
    directory = os.fsencode(place / "sent")
    os.mkdir(directory)
    sent = collections.Counter()
    for number in range(count):
        # Each piece begins and ends some names. A name that begins with a dot would be left out.
        pieces = [PIECES[number % len(PIECES)], *draw.choices(PIECES, k=draw.randrange(4))]
        draw.shuffle(pieces)
        pieces.insert(draw.randrange(len(pieces) + 1), str(number).encode())
        name = b"".join(pieces)
        name = b"x" + name if name.startswith(b".") else name
        contents = draw.randbytes(draw.randrange(300))
        with open(os.path.join(directory, name), "xb") as file:
            file.write(contents)
        sent[name, hashlib.sha256(contents).hexdigest()] += 1

    def keep(record):
        # The first part has the bytes of the name, and the second the file.
        exact, file = record["parts"] if record["complete"] else (None, None)
        if file is None:
            return None
        name = exact["value"].encode() if exact["value_b64"] is None else base64.b64decode(exact["value_b64"])
        return name, file["sha256"], file["filename"]

    receiver = Receiver(formstream, keep=keep)
    with subprocess.Popen(["find", ".", "-type", "f", "-print0"], cwd=directory, stdout=subprocess.PIPE) as found:
        done = subprocess.run(
            [formstream, "send", "-j", "16", "-F", "exact={name}", receiver.url, "--files-from0", "-"],
            cwd=directory, stdin=found.stdout, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    receiver.end()
    check(done.returncode == 0, f"it ended with {done.returncode}: {done.stderr.decode(errors='replace')}")
    received = collections.Counter(record and record[:2] for record in receiver.records)
    equal = sum((sent & received).values())
    shown = sum(record is not None and record[2] == in_header(record[0]) for record in receiver.records)
    invalid = sum(b"\xef\xbf\xbd" in name.decode(errors="replace").encode() for name, _ in sent)
    check(equal == count and received == sent, f"{equal} of {count} names and digests are equal")
    check(shown == count, f"{shown} of {count} file names in headers are right")
    print(f"{count} files with awkward names, {invalid} of them not UTF-8: {equal} names and digests equal on the "
          f"receiver, {shown} as browsers write them in the header")
