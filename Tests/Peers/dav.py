#!/usr/bin/env python3
"""Puts a directory tree on WebDAV servers: `dav.py FORMSTREAM`.

`formstream send --put --make-collections` sends to Apache's mod_dav and to nginx's dav module. What is on the server's disk, the
records, and the server's log are compared. Prints a line for each row, and exits with 1 if they differ."""

import collections
import json
import os
import pathlib
import random
import subprocess
import sys
import tempfile
import urllib.parse

import tus

# The sizes of the files that are sent, by their names.
TREE = {
    "top.txt": 1, "empty": 0, "a b/100 %.txt": 5, "a b/%41.txt": 6, "größe/ä/ö/ü/ß.bin": 70_001, "größe/empty": 0,
    "1/2/3/4/5/deep": 3 << 20, "1/2/b": 9, "q?#&=/+;,.txt": 7, **{f"many/{number}": number for number in range(100)},
}
MODULES = "".join(
    f"LoadModule {name}_module /usr/lib/apache2/modules/mod_{name}.so\n" for name in ("mpm_event", "authz_core", "dav", "dav_fs"))
# A server's program, its configuration, the user who stores files if root starts it, and the outcome and the exit code of files
# whose folder it may not make. nginx responds 500 to such a PUT, which is no refusal. A line of the log has a request's status and
# first line.
SERVERS = {
    "apache": (["apache2", "-DFOREGROUND", "-d", ".", "-f"], MODULES + """
Listen 127.0.0.1:{port}
ServerName localhost
PidFile {place}/pid
ErrorLog {place}/errors
DefaultRuntimeDir {place}
DocumentRoot {place}/files
DavLockDB {place}/locks/locks
LogFormat "%>s %r" short
CustomLog {place}/log short
{user}
<Location />
  Dav On
</Location>
""", "User nobody\nGroup nogroup", ("failed", 1)),
    "nginx": (["nginx", "-p", ".", "-e", "errors", "-c"], """
{user}
daemon off; pid {place}/pid;
events {{ }}
http {{
  log_format short "$status $request";
  access_log {place}/log short;
""" + "".join(f"  {name}_temp_path {{place}}/{name};\n" for name in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")) + """\
  server {{
    listen 127.0.0.1:{port};
    client_max_body_size 0;
    location / {{ root {place}/files; dav_methods PUT MKCOL; }}
  }}
}}
""", "user nobody nogroup;", ("retryable", 75)),
}


def contents(directory):
    return {str(path.relative_to(directory)): path.read_bytes() for path in directory.rglob("*") if path.is_file()}


def send(row, formstream, tree, source, url, directory, refused="", outcome="ok", code=0):
    """Sends the tree, and reports if the records and the server's disk differ. `refused` is a folder that can't be made, `outcome`
    that of its files, and `code` the exit code."""
    done = subprocess.run(
        [formstream, "send", "--put", "--make-collections", "--json", "-q", "-j", "8", "--retry", "0", f"{url}{{relative}}", source],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    records = {os.path.relpath(line["path"], source): line for line in lines if line["schema"] == "formstream.record/2"}
    stored = contents(directory)
    wanted = {name: data for name, data in tree.items() if not refused or not name.startswith(refused)}
    said = {name for name, record in records.items() if record["outcome"] == "ok"}
    problem = None
    if records.keys() != tree.keys() or done.returncode != code:
        problem = f"{len(records)} records, exit {done.returncode}: {done.stderr}"
    elif stored != wanted or said != wanted.keys():
        problem = f"stored: {sorted(stored)}, ok: {sorted(said)}"
    for record in (records[name] for name in records.keys() - wanted.keys()):
        message = record["error"]["message"]
        if (record["outcome"], record["status"], record["error"]["code"]) != (outcome, 403, "folder-not-made") or not (
                f"The folder {url}{refused} could not be made: " in message and "responded 403 to MKCOL" in message):
            problem = f"{record}"
    tus.report(row, problem)


def check_log(row, lines, made, refused):
    """Each folder was made by one MKCOL, and asked for at most once before the folder that it is in was made."""
    requests = [line.split() for line in lines]
    asked = collections.Counter((status, urllib.parse.unquote(path)) for status, method, path, _ in requests if method == "MKCOL")
    once = {("201", folder) for folder in made} | {("403", refused)}
    wrong = [f"{asked[key]} x {key}" for key in once | asked.keys() if asked[key] != 1 or key not in once and key[0] != "409"]
    tus.report(row, ", ".join(wrong) or None)


def put(formstream, name, place, source, tree):
    command, configuration, user, unmade = SERVERS[name]
    for directory in ("files", "locks", "files/half", "files/half/1"):
        (place / directory).mkdir()
        (place / directory).chmod(0o777)
    (place / "files/half/1").chmod(0o555)
    place.chmod(0o755)
    port = tus.free_port()
    (place / "conf").write_text(configuration.format(port=port, place=place, user=user if os.getuid() == 0 else ""))
    server = subprocess.Popen([*command, "conf"], cwd=place)
    try:
        tus.wait_for(port, server)
        url, row = f"http://127.0.0.1:{port}", f"send --put --make-collections to {name}"
        for time in ("the first time", "again"):
            send(f"{row}, {time}", formstream, tree, source, f"{url}/dav/tree/", place / "files/dav/tree")
        send(f"{row}, with a folder that it may not make", formstream, tree, source, f"{url}/half/", place / "files/half",
             "1/2/", *unmade)
    finally:
        server.terminate()
        server.wait()
    made = ["/dav/"] + [f"/dav/tree/{folder}" for folder in folders(tree)] + [
        f"/half/{folder}" for folder in folders(tree) if folder and not folder.startswith("1/")]
    check_log(f"{row}, MKCOLs in its log", (place / "log").read_text().splitlines(), made, "/half/1/2/")


def folders(tree):
    """The folders of a tree, each with a slash at its end; the tree itself is the empty text."""
    return {"" if path == pathlib.PurePath(".") else f"{path}/" for name in tree for path in pathlib.PurePath(name).parents}


def main():
    formstream = os.path.abspath(sys.argv[1])
    with tempfile.TemporaryDirectory() as directory:
        top = pathlib.Path(directory)
        # Servers that root starts store files as another user, whom a folder's mode stops.
        top.chmod(0o755)
        tree = {name: random.Random(name).randbytes(size) for name, size in TREE.items()}
        for name, data in tree.items():
            (top / "tree" / name).parent.mkdir(parents=True, exist_ok=True)
            (top / "tree" / name).write_bytes(data)
        for name in SERVERS:
            (top / name).mkdir()
            put(formstream, name, top / name, top / "tree", tree)
    return 1 if tus.failures else 0


if __name__ == "__main__":
    sys.exit(main())
