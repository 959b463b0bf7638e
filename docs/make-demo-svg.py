#!/usr/bin/env python3
"""Records `Samples/demo` in a terminal and writes the recording as an SVG: docs/demo.svg.

    docs/make-demo-svg.py .build/debug/formstream > docs/demo.svg

The picture plays once, at the speed of the run, and then shows the last screen. A viewer that does not
play animations shows the last screen at once. Nothing but Python is needed.
"""

import html
import os
import pty
import re
import struct
import sys
import termios
import time
from fcntl import ioctl

COLUMNS, ROWS = 92, 24
CELL, LINE, MARGIN = 8.4, 19, 14  # in pixels; monospace letters of 14 px are 8.4 px wide
PROMPT = "$ make demo"
SCRIPT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../Samples/demo")
LONGEST_PAUSE = 1.2  # seconds: a longer one of the run is shortened to this


def record(program):
    """Runs the demo in a terminal, and returns (seconds, text) for each piece it wrote, and its exit code."""
    child, terminal = pty.fork()
    if child == 0:
        os.environ.update(TERM="xterm-256color", COLUMNS=str(COLUMNS), LANG="C.UTF-8")
        # The parent sets the size of the terminal first.
        sys.stdin.readline()
        os.execv(SCRIPT, [SCRIPT, program])
    ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, COLUMNS, 0, 0))
    settings = termios.tcgetattr(terminal)
    settings[3] &= ~termios.ECHO
    termios.tcsetattr(terminal, termios.TCSANOW, settings)
    os.write(terminal, b"\n")
    start, pieces = time.monotonic(), []
    while True:
        try:
            piece = os.read(terminal, 65536)
        except OSError:  # Linux reports the end of a terminal as an error
            piece = b""
        if not piece:
            break
        pieces.append((time.monotonic() - start, piece))
    return pieces, os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def screens(pieces):
    """Yields (seconds, lines) after each piece: carriage returns and erased lines are carried out."""
    lines, column, pending = [""], 0, b""
    clock = last = 0.0
    for seconds, piece in pieces:
        clock += min(seconds - last, LONGEST_PAUSE)
        last = seconds
        pending += piece
        try:
            text, pending = pending.decode(), b""
        except UnicodeDecodeError:  # a character that is cut in two
            continue
        for token in re.findall(r"\x1b\[[0-9;?]*[A-Za-z]|[\r\n]|[^\r\n\x1b]+", text):
            if token == "\r":
                column = 0
            elif token == "\n":
                lines.append("")
                column = 0
            elif token[-1] in "KJ" and token.startswith("\x1b"):
                lines[-1] = lines[-1][:column] if token[2:-1] in ("", "0") else ""
            elif not token.startswith("\x1b"):
                old = lines[-1].ljust(column)
                lines[-1] = old[:column] + token + old[column + len(token):]
                column += len(token)
        yield clock, list(lines)


def spans(pieces):
    """Returns (first second, last second or None, row, text) for each text that a row shows."""
    shown, result = {}, []
    for seconds, lines in screens(pieces):
        for row, text in enumerate(lines):
            before = shown.get(row)
            if before and before[1] == text.rstrip():
                continue
            if before and before[1]:
                result.append((before[0], seconds, row, before[1]))
            shown[row] = (seconds, text.rstrip())
    return result + [(begun, None, row, text) for row, (begun, text) in sorted(shown.items()) if text]


def svg(texts):
    width = max(len(text) for *_, text in texts) * CELL + 2 * MARGIN
    height = (max(row for _, _, row, _ in texts) + 2) * LINE + 2 * MARGIN
    yield (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0f} {height:.0f}" '
        f'width="{width:.0f}" height="{height:.0f}" role="img" aria-label="A run of make demo">'
    )
    yield (
        "<style>text{font:14px ui-monospace,SFMono-Regular,Menlo,Consolas,'DejaVu Sans Mono',monospace;"
        "fill:#d7dae0;white-space:pre}.p{fill:#8fd18f}"
        "@keyframes later{from,to{visibility:hidden}}@keyframes now{from,to{visibility:visible}}</style>"
    )
    yield f'<rect width="100%" height="100%" rx="8" fill="#1b1e24"/>'
    yield f'<text class="p" x="{MARGIN}" y="{MARGIN + 14}">{html.escape(PROMPT)}</text>'
    for begun, ended, row, text in texts:
        begun += 0.6  # time to read the prompt
        if ended is None:
            # Hidden until its time comes, and visible without animations.
            style = f"animation:later {begun:.2f}s"
        else:
            length = ended + 0.6 - begun
            if length < 0.03:
                continue
            style = f"visibility:hidden;animation:now {length:.2f}s {begun:.2f}s"
        y = MARGIN + 14 + (row + 1) * LINE
        yield (
            f'<text x="{MARGIN}" y="{y}" textLength="{len(text) * CELL:.1f}" xml:space="preserve" '
            f'style="{style}">{html.escape(text)}</text>'
        )
    yield "</svg>"


def main():
    if len(sys.argv) != 2:
        sys.exit("usage: make-demo-svg.py FORMSTREAM > demo.svg")
    pieces, code = record(sys.argv[1])
    if code != 0:
        sys.exit(f"The demo ended with {code}: " + b"".join(piece for _, piece in pieces).decode())
    print("\n".join(svg(spans(pieces))))


main()
