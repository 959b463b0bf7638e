"""What the senders in Python share: forms in, one POST each; see README.md."""

import base64
import json
import pathlib
import sys


def send_all(sender, send):
    """Calls `send(url, parts)` for each form; what a client can't send is told with its reason."""
    directory, url = pathlib.Path(sys.argv[1]), sys.argv[2]
    print(json.dumps({"sender": sender}))
    for form in json.loads((directory / "forms.json").read_text()):
        for part in form["parts"]:
            part["bytes"] = base64.b64decode(part["bytes"])
        try:
            send(f"{url}/{form['case']}", form["parts"])
        except Exception as error:
            print(json.dumps({"case": form["case"], "error": f"{type(error).__name__}: {error}"}))
