"""Types lines into a shell on a terminal, and prints the arguments that result; see CompletionTests.

usage: complete.py SHELL START LINE...

START is what the shell runs first. In a LINE, each tab is a completion. The command is replaced by a function that prints its
arguments, so what is compared is what a person would have run.
"""

import os
import pty
import re
import select
import sys

DEADLINE = 60
SHELLS = {
    "bash": ["bash", "--norc", "--noprofile", "-i"],
    "zsh": ["zsh", "-f", "-i"],
}
FUNCTION = "formstream() { printf '<%s>' \"$@\"; echo '#'; }"


class Terminal:
    def __init__(self, shell):
        self.seen = b""
        self.pid, self.terminal = pty.fork()
        if self.pid == 0:
            os.environ["TERM"] = "dumb" if shell == "bash" else "vt100"
            os.environ["PS1"] = "ready> "
            os.environ["HOME"] = os.getcwd()
            os.execvp(shell, SHELLS[shell])

    def type(self, text):
        os.write(self.terminal, text.encode())

    def read_to(self, mark):
        """What the shell writes up to the mark."""
        while not (found := re.search(mark, self.seen)):
            if not select.select([self.terminal], [], [], DEADLINE)[0]:
                sys.exit(f"The shell does not write {mark}: {self.seen!r}")
            try:
                self.seen += os.read(self.terminal, 1 << 16)
            except OSError:
                sys.exit(f"The shell has ended: {self.seen!r}")
        text, self.seen = self.seen[:found.end()], self.seen[found.end():]
        return text.decode(errors="replace")


def main(shell, start, *lines):
    terminal = Terminal(shell)
    terminal.type(f"{start}\n{FUNCTION}; echo begin''ning\n")
    terminal.read_to(rb"beginning\r?\n")
    for line in lines:
        terminal.type(f"{line}\n")
        print(re.search(r"(<[^\r\n]*>)#", terminal.read_to(rb">#\r?\n"))[1], flush=True)
    terminal.type("exit\n")
    os.waitpid(terminal.pid, 0)


main(*sys.argv[1:])
