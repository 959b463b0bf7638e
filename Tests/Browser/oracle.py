"""Compares what Chromium sends for a form with what `formstream encode` makes of the same parts, byte for byte."""

import base64
import contextlib
import http.server
import json
import os
import pathlib
import queue
import re
import socketserver
import subprocess
import tempfile
import threading

from forms import CASES
from webdriver import DEADLINE

PAGE = b"""<!doctype html><meta charset="utf-8"><title>Forms</title><link rel="icon" href="data:,"><script>
const controls = {
  hidden: {}, text: {type: "text"}, checkbox: {type: "checkbox", checked: true}, submit: {type: "submit"},
  unchecked: {type: "checkbox"}, disabled: {type: "text", disabled: true}, image: {type: "image"},
  dirname: {type: "text", dirName: "DIR"}, made: {type: "file", multiple: true},
  disk: {type: "file", multiple: true},
};
let form, added;
async function build(number) {
  const wanted = await (await fetch("/case/" + number)).json();
  document.body.replaceChildren();
  form = document.createElement("form");
  form.method = "post";
  form.enctype = "multipart/form-data";
  form.acceptCharset = wanted.charset ?? "utf-8";
  added = [];
  for (const {control, name, value, files} of wanted.entries) {
    if (control === "append") { added.push([name, value]); continue; }
    const element = document.createElement(
      control === "textarea" || control === "select" ? control : "input");
    Object.assign(element, controls[control] ?? {});
    if (control === "hidden") element.type = "hidden";
    if (control === "dirname") { element.dirName = name + ".dir"; element.dir = "auto"; }
    if (control === "select") {
      element.append(new Option("shown", value, true, true), new Option("other", "other"));
    }
    element.name = name;
    if (control === "made") {
      const chosen = new DataTransfer();
      for (const {name, content, type} of files) {
        const bytes = Uint8Array.from(atob(content), character => character.charCodeAt(0));
        chosen.items.add(new File([bytes], name, {type}));
      }
      element.files = chosen.files;
    } else if (control === "disk") {
      element.className = "disk";
    } else if (control !== "checkbox" || value !== "") {
      element.value = value;
    }
    form.append(element);
  }
  document.body.append(form);
}
function send(way, path) {
  form.action = path;
  if (way === "form") {
    form.requestSubmit(form.querySelector("[type=submit], [type=image]"));
  } else {
    const data = new FormData(form);
    for (const [name, value] of added) data.append(name, value);
    fetch(path, {method: "POST", body: data});
  }
}
</script><body>"""


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    timeout = DEADLINE

    def do_GET(self):
        if self.path.startswith("/case/"):
            self.respond(200, as_json(CASES[int(self.path.removeprefix("/case/"))]), "application/json")
        else:
            self.respond(200, PAGE, "text/html")

    def do_POST(self):
        length = self.headers["Content-Length"]
        body = self.rfile.read(int(length))
        # After 204 the browser stays on the page.
        self.respond(204)
        self.server.captured.put((self.path, self.headers["Content-Type"], length, body))

    def respond(self, status, body=b"", type=None):
        self.send_response(status)
        if status != 204:
            self.send_header("Content-Length", str(len(body)))
            self.send_header("Content-Type", type)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


class Server(socketserver.ThreadingTCPServer):
    daemon_threads = True


def as_json(case):
    """A case as JSON. Half a surrogate pair can be an escape in JSON, but can't be encoded in UTF-8."""
    entries = [{"control": entry.control, "name": entry.name, "value": entry.value,
                "files": [{"name": file.name, "type": file.type,
                           "content": base64.b64encode(file.content).decode()} for file in entry.files]}
               for entry in case.entries]
    return json.dumps({"charset": case.charset, "entries": entries}).encode("ascii")


@contextlib.contextmanager
def capturing():
    with Server(("127.0.0.1", 0), Handler) as server:
        server.captured = queue.Queue()
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_address[1]}", server.captured
        finally:
            server.shutdown()
            thread.join()


def bytes_of(text):
    return text.encode() if isinstance(text, str) else text


def flags(case, directory):
    """The flags for a case. Its files are written to the directory, those from the disk under their own names."""
    result = []
    for number, entry in enumerate(case.entries):
        if entry.typed is not None:
            parts = entry.typed
        elif entry.files:
            parts = []
        else:
            parts = [(entry.name, entry.value)]
        for name, value in parts:
            if b"\0" in bytes_of(value):
                path = directory / f"value-{number}"
                path.write_bytes(bytes_of(value))
                result += [b"-F", bytes_of(name) + b"=<" + os.fsencode(path)]
            else:
                result += [b"--field", bytes_of(name) + b"=" + bytes_of(value)]
        for index, file in enumerate(entry.files):
            name = file.name if file.typed_name is None else file.typed_name
            is_disk = entry.control == "disk" and name
            folder = directory / f"{number}-{index}"
            folder.mkdir()
            path = folder / (name if is_disk else "file")
            path.write_bytes(file.content)
            result += [b"--file", bytes_of(entry.name) + b"=" + os.fsencode(path)]
            if not is_disk:
                result += [b"--filename", bytes_of(name)]
            result += ["--type", file.typed_type or file.type or "application/octet-stream"]
    return result


def expected(formstream, case, typed, boundary):
    """The expected body and its two headers."""
    if case.untypable:
        return case.sent.replace(b"--B", b"--" + boundary.encode()), None
    command = [formstream, "encode", "--browser-text", "--boundary", boundary, *typed]
    body, headers = (subprocess.run(command + more, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=DEADLINE)
                     for more in ([], ["--headers"]))
    if body.returncode or headers.returncode:
        raise AssertionError(f"formstream refuses it: {body.stderr.decode()}")
    return body.stdout, headers.stdout.decode()


def difference(wanted, sent):
    place = next((place for place, pair in enumerate(zip(wanted, sent)) if pair[0] != pair[1]),
                 min(len(wanted), len(sent)))
    start = max(0, place - 40)
    return (f"differ at byte {place} of {len(sent)}\n    Chromium   {sent[start:place + 60]!r}\n"
            f"    formstream {wanted[start:place + 60]!r}")


def check(formstream, browser):
    """Runs all cases. Returns how many bodies were the same, and the failures."""
    same, wrong = 0, []
    with capturing() as (address, captured):
        browser.go(address)
        for number, case in enumerate(CASES):
            with tempfile.TemporaryDirectory() as name:
                directory = pathlib.Path(name)
                typed = [] if case.untypable else flags(case, directory)
                for way in case.ways:
                    browser.run_async("await build(given[0])", number)
                    choose(browser, case, directory)
                    path = f"/{way}/{case.name}"
                    browser.run("send(...arguments)", way, path)
                    try:
                        same += compare(formstream, case, typed, path, captured.get(timeout=DEADLINE))
                    except (AssertionError, queue.Empty) as error:
                        wrong.append(f"{path}: {error or 'nothing was sent'}")
    return same, wrong


def choose(browser, case, directory):
    """Chooses the files that are on the disk."""
    fields = [(number, entry) for number, entry in enumerate(case.entries) if entry.control == "disk"]
    for place, (number, entry) in enumerate(fields):
        paths = [directory / f"{number}-{index}" / file.name for index, file in enumerate(entry.files) if file.name]
        if paths:
            browser.run("document.querySelectorAll('.disk')[arguments[0]].id = 'disk' + arguments[0]", place)
            browser.choose(f"#disk{place}", paths)


def compare(formstream, case, typed, path, captured):
    captured_path, type, length, body = captured
    assert captured_path == path, f"{captured_path} was sent"
    boundary = re.fullmatch(r"multipart/form-data; boundary=(----WebKitFormBoundary\w{16})", type)
    assert boundary, f"the type is {type}"
    wanted, headers = expected(formstream, case, typed, boundary[1])
    assert body == wanted, difference(wanted, body)
    assert headers in (None, f"Content-Type: {type}\nContent-Length: {length}\n"), f"headers are {headers!r}"
    return 1
