"""A file system (FUSE) with one file, `file`, that blocks one operation until SIGUSR1 arrives.

usage: blocking-files.py DIRECTORY SIZE OPERATION [OFFSET]

It prints `mounted`, and `blocked` when the first operation blocks. OPERATION is open, read, flush or getattr; reads block
only from OFFSET on. A caller that is killed meanwhile gets an error, so that it can end. The file holds byte 7.

Only operations of the process that started it block. Another program that this process starts closes the open file on its
way (exec closes what is not inherited), and that process may be waiting for it with all its threads.
"""

import ctypes
import os
import select
import signal
import struct
import sys

directory, size, operation = sys.argv[1], int(sys.argv[2]), sys.argv[3]
offset = int(sys.argv[4]) if len(sys.argv) > 4 else 0
starter = os.getppid()

LOOKUP, FORGET, GETATTR, OPEN, READ, STATFS, RELEASE = 1, 2, 3, 14, 15, 17, 18
FLUSH, INIT, ACCESS, INTERRUPT, DESTROY, BATCH_FORGET = 25, 26, 34, 36, 38, 42
NAMES = {OPEN: "open", READ: "read", FLUSH: "flush", GETATTR: "getattr"}
ENOENT, EINTR, ENOSYS = 2, 4, 38

device = os.open("/dev/fuse", os.O_RDWR | os.O_CLOEXEC)
libc = ctypes.CDLL(None, use_errno=True)
options = f"fd={device},rootmode=40000,user_id={os.getuid()},group_id={os.getgid()},allow_other"
if libc.mount(b"formstream-tests", os.fsencode(directory), b"fuse", 6, options.encode()) != 0:
    sys.exit(os.strerror(ctypes.get_errno()))

held = []
is_released = False


def attributes(node):
    """struct fuse_attr. Its times are long ago, so that the file is not taken for one that is being written."""
    mode, length = (0o40755, 0) if node == 1 else (0o100644, size)
    return struct.pack("<6Q10I", node, length, (length + 511) // 512, 10**9, 10**9, 10**9, 0, 0, 0,
                       mode, 1, 0, 0, 0, 4096, 0)


def reply(unique, body=b"", error=0):
    try:
        os.write(device, struct.pack("<IiQ", 16 + len(body), -error, unique) + body)
    except OSError:
        pass  # The caller is gone.


def process(thread):
    """The process of a thread, or None if it has ended."""
    try:
        with open(f"/proc/{thread}/status") as status:
            return next(int(line.split()[1]) for line in status if line.startswith("Tgid:"))
    except OSError:
        return None


def blocks(code, thread, body):
    if is_released or NAMES.get(code) != operation or process(thread) != starter:
        return False
    return code != READ or sum(struct.unpack_from("<QI", body, 8)) > offset


def serve(code, unique, node, body):
    if code == INIT:
        return reply(unique, struct.pack("<IIIIHHIIHHI28x", 7, 31, 1 << 17, 0, 12, 9, 1 << 17, 1, 32, 0, 0))
    if code == LOOKUP:
        if body.rstrip(b"\0") != b"file":
            return reply(unique, error=ENOENT)
        # The kernel may keep nothing: each question arrives here.
        return reply(unique, struct.pack("<4Q2I", 2, 0, 0, 0, 0, 0) + attributes(2))
    if code == GETATTR:
        return reply(unique, struct.pack("<QII", 0, 0, 0) + attributes(node))
    if code == OPEN:
        return reply(unique, struct.pack("<QII", 1, 0, 0))
    if code == READ:
        start, count = struct.unpack_from("<QI", body, 8)
        return reply(unique, b"\7" * max(0, min(count, size - start)))
    if code == STATFS:
        return reply(unique, struct.pack("<5Q4I24x", 0, 0, 0, 1, 0, 4096, 255, 4096, 0))
    if code in (RELEASE, FLUSH, ACCESS):
        return reply(unique)
    if code == INTERRUPT:
        (killed,) = struct.unpack_from("<Q", body)
        for request in [request for request in held if request[1] == killed]:
            held.remove(request)
            reply(killed, error=EINTR)
        return None
    if code in (FORGET, BATCH_FORGET, DESTROY):
        return None
    return reply(unique, error=ENOSYS)


# A byte in this pipe says that SIGUSR1 has arrived.
woken, waking = os.pipe()
os.set_blocking(waking, False)
signal.set_wakeup_fd(waking)
signal.signal(signal.SIGUSR1, lambda *_: None)
print("mounted", flush=True)
while True:
    ready, _, _ = select.select([device, woken], [], [])
    if woken in ready:
        os.read(woken, 1)
        is_released = True
        for request in held:
            serve(*request)
        held = []
    if device in ready:
        try:
            message = os.read(device, 1 << 18)
        except OSError:
            break  # Unmounted.
        _, code, unique, node, _, _, thread = struct.unpack_from("<IIQQ3I", message)
        if blocks(code, thread, message[40:]):
            held.append((code, unique, node, message[40:]))
            if len(held) == 1:
                print("blocked", flush=True)
        else:
            serve(code, unique, node, message[40:])
