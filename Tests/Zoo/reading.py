"""What the readers in Python share: they print one line of JSON per body; see README.md."""

import base64
import json
import pathlib
import sys


def coded(value):
    """Text or bytes in base64; None stays None."""
    if value is None:
        return None
    if isinstance(value, str):
        value = value.encode("utf-8", "surrogateescape")
    return base64.b64encode(value).decode()


def part(name, content, **known):
    """A part for the output. What the reader does not know of is left out, and what is missing is None."""
    headers = known.pop("headers", None)
    told = {"name": coded(name), "bytes": coded(content)}
    told |= {key: coded(value) for key, value in known.items()}
    if headers is not None:
        told["headers"] = [[coded(key), coded(value)] for key, value in headers]
    return told


def read_all(reader, order, read):
    """Calls `read(body, content_type)` for each body in the directory on the command line."""
    directory = pathlib.Path(sys.argv[1])
    print(json.dumps({"reader": reader, "order": order}))
    for case in json.loads((directory / "bodies.json").read_text()):
        told = {"case": case["case"]}
        try:
            told["parts"] = read((directory / case["body"]).read_bytes(), case["content_type"])
        except Exception as error:  # Its text is compared, whatever its class.
            told["error"] = f"{type(error).__name__}: {error}"
        print(json.dumps(told))
