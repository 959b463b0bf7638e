#!/usr/bin/env python3
"""A terminal that understands only what formstream writes to one, and fails at everything else.

usage: terminal.py COLUMNS < RECORDING: prints the rows that are left.

Two kinds of terminals can be chosen: those that break lines anew when their width changes, as most do, and those that
cut them off, as xterm does.
"""

import re
import sys
import unicodedata

TOKEN = re.compile(r"""
    \x1b\[(?P<up>\d+)A | (?P<rest_of_line>\x1b\[K) | (?P<rest_of_screen>\x1b\[J) | (?P<colour>\x1b\[\d+m)
    | \x1b\]columns;(?P<columns>\d+)\x07  # what a test writes when it changes the width
    | \x1b\[\?7(?P<breaking>[lh]) | (?P<return>\r) | (?P<feed>\n) | (?P<tab>\t) | (?P<text>[^\x00-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]+)
    """, re.VERBOSE)
# What a status consists of: lines that are each cleared to their end, the last one with everything below it.
STATUS = re.compile(r"\r\x1b\[\?7l((?:[^\r\n\x1b]|\x1b\[\d+m|\x1b\[K\r+\n)+)\x1b\[J\x1b\[\?7h\r")


def width(text):
    """How many columns some text takes."""
    return sum(
        0 if unicodedata.category(character) in ("Mn", "Me", "Cf")
        else 2 if unicodedata.east_asian_width(character) in "WF" else 1
        for character in text)


class Terminal:
    """The rows of a terminal and those that have left it at its top, and the cursor."""

    def __init__(self, columns, height=24, reflows=True):
        self.columns, self.height, self.reflows = columns, height, reflows
        # The characters of each row; and whether its line goes on in the next row.
        self.rows, self.goes_on = [[]], [False]
        self.row = self.column = 0
        self.breaks = True

    def feed(self, text):
        place = 0
        while place < len(text):
            token = TOKEN.match(text, place)
            if token is None:
                raise ValueError(f"this must not reach a terminal: {text[place:place + 40]!r}")
            place = token.end()
            kind = token.lastgroup
            if kind == "text":
                for character in token["text"]:
                    self.write(character)
            elif kind == "up":
                self.row = max(self.row - int(token["up"]), len(self.rows) - self.height, 0)
            elif kind == "breaking":
                self.breaks = token["breaking"] == "h"
            elif kind == "columns":
                self.resize(int(token["columns"]))
            elif kind == "return":
                self.column = 0
            elif kind == "feed":
                self.next_row()
            elif kind == "tab":
                self.column = min((self.column // 8 + 1) * 8, self.columns - 1)
            elif kind in ("rest_of_line", "rest_of_screen"):
                del self.rows[self.row][self.column:]
                self.goes_on[self.row] = False
                if kind == "rest_of_screen":
                    del self.rows[self.row + 1:], self.goes_on[self.row + 1:]

    def next_row(self):
        self.row += 1
        if self.row == len(self.rows):
            self.rows.append([])
            self.goes_on.append(False)

    def write(self, character):
        size = width(character)
        if self.column + size > self.columns and not self.breaks:
            self.column = self.columns - size
        elif self.column + size > self.columns:
            self.goes_on[self.row] = True
            self.next_row()
            self.column = 0
        row = self.rows[self.row]
        row.extend(" " * (self.column + size - len(row)))
        if size == 0:
            row[self.column - 1] += character
            return
        row[self.column:self.column + size] = [character] + [""] * (size - 1)
        self.column += size

    def resize(self, columns):
        self.columns = columns
        if not self.reflows:
            self.rows = [row[:columns] for row in self.rows]
            self.column = min(self.column, columns - 1)
            return
        rows, goes_on, line, cursor = [], [], [], None
        for index, row in enumerate(self.rows):
            if index == self.row:
                cursor = len(line) + self.column
            line += row
            if self.goes_on[index] and index + 1 < len(self.rows):
                continue
            if cursor is not None:
                self.row, self.column = len(rows) + cursor // columns, cursor % columns
                cursor = None
            pieces = [line[start:start + columns] for start in range(0, max(len(line), 1), columns)]
            rows += pieces
            goes_on += [True] * (len(pieces) - 1) + [False]
            line = []
        self.rows, self.goes_on = rows, goes_on
        while self.row >= len(self.rows):
            self.rows.append([])
            self.goes_on.append(False)

    def text(self):
        """The lines, whether they take one row or more."""
        text = ""
        for row, goes_on in zip(self.rows, self.goes_on):
            text += "".join(row) + ("" if goes_on else "\n")
        return [line.rstrip() for line in text.rstrip("\n").split("\n")]


def statuses(recording):
    """The lines of each status that was drawn."""
    for drawn in STATUS.finditer(recording):
        yield [re.sub(r"\x1b\[\d+m", "", line) for line in re.split(r"\x1b\[K\r+\n", drawn[1])]


if __name__ == "__main__":
    terminal = Terminal(int(sys.argv[1]))
    try:
        terminal.feed(sys.stdin.buffer.read().decode())
    except ValueError as error:
        sys.exit(str(error))
    print("\n".join(terminal.text()))
