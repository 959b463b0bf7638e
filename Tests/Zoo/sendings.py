"""The forms that clients send to the capturing server, and what our parser must find in them.

As in cases.py, what is expected is what was put in. All files are of type application/octet-stream, since
Go's CreateFormFile knows no other.
"""

from cases import ALL_BYTES, CRLF_DENSE, Case, both, field, file, value

SENDINGS = [
    Case("plain", [field("title", "Sunset"), file("photo", b"abc", "sunset.jpg")]),
    Case("empty-value", [field("a", ""), field("b", "1")]),
    Case("empty-file", [file("f", b"", "empty.txt"), field("b", "1")]),
    both("quote", 'a"b'),
    both("quote-at-the-end", 'ab"'),
    both("backslash", "a\\b"),
    both("backslash-at-the-end", "ab\\"),
    both("backslash-and-quote", 'a\\"b'),
    both("two-backslashes", "a\\\\b"),
    both("semicolon", "a;b"),
    both("looks-like-filename", 'a"; filename="b'),
    both("percent", "100%"),
    both("percent-22-as-text", "a%22b"),
    both("plus-and-ampersand", "a+b&c"),
    both("space", "a b"),
    both("spaces-around", "  a  "),
    both("tab", "a\tb"),
    both("umlaut-composed", "caf\u00e9"),
    both("umlaut-decomposed", "cafe\u0301"),
    both("emoji", "\U0001f468\u200d\U0001f469.png"),
    both("right-to-left", "\u05e9\u05dc\u05d5\u05dd"),
    both("array-name", "tags[]"),
    both("long-1-KiB", "n" * 1024),
    Case("equals-in-file-name", [file("f", filename="a=b; name=c.txt")]),
    Case("lf-in-file-name", [file("f", filename="a\nb")]),
    Case("crlf-in-file-name", [file("f", filename="a\r\nb")]),
    Case("crlf-in-name", [field("a\r\nb", "v")]),
    Case("path-up", [file("f", filename="../x")]),
    Case("path-windows", [file("f", filename="C:\\dir\\a.txt")]),
    Case("same-name-twice", [field("a", "1"), field("a", "2")]),
    Case("order", [field("z", "1"), file("y", b"2", "2"), field("x", "3"), file("w", b"4", "4")]),
    value("ends-in-crlf", "a\r\n"),
    value("ends-in-crlf-hyphens", "a\r\n--"),
    value("only-crlf", "\r\n"),
    value("line-breaks", "1\n2\r3\r\n4"),
    value("unicode-value", "\u00fc \u6587 \U0001f600"),
    Case("field-over-64-KiB", [field("v", "x" * 65535 + "\r\n"), field("after", "1")]),
    Case("all-bytes", [file("f", ALL_BYTES)]),
    Case("1-MiB-and-3-crlf-dense", [file("f", CRLF_DENSE), file("last", b"2")]),
    Case("300-parts", [field(f"n{number}", str(number)) for number in range(300)]),
]
