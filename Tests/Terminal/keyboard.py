#!/usr/bin/env python3
"""Runs a program on a terminal as somebody at the keyboard does.

usage: keyboard.py STEP... -- PROGRAM [ARGUMENT]...

A step is see:TEXT (wait until the program shows it), type:TEXT (\\n and \\x04 are Enter and Ctrl-D), echo:on or echo:off (what
the terminal does now), or signal:NAME. Prints what the terminal showed, then "exit CODE" or "signal NUMBER", and whether it
shows at the end what is typed.
"""

import os
import pty
import select
import signal
import sys
import termios


def main():
    steps, program = sys.argv[1:sys.argv.index("--")], sys.argv[sys.argv.index("--") + 1:]
    # A second descriptor of the terminal keeps its settings until they were looked at.
    master, slave = os.openpty()
    child = os.fork()
    if child == 0:
        os.close(master)
        os.login_tty(slave)
        os.execvp(program[0], program)
    seen = b""

    def read(limit):
        nonlocal seen
        ready, _, _ = select.select([master], [], [], limit)
        if ready:
            seen += os.read(master, 4096)
        return bool(ready)

    def has_echo():
        return "on" if termios.tcgetattr(slave)[3] & termios.ECHO else "off"

    for step in steps:
        kind, value = step.split(":", 1)
        if kind == "see":
            while value.encode() not in seen:
                if not read(60):
                    sys.exit(f"{value!r} does not appear: {seen!r}")
        elif kind == "type":
            os.write(master, value.encode().decode("unicode_escape").encode("latin-1"))
        elif kind == "echo":
            while has_echo() != value:
                read(0.01)
        elif kind == "signal":
            os.kill(child, getattr(signal, value))
    ended, status = 0, 0
    while not ended:
        read(0.01)
        ended, status = os.waitpid(child, os.WNOHANG)
    while read(0):
        pass
    sys.stdout.write(seen.decode("utf-8", "replace").replace("\r\n", "\n"))
    if os.WIFSIGNALED(status):
        print(f"signal {os.WTERMSIG(status)}")
    else:
        print(f"exit {os.WEXITSTATUS(status)}")
    print(f"echo {has_echo()}")


main()
