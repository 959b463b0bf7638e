"""What the senders in Python share: they send one POST per form; see README.md."""

import base64
import json
import pathlib
import sys


def send_all(sender, send):
    """Calls `send(url, parts)` for each form; prints what a client can't send, and why."""
    directory, url = pathlib.Path(sys.argv[1]), sys.argv[2]
    print(json.dumps({"sender": sender}))
    for form in json.loads((directory / "forms.json").read_text()):
        for part in form["parts"]:
            part["bytes"] = base64.b64decode(part["bytes"])
        try:
            send(f"{url}/{form['case']}", form["parts"])
        except Exception as error:
            print(json.dumps({"case": form["case"], "error": f"{type(error).__name__}: {error}"}))
