"""Reads bodies as a PHP script does: POSTs each to `read-php.php` with CGI, like a web server."""

import json
import os
import pathlib
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
LIMITS = {"post_max_size": "64M", "upload_max_filesize": "64M", "max_file_uploads": "1000",
          "max_input_vars": "5000", "max_multipart_body_parts": "5000", "display_startup_errors": "0",
          "display_errors": "0"}


def post(body, content_type):
    options = [word for name, value in LIMITS.items() for word in ("-d", f"{name}={value}")]
    environment = {
        "PATH": os.environ["PATH"], "GATEWAY_INTERFACE": "CGI/1.1", "REDIRECT_STATUS": "200",
        "REQUEST_METHOD": "POST", "SCRIPT_FILENAME": str(HERE / "read-php.php"),
        "CONTENT_TYPE": content_type, "CONTENT_LENGTH": str(len(body))}
    # -n ignores php.ini.
    done = subprocess.run(["php-cgi", "-n", *options], input=body, env=environment,
                          capture_output=True, check=True)
    headers, _, said = done.stdout.partition(b"\r\n\r\n")
    return json.loads(said)


directory = pathlib.Path(sys.argv[1])
version = post(b"", "multipart/form-data; boundary=none")["version"]
print(json.dumps({"reader": f"PHP {version}", "order": "by name"}))
for case in json.loads((directory / "bodies.json").read_text()):
    said = post((directory / case["body"]).read_bytes(), case["content_type"])
    print(json.dumps({"case": case["case"]} | said))
