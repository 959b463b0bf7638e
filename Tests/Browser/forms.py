"""Awkward forms, as controls of a page and as flags of our command.

An entry describes a control of the page. Its flags have the same name and value unless `typed` says otherwise. The expected
bytes are what Chromium sends; they are not written down here, except for forms that our command line can't express.
"""

import dataclasses


@dataclasses.dataclass
class Entry:
    """One control of a form. `typed` lists its parts on our command line if they differ from the name and value."""
    control: str
    name: str
    value: str = ""
    files: list = dataclasses.field(default_factory=list)
    typed: list = None


@dataclasses.dataclass
class File:
    """A file that is chosen: made by a script, or on the disk under that name."""
    name: str
    content: bytes = b"abc"
    type: str = ""
    # On the command line, if it differs.
    typed_name: str = None
    typed_type: str = None


@dataclasses.dataclass
class Case:
    name: str
    entries: list
    # How the form is sent: by itself, and by fetch with the form's FormData.
    ways: tuple = ("form", "fetch")
    # Why our command line can't express the form. Chromium must then send the bytes `sent`.
    untypable: str = None
    sent: bytes = None
    # The accept-charset of the form.
    charset: str = None


def field(name, value, control="hidden", typed=None):
    return Entry(control, name, value, typed=typed)


def made(name, *files, typed=None):
    """Files that a script puts into the field; they can have any name."""
    return Entry("made", name, files=list(files), typed=typed)


def disk(name, *files):
    """Files that are chosen from the disk."""
    return Entry("disk", name, files=list(files))


def both(case, text):
    """One text as the name of a field, as a value, and as a file name."""
    named = [] if "=" in text else [field(text, "v"), made(text + "2", File("b"))]
    return Case(case, [*named, field("v", text), made("f", File(text))])


def value(case, text):
    """One text as the value of a hidden field and of a text area, and in a file."""
    return Case(case, [field("hidden", text), field("area", text, "textarea"),
                       made("file", File("a", text.encode())), field("after", "1")])


FAMILY = "\U0001f468\u200d\U0001f469\u200d\U0001f467"
NO_NAME_WITH_EQUALS = "--field and --file end the name at the first ="
NO_NUL = "an argument ends at a NUL, and no profile writes one into a header"

CASES = [
    # Empty forms and values.
    Case("no-entries", []),
    Case("empty-value", [field("a", ""), field("b", "1"), field("c", "", "textarea")]),
    # A form leaves out controls without a name; FormData filled by a script contains them.
    Case("empty-name-of-a-control", [field("", "v", typed=[]), field("b", "1")]),
    Case("empty-name", [field("", "v", "append"), field("b", "1", "append")], ways=("fetch",)),
    Case("empty-file", [made("f", File("empty.txt", b"", "text/plain")), field("b", "1")]),
    Case("empty-file-name", [made("f", File("", b"abc"))]),
    Case("no-file-chosen", [disk("f", typed_nothing := File("", b"")), field("b", "1")]),
    Case("no-file-chosen-of-several", [field("a", "1"), disk("f[]", typed_nothing)]),
    # Names that need quotes, or look like syntax.
    both("quote", 'a"b'),
    both("only-quotes", '""'),
    both("quote-at-the-end", 'ab"'),
    both("apostrophe", "a'b"),
    both("backslash", "a\\b"),
    both("backslash-at-the-end", "ab\\"),
    both("backslash-and-quote", 'a\\"b'),
    both("semicolon", "a;b"),
    both("looks-like-parameters", "a; filename*; x"),
    both("comma-and-colon", "a,b: c"),
    both("percent", "100%"),
    both("percent-22-as-text", "a%22b"),
    both("percent-codes-as-text", "a%0D%0Ab%0d%41"),
    both("plus-and-ampersand", "a+b&c"),
    both("html", "<b>&quot;&amp;</b>"),
    both("equals", "a=b"),
    both("encoded-word", "?utf-8?q?a?"),
    # Blanks and invisible characters.
    both("space", "a b"),
    both("spaces-around", "  a  "),
    both("only-spaces", "   "),
    both("tab", "a\tb\t"),
    both("vertical-tab-and-form-feed", "a\x0bb\x0cc"),
    both("controls", "\x01\x08\x1b[31m\x7f"),
    both("next-line-and-separators", "a\u0085b\u2028c\u2029d"),
    both("no-break-space", "a\u00a0b"),
    both("zero-width", "a\u200bb\u2060c\u00add"),
    # Other scripts, not normalized.
    both("umlaut-composed", "caf\u00e9"),
    both("umlaut-decomposed", "cafe\u0301"),
    both("combining-alone", "\u0301\u0308"),
    both("cjk", "\u6587\u4ef6\u540d"),
    both("emoji", FAMILY + "\u2764\ufe0f"),
    both("right-to-left", "\u05e9\u05dc\u05d5\u05dd \u0645\u0631\u062d\u0628\u0627"),
    both("direction-turned", "a\u202egpj.exe"),
    both("byte-order-mark", "\ufeffa"),
    both("noncharacter", "a\ufffe\uffffb"),
    both("private-use", "\ue000\U0010ffff"),
    # A JavaScript string can contain half a surrogate pair. Browsers replace it by U+FFFD, and so do the flags.
    Case("half-of-a-pair", [field("a\ud83d", "b\ude00c", typed=[("a\ufffd", "b\ufffdc")]),
                            made("f", File("x\ud83d", typed_name="x\ufffd"))]),
    # Line breaks: browsers make them CRLF in names and values, not in file names and files.
    both("lf", "a\nb"),
    both("cr", "a\rb"),
    both("crlf", "a\r\nb"),
    both("lf-cr", "a\n\rb"),
    both("cr-cr-lf", "a\r\r\nb"),
    both("line-breaks-around", "\n\ra\r\n"),
    both("header-inside", 'a"\r\nX-Evil: 1\r\n\r\nbody'),
    value("lines-lf", "one\ntwo\n\nthree\n"),
    value("lines-cr", "one\rtwo\r\rthree\r"),
    value("lines-crlf", "one\r\ntwo\r\n\r\nthree\r\n"),
    value("lines-mixed", "\n\r\n\r\r\n\n"),
    # Values that look like delimiters.
    value("like-the-boundary", "\r\n------WebKitFormBoundary\r\n------WebKitFormBoundary--\r\n"),
    value("hyphens", "--"),
    value("ends-in-crlf-hyphens", "a\r\n--"),
    value("like-headers", "Content-Type: text/html\r\n\r\n<b>"),
    value("long-value", "0123456789\u00fc\r\n" * 8000),
    Case("long-name", [field("n" * 4096, "v"), made("f", File("f" * 4096))]),
    # Files.
    Case("several-files-in-one-field", [made("f", File("1"), File("2", b""), File("1", b"\r\n"))]),
    Case("files-of-types", [made("f", File("a.png", b"\x89PNG", "image/png"),
                                 File("b", b"{}", "application/json"),
                                 File("c", b"x", "text/plain; charset=utf-8".replace(" ", "")),
                                 File("d.unknown", b"x"))]),
    # The File constructor makes the type lower case.
    Case("type-in-capitals", [made("f", File("a", b"x", "Text/PLAIN", typed_type="text/plain"))]),
    Case("all-bytes", [made("f", File("a", bytes(range(256)) * 5))]),
    Case("path-as-name", [made("f", File("../a\\b/c"), File("C:\\d"), File("."), File(".."))]),
    Case("on-disk", [disk("f", File("plain", b"abc"), File("two", b""), File("three.txt", b"x", "text/plain"))]),
    Case("on-disk-quotes", [disk("f", File('a"b'), File("'"), File("a\\b"), File("ab\\"), File("%22;="))]),
    Case("on-disk-line-breaks", [disk("f", File("a\nb"), File("a\rb"), File("a\r\nb"), File("\n"))]),
    Case("on-disk-scripts", [disk("f", File("caf\u00e9"), File("cafe\u0301"), File("\u6587"), File(FAMILY),
                                  File("a\u202egpj"), File(" a "), File("a\tb"), File(".hidden"))]),
    # Order, and controls of other kinds.
    Case("order", [field("z", "1"), made("y", File("2")), field("x", "3"), disk("w", File("4")),
                   field("z", "5"), field("z", "")]),
    Case("names-with-brackets", [field("a[]", "1"), field("a[]", "2"), field("a[b][c]", "3"), field("a.b", "4")]),
    Case("300-entries", [field(f"n{number}", str(number)) for number in range(300)]),
    Case("line-breaks-in-one-line", [field("a", "b\nc\r\nd", "text", typed=[("a", "bcd")])]),
    Case("choices", [field("on", "", "checkbox", typed=[("on", "on")]), field("c", "\u00fc\n", "checkbox"),
                     field("off", "1", "unchecked", typed=[]), field("gone", "1", "disabled", typed=[]),
                     field("s", "x\ny", "select")]),
    Case("direction", [field("a", "\u05e9", "dirname", typed=[("a", "\u05e9"), ("a.dir", "rtl")])]),
    Case("charset-field", [field("_charset_", "x", typed=[("_charset_", "UTF-8")]), field("a", "\u00fc")]),
    Case("other-charset", [field("a", "\u00e9 \u20ac \u6587", typed=[("a", b"\xe9 \x80 &#25991;")])],
         ways=("form",), charset="windows-1252"),
    Case("submit-button", [field("a", "1"), field("go", "b\nc", "submit")], ways=("form",)),
    Case("image-button", [field("go", "b", "image", typed=[("go.x", "0"), ("go.y", "0")])], ways=("form",)),
    # Forms that the command line can't express.
    Case("equals-in-name", [field("a=b", "v")], untypable=NO_NAME_WITH_EQUALS,
         sent=b'--B\r\nContent-Disposition: form-data; name="a=b"\r\n\r\nv\r\n--B--\r\n'),
    Case("nul-in-name", [field("a\0b", "v")], untypable=NO_NUL,
         sent=b'--B\r\nContent-Disposition: form-data; name="a\0b"\r\n\r\nv\r\n--B--\r\n'),
    Case("nul-in-file-name", [made("f", File("a\0b", b"v"))], untypable=NO_NUL,
         sent=b'--B\r\nContent-Disposition: form-data; name="f"; filename="a\0b"\r\n'
              b'Content-Type: application/octet-stream\r\n\r\nv\r\n--B--\r\n'),
    # A value can be read from a file, which may contain a NUL.
    Case("nul-in-value", [field("a", "b\0c", typed=[("a", b"b\0c")])]),
]
