"""The awkward forms that `formstream encode` makes, and what a reader must find in them.

What is expected is what was put in, written here by hand; nothing is computed by an encoder or a parser.
"""

import dataclasses
import unicodedata


@dataclasses.dataclass
class Part:
    """One part, and its flags on the command line."""
    name: str
    content: bytes
    filename: str = None
    type: str = None
    headers: list = dataclasses.field(default_factory=list)
    flags: list = dataclasses.field(default_factory=list)
    # Whether the contents are in a file, and the file's name if it matters.
    is_file: bool = False
    on_disk: str = None
    # The contents of the file, if they are more than the part's.
    stored: bytes = None


@dataclasses.dataclass
class Case:
    name: str
    parts: list
    flags: list = dataclasses.field(default_factory=list)
    boundary: str = "zoo"
    content_type: str = "multipart/form-data; boundary=zoo"


def field(name, value, type=None, headers=()):
    """A text field, given as --field."""
    content = value.encode() if isinstance(value, str) else value
    flags = [b"--field", name.encode() + b"=" + content]
    return with_flags(Part(name, content, None, type), flags, headers)


def contents(name, value, type=None):
    """A text field whose value is in a file, given as -F 'NAME=<PATH'."""
    flags = ["-F", name + "=<{path}" + (f";type={type}" if type else "")]
    return Part(name, value, None, type, flags=flags, is_file=True)


def file(name, content=b"abc", filename="a.txt", type=None, headers=(), on_disk=None):
    """A file, given as --file and --filename. With `on_disk` its name is that of the path."""
    content = content.encode() if isinstance(content, str) else content
    filename = on_disk or filename
    part = Part(name, content, filename, type, is_file=True, on_disk=on_disk)
    flags = ["--file", name + "={path}"]
    if not on_disk:
        flags += ["--filename", filename]
    with_flags(part, flags, headers)
    # The type for files of which nothing is known.
    part.type = type or "application/octet-stream"
    return part


def with_flags(part, flags, headers):
    part.headers = list(headers)
    if part.type:
        flags = flags + ["--type", part.type]
    for name, value in headers:
        flags = flags + ["--part-header", f"{name}: {value}"]
    part.flags = flags
    return part


def both(case, text, **options):
    """One text as a field's name, a file's name, and the name of a file's field."""
    parts = [file("f", filename=text)]
    # Neither --field nor curl's -F allows a name with =.
    if "=" not in text:
        parts = [field(text, "v"), *parts, file(text + "2", filename="b.txt")]
    return Case(case, parts, **options)


def value(case, content):
    """The same content as a field, with a type, and as a file; a field after each shows that the reader continues."""
    return Case(case, [field("v", content), field("after", "1"), file("f", content), file("last", b"2")])


def large(case, content):
    return Case(case, [contents("v", content), file("f", content), file("last", b"2")])


def quoted(boundary):
    return {"boundary": boundary, "content_type": f'multipart/form-data; boundary="{boundary}"'}


ALL_BYTES = bytes(range(256))
CRLF_DENSE = (b"\r\n--\r\n--z\r\n--zo\r\r\n\n" * 60000)[:(1 << 20) + 3]
CAFE = "caf\u00e9"
SEVENTY = "abcdefghijABCDEFGHIJ0123456789-abcdefghijABCDEFGHIJ0123456789_tenthmark"[:70]

CASES = [
    # Empty, or almost.
    Case("no-parts", []),
    Case("empty-value", [field("a", ""), field("b", "1")]),
    Case("empty-value-last", [field("a", "1"), field("b", "")]),
    Case("empty-name", [field("", "v"), field("b", "1")]),
    Case("empty-file", [file("f", b"", "empty.txt"), field("b", "1")]),
    Case("empty-file-name", [file("f", b"abc", ""), field("b", "1")]),
    Case("empty-file-empty-name", [file("f", b"", ""), field("b", "1")]),
    Case("file-without-type", [file("f", b"abc", "a.txt")]),
    Case("file-with-type", [file("f", b"abc", "a.png", "image/png")]),
    Case("one-file-named-by-its-path", [file("f", b"abc", on_disk="plain.txt")]),
    Case("awkward-name-on-disk", [file("f", b"abc", on_disk="a;b \u00fc 'c' = 1%.txt")]),
    # Names that need quotes, or look like syntax.
    both("quote", 'a"b'),
    both("only-quotes", '""'),
    both("quote-at-the-end", 'ab"'),
    both("apostrophe", "a'b"),
    both("backslash", "a\\b"),
    both("backslash-at-the-end", "ab\\"),
    both("backslash-and-quote", 'a\\"b'),
    both("two-backslashes", "a\\\\b"),
    both("semicolon", "a;b"),
    both("comma", "a,b"),
    both("colon", "a:b"),
    both("percent", "100%"),
    both("percent-22-as-text", "a%22b"),
    both("percent-codes-as-text", "a%0D%0A%41b"),
    both("plus-and-ampersand", "a+b&c"),
    both("html", "<b>&quot;&amp;</b>"),
    both("looks-like-filename", "a; filename=b"),
    both("looks-like-quoted-filename", 'a"; filename="b'),
    both("looks-like-parameter", "a; filename"),
    both("encoded-word", "?utf-8?q?a"),
    Case("equals-in-file-name", [file("f", filename="a=b; name=c.txt")]),
    Case("encoded-word-file-name", [file("f", filename="=?utf-8?q?a=C3=BC?=")]),
    Case("name-is-filename", [field("filename", "v"), file("name", filename="filename")]),
    # White space.
    both("space", "a b"),
    both("spaces-around", "  a  "),
    both("tab", "a\tb"),
    # Other scripts, each without Unicode normalization.
    both("umlaut-composed", unicodedata.normalize("NFC", CAFE)),
    both("umlaut-decomposed", unicodedata.normalize("NFD", CAFE)),
    both("emoji", "\U0001f468\u200d\U0001f469\u200d\U0001f467.png"),
    both("right-to-left", "\u05e9\u05dc\u05d5\u05dd \u0645\u0631\u062d\u0628\u0627"),
    both("chinese", "\u6587\u4ef6\u540d.txt"),
    both("byte-order-mark", "\ufeffa"),
    # Line breaks. In names the browser profile makes each of them CRLF, in file names none.
    Case("crlf-in-name", [field("a\r\nb", "v")]),
    Case("lf-in-file-name", [file("f", filename="a\nb")]),
    Case("cr-in-file-name", [file("f", filename="a\rb")]),
    Case("crlf-in-file-name", [file("f", filename="a\r\nb")]),
    Case("header-in-file-name", [file("f", filename='a"\r\nX-Evil: 1\r\n\r\nbody')]),
    # Long names: 1 KiB and 7 KiB.
    both("long-1-KiB", "n" * 1024),
    Case("long-name-7-KiB", [field("n" * 7168, "v")]),
    Case("long-file-name-7-KiB", [file("f", filename="n" * 7168)]),
    # File names that are paths, and hidden ones.
    Case("path-up", [file("f", filename="../x")]),
    Case("path-root", [file("f", filename="/etc/passwd")]),
    Case("path-windows", [file("f", filename="C:\\dir\\a.txt")]),
    Case("dot", [file("f", filename=".")]),
    Case("dots", [file("f", filename="..")]),
    Case("dot-file", [file("f", filename=".hidden")]),
    Case("no-extension", [file("f", filename="README")]),
    # Names with a special meaning for some readers.
    Case("array-names", [field("tags[]", "1"), field("tags[]", "2")]),
    Case("nested-names", [field("a[b][c]", "1"), field("a[b][d]", "2")]),
    Case("array-of-files", [file("f[]", b"1", "1.txt"), file("f[]", b"2", "2.txt")]),
    Case("open-bracket", [field("a[", "1")]),
    Case("dotted-name", [field("a.b", "1")]),
    Case("charset-field", [field("_charset_", "utf-8"), field("a", "\u00fc")]),
    Case("same-name-twice", [field("a", "1"), field("a", "2")]),
    Case("same-file-twice", [file("f", b"1", "1.txt"), file("f", b"2", "2.txt")]),
    Case("field-and-file-of-one-name", [field("a", "1"), file("a", b"2", "2.txt")]),
    Case("order", [field("z", "1"), file("y", b"2", "2"), field("x", "3"), file("w", b"4", "4"),
                   field("b", "5")]),
    Case("300-parts", [field(f"n{number}", str(number)) for number in range(300)]),
    # Values that look like delimiters, or end like one.
    value("hyphens", "--"),
    value("short-of-delimiter", "\r\n--zo"),
    value("other-case-delimiter", "\r\n--ZOO\r\n"),
    value("lf-before-delimiter", "a\r\n-zoo\n- -zoo\r\n"),
    value("many-short-delimiters", "\r\n--z\r\n--zo\r\n--\r\n-\r\n\r\n--zo"),
    value("ends-in-cr", "a\r"),
    value("ends-in-lf", "a\n"),
    value("ends-in-crlf", "a\r\n"),
    value("ends-in-crlf-crlf", "a\r\n\r\n"),
    value("ends-in-hyphen", "a-"),
    value("ends-in-crlf-hyphens", "a\r\n--"),
    value("only-cr", "\r"),
    value("only-crlf", "\r\n"),
    value("begins-with-crlf", "\r\na"),
    value("looks-like-headers", "Content-Type: text/html\r\n\r\n<b>"),
    value("spaces-around-value", "  a\t "),
    value("unicode-value", "\u00fc \u6587 \U0001f600"),
    value("byte-order-mark-value", "\ufeffa"),
    # Bytes that are not text. An argument can't have a NUL, so the value is in a file.
    Case("not-utf-8", [field("v", b"a\xff\xfeb"), file("f", b"a\xff\xfeb")]),
    Case("nul", [contents("v", b"a\0b"), file("f", b"a\0b")]),
    Case("all-bytes", [contents("v", ALL_BYTES), file("f", ALL_BYTES)]),
    # Around the sizes of readers' buffers.
    *[large(f"{size}-bytes", b"x" * size)
      for edge in (4096, 8192, 65536) for size in (edge - 1, edge, edge + 1)],
    *[large(f"crlf-at-{edge}", b"x" * (edge - 1) + b"\r\n" + b"y" * 10) for edge in (4096, 8192, 65536)],
    Case("1-MiB-and-3-crlf-dense", [file("f", CRLF_DENSE), file("last", b"2")]),
    Case("range-of-a-file", [dataclasses.replace(
        file("f", b"23456"), stored=b"0123456789",
        flags=["--file", "f={path}", "--filename", "a.txt", "--range", "2:5"])]),
    # Headers and types.
    Case("part-headers", [file("f", headers=[("X-Checksum", "sha-256=abc; q=\"1\""), ("Content-ID", "<1>")]),
                          field("a", "1", headers=[("X-Note", "h\u00fc")])]),
    Case("transfer-encoding-8bit", [field("a", "\u00fc", headers=[("Content-Transfer-Encoding", "8bit")])]),
    # `encode` writes headers as given: this one claims an encoding that the bytes don't have.
    Case("transfer-encoding-base64", [
        field("a", "YWJj", headers=[("Content-Transfer-Encoding", "base64")])]),
    Case("text-with-type", [field("a", "\u00fc", "text/plain"), field("b", "2")]),
    Case("text-utf-8", [field("a", "\u00fc", "text/plain; charset=utf-8"), field("b", "2")]),
    Case("text-latin-1", [field("a", b"\xfc", "text/plain; charset=iso-8859-1"), field("b", "2")]),
    Case("text-utf-16", [contents("a", "\u00fc".encode("utf-16-le"), "text/plain; charset=utf-16le")]),
    Case("json-field", [field("a", '{"b": 1}', "application/json")]),
    Case("type-with-quoted-parameter", [file("f", type='text/plain; title="a;b"; charset=utf-8')]),
    Case("upper-case-type", [file("f", type="Image/PNG")]),
    Case("file-of-type-multipart-mixed", [
        file("f", b"--inner\r\n\r\na\r\n--inner--\r\n", "a.eml", "multipart/mixed; boundary=inner"),
        field("b", "1")]),
    # Boundaries.
    Case("boundary-of-1", [field("a", "1\r\n--"), file("f")], boundary="Q",
         content_type="multipart/form-data; boundary=Q"),
    Case("boundary-of-70", [field("a", "1"), file("f")], boundary=SEVENTY,
         content_type=f"multipart/form-data; boundary={SEVENTY}"),
    Case("boundary-with-space", [field("a", "1"), file("f")], **quoted("a b?c")),
    Case("boundary-with-all-marks", [field("a", "1"), file("f")], **quoted("'()+_,-./:=?")),
    Case("boundary-with-equals", [field("a", "1"), file("f")], **quoted("a=b")),
    Case("boundary-with-comma", [field("a", "1"), file("f")], **quoted("a,b")),
    Case("boundary-with-slash", [field("a", "1"), file("f")], **quoted("a/b:c")),
    Case("boundary-of-hyphens", [field("a", "1"), file("f"), field("b", "- --")], boundary="-----",
         content_type="multipart/form-data; boundary=-----"),
    Case("boundary-ends-in-hyphens", [field("a", "1"), file("f")], boundary="b--",
         content_type="multipart/form-data; boundary=b--"),
    # The other profiles.
    *[both(f"{profile}-{case}", text, flags=["--escaping", profile])
      for profile in ("rfc2231", "backslash", "percent")
      for case, text in [
          ("plain", "a.txt"), ("quote", 'a"b'), ("backslash", "a\\b"), ("backslash-and-quote", 'a\\"b'),
          ("backslash-at-the-end", "ab\\"), ("semicolon", "a;b"), ("percent", "100%"),
          ("percent-22-as-text", "a%22b"), ("space", "a b"), ("unicode", "\u00fc\u6587"),
          ("apostrophe", "a'b*c")]],
    Case("rfc2231-lf-in-file-name", [file("f", filename="a\nb")], flags=["--escaping", "rfc2231"]),
    Case("percent-lf-in-file-name", [file("f", filename="a\nb")], flags=["--escaping", "percent"]),
    Case("percent-path", [file("f", filename="../x/y")], flags=["--escaping", "percent"]),
    # In browser text each line ends in CRLF. The bytes of a file are unchanged.
    Case("browser-text", [
        dataclasses.replace(field("a", "1\r\n2"), flags=["--field", "a=1\n2"]),
        dataclasses.replace(field("b", "1\r\n2\r\n"), flags=["--field", "b=1\r2\r\n"]),
        dataclasses.replace(field("c", "1\r\n\r\n2"), flags=["--field", "c=1\n\r2"]),
        file("f", b"1\n2\r3")], flags=["--browser-text"]),
    Case("lf-in-name", [dataclasses.replace(field("a\r\nb", "v"), flags=["--field", "a\nb=v"])]),
    Case("cr-in-name", [dataclasses.replace(field("a\r\nb", "v"), flags=["--field", "a\rb=v"])]),
]
