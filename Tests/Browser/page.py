"""Tests the page of `formstream receive`: by mouse, by keyboard, and without JavaScript."""

import base64
import getpass
import hashlib
import os
import pathlib
import socket
import tempfile

from receiving import receiving, relaying
from webdriver import ELEMENT, browsing, until

TAB, ENTER = "\ue004", "\ue007"
HOSTILE = ["<img src=x onerror=\"document.title='owned'\">.txt", "evil\u202egpj.exe", "&lt;b&gt;'\"",
           "\u05e9\u05dc\u05d5\u05dd.txt", "long-" * 40 + ".txt"]
# What the page shows for each file.
ROWS = """return [...document.querySelectorAll("li")].map(row => ({
  state: row.className, name: row.querySelector("bdi").textContent, details: row.querySelector("progress + p").textContent,
  digest: row.querySelector("code").textContent.replace("SHA-256 ", ""), value: row.querySelector("progress").value,
  bar: !row.querySelector("progress").hidden}))"""
# Records every state of each row, and how many files were being sent at once.
WATCH = """window.seen = []; window.most = 0;
new MutationObserver(() => {
  for (const row of document.querySelectorAll("li")) seen.push([row.className, row.querySelector("progress").value]);
  most = Math.max(most, document.querySelectorAll("li.sending, li.sent").length);
}).observe(document.querySelector("ul"), {subtree: true, childList: true, attributes: true})"""
# The lowest contrast of a text with its background (WCAG 2.2, "contrast ratio"), and the element.
CONTRAST = """
const channels = colour => colour.match(/[\\d.]+/g).map(Number);
const light = colour => channels(colour).slice(0, 3).map(value => value / 255)
  .map(value => value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4)
  .reduce((sum, value, place) => sum + value * [0.2126, 0.7152, 0.0722][place], 0);
let least = [21, ""];
for (const element of document.querySelectorAll("body *")) {
  const texts = [...element.childNodes].some(node => node.nodeType === 3 && node.textContent.trim());
  if ((!texts && element.type !== "file") || !element.checkVisibility()) continue;
  let back = element;
  while (channels(getComputedStyle(back).backgroundColor)[3] === 0) back = back.parentElement;
  const [high, low] = [light(getComputedStyle(element).color), light(getComputedStyle(back).backgroundColor)]
    .sort((one, other) => other - one);
  const ratio = (high + 0.05) / (low + 0.05);
  if (ratio < least[0]) least = [ratio, element.outerHTML.slice(0, 80)];
}
return least"""

checks = []


def check(function):
    checks.append(function)
    return function


class Stage:
    """What every check uses: the command, the driver, files to send, a directory for pictures."""

    def __init__(self, formstream, driver, files, pictures):
        self.formstream = formstream
        self.driver = driver
        self.files = files
        self.pictures = pictures

    def file(self, name, content):
        path = self.files / name
        path.write_bytes(content)
        return path

    def picture(self, browser, name):
        (self.pictures / f"{name}.png").write_bytes(base64.b64decode(browser.screenshot()))


def throttle(browser, rate):
    """Limits uploads to `rate` bytes a second; 0 removes the limit."""
    browser.devtools("Network.enable")
    browser.devtools("Network.emulateNetworkConditions", offline=False, latency=0, downloadThroughput=-1,
                     uploadThroughput=rate or -1)


def wait_for(browser, *states):
    def reached():
        rows = browser.run(ROWS)
        return rows if [row["state"] for row in rows] == list(states) else None
    try:
        return until(reached, f"files are {states}")
    except AssertionError as error:
        raise AssertionError(f"{error}, but {browser.run(ROWS)}") from None


def digest(content):
    return hashlib.sha256(content).hexdigest()


def stored(directory):
    """The digests of the files in the directory, without those of uploads."""
    return sorted(digest(path.read_bytes()) for path in directory.iterdir() if path.name != ".formstream-uploads")


def digests(paths):
    return sorted(digest(path.read_bytes()) for path in paths)


def status(browser):
    return browser.run("return document.querySelector('[role=status]').textContent")


def is_quiet(browser, allowed=()):
    """The console shows no messages except the allowed ones: a refused request is an error there."""
    messages = [line for line in browser.complaints() if not any(text in line for text in allowed)]
    assert not messages, f"the console shows {messages}"


def drop(browser, paths, on="label"):
    place = browser.run("const box = document.querySelector(arguments[0]).getBoundingClientRect();"
                        "return {x: box.x + box.width / 2, y: box.y + box.height / 2}", on)
    data = {"items": [], "files": [str(path) for path in paths], "dragOperationsMask": 1}
    for kind in ("dragEnter", "dragOver", "drop"):
        browser.devtools("Input.dispatchDragEvent", type=kind, data=data, **place)


def tab_to(browser, script, what):
    """Presses Tab until the script returns true for the focused element."""
    for _ in range(12):
        browser.press(TAB)
        if browser.run("const it = document.activeElement; return " + script):
            return
    raise AssertionError(f"Tab does not reach {what}")


@check
def files_that_are_chosen_arrive(stage):
    paths = [stage.file("one.txt", b"1\r\n" * 999), stage.file("empty", b""), stage.file("two.bin", os.urandom(99999))]
    with receiving(stage.formstream) as (url, directory), browsing(stage.driver) as browser:
        browser.go(url)
        stage.picture(browser, "before")
        browser.send_keys("#file", "\n".join(map(str, paths)))
        rows = wait_for(browser, *["arrived"] * 3)
        assert [row["digest"] for row in rows] == [digest(path.read_bytes()) for path in paths], rows
        assert rows[0]["details"] == "Stored as one.txt, 2,997 bytes", rows
        assert stored(directory) == digests(paths)
        assert status(browser) == "3 of 3 arrived.", status(browser)
        stage.picture(browser, "after")
        # The same file again is stored beside the first, and never replaces it.
        browser.send_keys("#file", str(paths[0]))
        assert "one-2.txt" in wait_for(browser, *["arrived"] * 4)[3]["details"]
        is_quiet(browser)


@check
def files_that_are_dropped_arrive_even_beside_the_drop_zone(stage):
    paths = [stage.file("dropped", b"d" * 70000), stage.file("beside", b"b")]
    with receiving(stage.formstream) as (url, directory), browsing(stage.driver) as browser:
        browser.go(url)
        drop(browser, paths[:1])
        wait_for(browser, "arrived")
        drop(browser, paths[1:], on="h1")
        wait_for(browser, "arrived", "arrived")
        assert stored(directory) == digests(paths)
        is_quiet(browser)


@check
def hostile_names_are_text(stage):
    paths = [stage.file(name, name.encode()) for name in HOSTILE]
    with receiving(stage.formstream) as (url, directory), browsing(stage.driver) as browser:
        browser.go(url)
        browser.choose("#file", paths)
        rows = wait_for(browser, *["arrived"] * len(paths))
        shown = [name.replace("\u202e", "\\u{202E}") for name in HOSTILE]
        assert [row["name"] for row in rows] == shown, rows
        assert browser.run("return [document.title, document.images.length]") == ["Send files", 0]
        assert stored(directory) == digests(paths)
        stage.picture(browser, "hostile-names")
        is_quiet(browser)


@check
def without_javascript_the_response_is_a_page(stage):
    paths = [stage.file(name, name.encode()) for name in HOSTILE]
    with receiving(stage.formstream) as (url, directory), browsing(stage.driver, scripts=False) as browser:
        browser.go(url)
        stage.picture(browser, "plain-before")
        assert browser.run("return document.querySelector('#drop').hidden"), "JavaScript has run"
        browser.choose("#file", paths)
        # By the keyboard alone.
        tab_to(browser, "it.id === 'file'", "the file field")
        tab_to(browser, "it.id === 'send'", "the button")
        browser.press(ENTER)
        until(lambda: browser.run("return document.title") == "Upload complete", "the response page")
        text = browser.run("return document.querySelector('main').innerText")
        for name in HOSTILE:
            # Names are shown as the browser sent them: %22 for a quote, and a percent sign unchanged.
            assert name.replace("\u202e", "\\u{202E}").replace('"', "%22") in text, text
            assert digest(name.encode()) in text, text
        assert browser.run("return document.images.length") == 0
        assert stored(directory) == digests(paths)
        stage.picture(browser, "plain-after")
        is_quiet(browser)
        browser.click("a")
        until(lambda: browser.run("return document.title") == "Send files", "the link back")


@check
def without_javascript_a_refusal_is_shown(stage):
    with receiving(stage.formstream, "--max-body", "1000") as (url, directory):
        with browsing(stage.driver, scripts=False) as browser:
            browser.go(url)
            browser.send_keys("#file", str(stage.file("large", bytes(3 << 20))))
            browser.click("#send")
            until(lambda: browser.run("return document.title") == "Nothing was stored", "the response page")
            assert "1000 bytes" in browser.run("return document.querySelector('.bad').textContent")
            assert stored(directory) == []
            stage.picture(browser, "plain-refused")


@check
def a_bar_is_full_only_after_the_response(stage):
    paths = [stage.file(f"slow-{number}", os.urandom(400000)) for number in range(4)]
    with receiving(stage.formstream) as (url, directory), browsing(stage.driver) as browser:
        browser.go(url)
        browser.run(WATCH)
        throttle(browser, 500_000)
        browser.send_keys("#file", "\n".join(map(str, paths)))
        until(lambda: any(0.2 < row["value"] < 1 for row in browser.run(ROWS)), "a bar in progress")
        assert browser.call("GET", f"/element/{browser.find('progress')}/computedlabel") == "Progress of slow-0"
        stage.picture(browser, "during")
        throttle(browser, 0)
        wait_for(browser, *["arrived"] * 4)
        seen = browser.run("return seen")
        in_progress = [value for state, value in seen if state in ("sending", "sent")]
        assert len({value for value in in_progress if 0 < value < 1}) > 3, in_progress
        assert all(value < 1 for state, value in seen if state != "arrived"), seen
        assert all(value == 1 for state, value in seen if state == "arrived"), seen
        assert browser.run("return most") == 2, browser.run("return most")
        assert stored(directory) == digests(paths)
        is_quiet(browser)


@check
def a_cancelled_upload_leaves_nothing_and_can_be_sent_again(stage):
    paths = [stage.file(f"cancelled-{number}", os.urandom(300000)) for number in range(3)]
    with receiving(stage.formstream) as (url, directory), browsing(stage.driver) as browser:
        browser.go(url)
        throttle(browser, 100_000)
        browser.send_keys("#file", "\n".join(map(str, paths)))
        wait_for(browser, "sending", "sending", "waiting")
        browser.click("li:first-child button")
        # The third file is sent next.
        wait_for(browser, "cancelled", "sending", "sending")
        browser.click("#cancel")
        rows = wait_for(browser, *["cancelled"] * 3)
        assert not any(row["bar"] for row in rows), rows
        assert status(browser) == "0 of 3 arrived, 3 cancelled.", status(browser)
        stage.picture(browser, "cancelled")
        assert not [path for path in directory.iterdir() if not path.name.startswith(".")]
        throttle(browser, 0)
        browser.click("li:nth-child(2) button")
        wait_for(browser, "cancelled", "arrived", "cancelled")
        until(lambda: stored(directory) == digests(paths[1:2]), "one file, and none of the cancelled ones")
        is_quiet(browser)


@check
def after_a_broken_connection_the_result_is_unknown_and_can_be_retried(stage):
    # These are too small to be resumable.
    paths = [stage.file(f"broken-{number}", os.urandom(1_000_000)) for number in range(2)]
    with receiving(stage.formstream) as (address, directory), relaying(address) as (url, relay):
        with browsing(stage.driver) as browser:
            browser.go(url)
            relay.breaks_after = 200_000
            browser.send_keys("#file", "\n".join(map(str, paths)))
            rows = wait_for(browser, "unknown", "unknown")
            assert "not known whether the file arrived" in rows[0]["details"], rows
            assert status(browser) == "0 of 2 arrived, 2 unknown.", status(browser)
            stage.picture(browser, "unknown")
            relay.breaks_after = None
            browser.click("#retry")
            wait_for(browser, "arrived", "arrived")
            until(lambda: stored(directory) == digests(paths), "the complete files")
            is_quiet(browser, allowed=["net::ERR_"])


@check
def a_refusal_shows_the_servers_message_and_is_retried_by_keyboard(stage):
    with receiving(stage.formstream, "--max-body", "1000") as (url, directory), browsing(stage.driver) as browser:
        browser.go(url)
        # The page can't know that the file is too large: only its name and type make it so.
        browser.send_keys("#file", str(stage.file("large", bytes(1000))))
        rows = wait_for(browser, "failed")
        assert "1000 bytes" in rows[0]["details"] and not rows[0]["bar"], rows
        stage.picture(browser, "refused")
        browser.run(WATCH)
        tab_to(browser, "it.getAttribute('aria-label') === 'Retry large'", "the button of the file")
        browser.press(ENTER)
        until(lambda: ["failed", 0] in browser.run("return seen") and browser.run(ROWS)[0]["state"] == "failed",
              "a second failure")
        assert browser.run("return seen.some(([state]) => state === 'sending')")
        assert stored(directory) == []
        is_quiet(browser, allowed=["413"])


@check
def a_file_over_the_limit_is_not_sent(stage):
    paths = [stage.file("fits", bytes(500)), stage.file("over", bytes(1001)), stage.file("far-over", bytes(3 << 20))]
    for limit in (["--max-body", "1000"], ["--limit", "part-bytes=1000"], ["--max-body", "9M", "--limit", "part-bytes=1000"]):
        with receiving(stage.formstream, *limit) as (url, directory), browsing(stage.driver) as browser:
            browser.go(url)
            text = browser.run("return document.querySelector('#limits').innerText")
            assert "1,000 bytes" in text and "all files" not in text, text
            browser.run("window.sent = []; const send = XMLHttpRequest.prototype.send;"
                        "XMLHttpRequest.prototype.send = function(body) {"
                        "sent.push(body.get('file').name); return send.call(this, body); }")
            browser.send_keys("#file", "\n".join(map(str, paths)))
            rows = wait_for(browser, "arrived", "failed", "failed")
            assert rows[1]["details"] == "Not sent: the file has 1,001 bytes, and 1,000 bytes is the limit.", rows
            assert browser.run("return sent") == ["fits"]
            assert browser.run("return document.querySelector('#retry').hidden"), "there is nothing to retry"
            assert status(browser) == "1 of 3 arrived, 2 failed.", status(browser)
            assert stored(directory) == digests(paths[:1])
            # Not even the console has a message: nothing was refused.
            is_quiet(browser)


@check
def the_page_says_whose_machine_it_is_and_what_it_takes(stage):
    for scripts in (True, False):
        with receiving(stage.formstream, "--max-body", "1M") as (url, _):
            with browsing(stage.driver, scripts=scripts) as browser:
                browser.go(url)
                owner = browser.run("return document.querySelector('#owner').innerText")
                assert owner == f"They go to {getpass.getuser()} on {socket.gethostname()}.", owner
                whose = "each file" if scripts else "all files together"
                text = browser.run("return document.querySelector('#limits').innerText")
                assert text == f"At most 1,048,576 bytes are accepted for {whose}, names included.", text
                assert browser.run("return document.querySelector('#folder')") is None
                stage.picture(browser, "limits")


def folder(stage):
    """A directory with files below it, one of them empty, and a directory without files."""
    root = stage.files / "trip"
    (root / "day 1" / "raw").mkdir(parents=True)
    (root / "none").mkdir()
    contents = {f"day 1/raw/{number}.bin": os.urandom(number) for number in range(130)}
    contents |= {"note.txt": b"hi", "day 1/\u05d0.txt": b"aleph"}
    for name, content in contents.items():
        (root / name).write_bytes(content)
    return root, {f"trip/{name}": digest(content) for name, content in contents.items()}


def tree(directory):
    return {str(path.relative_to(directory)): digest(path.read_bytes())
            for path in directory.rglob("*") if path.is_file()}


@check
def a_folder_that_is_dropped_arrives_with_its_paths(stage):
    root, expected = folder(stage)
    single = stage.file("beside", b"b")
    with receiving(stage.formstream, "--keep-paths") as (url, directory), browsing(stage.driver) as browser:
        browser.go(url)
        drop(browser, [root, single])
        text = f"{len(expected) + 1} of {len(expected) + 1} arrived, 1 empty folder left out."
        until(lambda: status(browser) == text, text)
        assert tree(directory) == expected | {"beside": digest(b"b")}
        stage.picture(browser, "folder-dropped")
        is_quiet(browser)


@check
def a_folder_that_is_chosen_arrives_with_its_paths(stage):
    root, expected = folder(stage)
    for scripts in (True, False):
        with receiving(stage.formstream, "--keep-paths") as (url, directory):
            with browsing(stage.driver, scripts=scripts) as browser:
                browser.go(url)
                stage.picture(browser, f"folder-{'script' if scripts else 'plain'}")
                browser.send_keys("#folder", str(root))
                if scripts:
                    text = f"{len(expected)} of {len(expected)} arrived."
                    until(lambda: status(browser) == text, text)
                else:
                    browser.click("#send-folder")
                    until(lambda: browser.run("return document.title") == "Upload complete", "the response page")
                assert tree(directory) == expected
                is_quiet(browser)


@check
def without_keep_paths_a_folder_is_not_taken(stage):
    root, _ = folder(stage)
    with receiving(stage.formstream) as (url, directory), browsing(stage.driver) as browser:
        browser.go(url)
        drop(browser, [root, stage.file("beside", b"b")])
        rows = wait_for(browser, "failed", "arrived")
        assert "is a folder" in rows[0]["details"], rows
        assert tree(directory) == {"beside": digest(b"b")}


@check
def a_file_that_is_removed_before_it_is_sent_fails(stage):
    paths = [stage.file(f"gone-{number}", os.urandom(200000 if number < 3 else 0)) for number in range(4)]
    with receiving(stage.formstream) as (url, directory), browsing(stage.driver) as browser:
        browser.go(url)
        throttle(browser, 100_000)
        browser.send_keys("#file", "\n".join(map(str, paths)))
        wait_for(browser, "sending", "sending", "waiting", "waiting")
        kept = digests(paths[:2])
        for path in paths[2:]:
            path.unlink()
        throttle(browser, 0)
        rows = wait_for(browser, "arrived", "arrived", "failed", "failed")
        assert all(row["details"].startswith("The file can't be read") for row in rows[2:]), rows
        assert stored(directory) == kept
        is_quiet(browser, allowed=["net::ERR_"])


@check
def the_keyboard_reaches_every_control_and_each_has_a_label(stage):
    with receiving(stage.formstream) as (url, _), browsing(stage.driver) as browser:
        browser.go(url)
        tab_to(browser, "it.id === 'file'", "the file field")
        assert browser.run("return getComputedStyle(document.querySelector('label')).outlineStyle") == "solid"
        stage.picture(browser, "focus")
        # Enter would open the system's file dialog, which no test can use.
        browser.run("document.querySelector('#file').addEventListener('click', event => {"
                    "event.preventDefault(); window.clicked = true})")
        browser.press(ENTER)
        until(lambda: browser.run("return window.clicked"), "Enter opens the file dialog")
        field = browser.find("#file")
        assert browser.call("GET", f"/element/{field}/computedlabel").startswith("Choose files, or drop them here")
        assert browser.call("GET", f"/element/{browser.find('#status')}/computedrole") == "status"
        assert browser.run("return document.documentElement.lang") == "en"


@check
def the_policy_blocks_all_other_code(stage):
    with receiving(stage.formstream) as (url, _), browsing(stage.driver) as browser:
        browser.go(url)
        is_quiet(browser)
        browser.run("const script = document.createElement('script'); script.textContent = 'window.owned = 1';"
                    "document.body.append(script);"
                    "const picture = new Image(); picture.src = '/x.png'; document.body.append(picture);"
                    "document.body.insertAdjacentHTML('beforeend', '<p style=\"color: red\" onclick=\"owned = 1\">x</p>');"
                    "document.body.lastChild.click()")
        assert browser.run("return window.owned === undefined")
        assert browser.run("return getComputedStyle(document.body.lastChild).color") != "rgb(255, 0, 0)"
        messages = until(lambda: browser.complaints(), "a message about the policy")
        assert any("Content Security Policy" in line for line in messages), messages


@check
def the_page_is_legible_in_light_and_dark_and_on_narrow_screens(stage):
    paths = [stage.file("fine.txt", b"f"), stage.file("w" * 120 + ".txt", b"w"), stage.file("large", bytes(2000))]
    for kind, width, dark in (("light", 1000, False), ("dark", 1000, True),
                              ("narrow", 360, False), ("narrow-dark", 360, True)):
        for scripts in (True, False):
            with receiving(stage.formstream, "--max-body", "1000") as (url, _):
                with browsing(stage.driver, width, 800, dark, scripts) as browser:
                    browser.go(url)
                    legible(browser, kind)
                    if scripts:
                        browser.send_keys("#file", "\n".join(map(str, paths)))
                        wait_for(browser, "arrived", "arrived", "failed")
                    else:
                        browser.send_keys("#file", "\n".join(map(str, paths[:2])))
                        browser.click("#send")
                        until(lambda: browser.run("return document.title") == "Upload complete", "the response page")
                    legible(browser, kind)
                    stage.picture(browser, f"{kind}-{'script' if scripts else 'plain'}")


def legible(browser, kind):
    wide, room = browser.run("return [document.documentElement.scrollWidth, innerWidth]")
    assert wide <= room, f"{kind}: {wide} pixels wide in a window of {room}"
    ratio, element = browser.run(CONTRAST)
    assert ratio >= 4.5, f"{kind}: a contrast of {ratio:.2f} in {element}"


def run(formstream, driver, pictures, only=None):
    """Runs the checks. Returns how many passed, and the failures."""
    held, wrong = 0, []
    for function in checks:
        name = function.__name__.replace("_", " ")
        if only and only not in name:
            continue
        with tempfile.TemporaryDirectory(prefix="formstream-files-") as files:
            try:
                function(Stage(formstream, driver, pathlib.Path(files), pictures))
                held += 1
            except AssertionError as error:
                wrong.append(f"{name}: {error or 'failed'}")
    return held, wrong
