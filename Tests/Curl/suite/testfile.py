"""Reads a test of curl's suite. `tests/FILEFORMAT.md` in curl's source explains the format."""

import base64
import re

SECTION = re.compile(rb"^[ \t]*<(/?)([a-z]+[0-9]*)((?:[ \t]+[^>]*)?)>[ \t]*\r?$", re.M)
ATTRIBUTE = re.compile(r"""([a-z0-9-]+)=(?:"([^"]*)"|([^ ]+))""")
HEADER_LINE = re.compile(rb"^(HTTP/(1\.1|1\.0|2|3) [1-5][^\r]*|(GET|POST|PUT|DELETE) \S+ HTTP/\d.*"
                         rb"|[A-Za-z0-9_-]+: [^\r]*)\n?\Z", re.S)


def preprocessed(content, features, variables):
    """The text of a test with its conditions and variables carried out."""
    lines, shown, ends_lines = [], True, False
    for line in content.splitlines(keepends=True):
        word = line.strip()
        if word.startswith(b"%if "):
            name = word[4:].decode()
            shown = (name.lstrip("!") in features) != name.startswith("!")
        elif word.startswith(b"%else"):
            shown = not shown
        elif word.startswith(b"%endif"):
            shown = True
        elif shown:
            if re.match(rb" *<data[^>]*crlf=\"yes\"", line):
                ends_lines = True
            elif re.match(rb" *</data", line):
                ends_lines = False
            line = without_codes(with_variables(line, variables))
            if ends_lines and HEADER_LINE.match(line):
                line = line.rstrip(b"\r\n") + b"\r\n"
            lines.append(line)
    return b"".join(lines)


def with_variables(line, variables):
    for name, value in variables:
        line = line.replace(b"%" + name.encode(), value.encode())
    return line


def without_codes(line):
    """The line with %b64[...]b64%, %hex[...]hex% and %repeat[...]% replaced by what they stand for."""
    def raw(text):
        return re.sub(rb"%([0-9A-Fa-f]{2})", lambda code: bytes([int(code[1], 16)]), text)
    line = re.sub(rb"(?i)%b64\[(.*)\]b64%", lambda found: base64.b64encode(raw(found[1])), line)
    line = re.sub(rb"(?i)%hex\[(.*)\]hex%", lambda found: raw(found[1]), line)
    return re.sub(rb"(?i)%repeat\[(\d+) x (.*)\]%", lambda found: raw(found[2]) * int(found[1]), line)


class Part:
    """A section, such as <data> of <reply>: its attributes and its bytes."""

    def __init__(self, attributes, content):
        self.attributes = {name: quoted or bare for name, quoted, bare in ATTRIBUTE.findall(attributes.decode())}
        if self.attributes.get("base64") == "yes":
            content = base64.b64decode(content)
        if self.attributes.get("hex") == "yes":
            content = bytes.fromhex(content.decode())
        if self.attributes.get("nonewline") == "yes":
            content = content[:-2] if content.endswith(b"\r\n") else content.removesuffix(b"\n")
        self.content = content

    @property
    def lines(self):
        return [line.strip() for line in self.content.decode(errors="replace").splitlines() if line.strip()]


class TestFile:
    """The sections of a test by their places, such as ("reply", "data")."""

    def __init__(self, content):
        self.parts = {}
        outer = inner = None
        for mark in SECTION.finditer(content):
            closes, name = mark[1] == b"/", mark[2].decode()
            if inner is not None:
                if closes and name == inner[0]:
                    begin = content.find(b"\n", inner[2]) + 1
                    self.parts.setdefault((outer, name), Part(inner[1], content[begin:mark.start()]))
                    inner = None
            elif closes and name == outer:
                outer = None
            elif outer is None and name in ("info", "reply", "client", "verify"):
                outer = name
            elif outer is not None and not closes:
                inner = (name, mark[3], mark.end() - 1)

    def part(self, outer, name):
        return self.parts.get((outer, name))

    def lines(self, outer, name):
        part = self.part(outer, name)
        return part.lines if part else []

    def content(self, outer, name):
        part = self.part(outer, name)
        return part.content if part else None
