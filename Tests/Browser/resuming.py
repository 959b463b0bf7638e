"""Tests that the page of `formstream receive` goes on with large files after breaks, and across reloads."""

import contextlib
import os
import shutil
import signal
import urllib.request

from page import (ENTER, ROWS, check, digest, digests, is_quiet, legible, status, stored, tab_to, throttle, tree,
                  wait_for)
from receiving import relaying, restartable
from webdriver import OPENER, browsing, until

MIB = 1 << 20
# Notes each request of the page: its method, its Upload-Offset, and how many bytes it brings.
CALLS = """window.calls = []; const plain = window.fetch;
window.fetch = (url, options) => {
  calls.push([options.method, options.headers["Upload-Offset"] ?? null, options.body?.size ?? null]);
  return plain(url, options);
}"""
# Makes a minute a second.
HURRY = "const timer = setTimeout; setTimeout = (call, time) => timer(call, time / 60)"
KEPT = "return Object.entries(localStorage).map(([key, text]) => [key, JSON.parse(text)])"
HINT = "const hint = document.querySelector('#kept'); return hint.hidden ? '' : hint.firstChild.textContent.trim()"


@contextlib.contextmanager
def opened(stage, *flags):
    """The page of a receiver that can be started again."""
    with restartable(stage.formstream, *flags) as receiver, browsing(stage.driver) as browser:
        browser.go(receiver.url)
        browser.run(CALLS)
        yield receiver, browser


def arrived(receiver):
    """How many bytes of incomplete uploads the receiver has."""
    return sum(path.stat().st_size for path in receiver.incomplete())


def until_arrived(receiver, count):
    until(lambda: arrived(receiver) >= count, f"{count} bytes of an upload")


def begin(receiver, browser, path, count, rate=20 * MIB):
    """Sends a file slowly until the receiver has `count` bytes of it."""
    throttle(browser, rate)
    browser.send_keys("#file", str(path))
    until_arrived(receiver, count)


def calls(browser):
    return browser.run("return calls")


def goes_on(browser, offset):
    """The page has asked for the offset, and then sent what follows it."""
    made = calls(browser)
    place = max(index for index, (method, *_) in enumerate(made) if method == "HEAD")
    assert made[place + 1][:2] == ["PATCH", offset], made


def without_alarm(browser):
    # Chromium sends a request again by itself after a used connection broke, and then the offset is wrong (409).
    is_quiet(browser, allowed=["net::ERR_", "404", "409", "503", "'beforeunload'"])


def is_settled(receiver, browser):
    """Nothing is left of uploads, neither here nor there."""
    until(lambda: receiver.incomplete() == [], "no incomplete upload")
    assert browser.run(KEPT) == [], browser.run(KEPT)
    assert browser.run(HINT) == ""


@check
def a_large_file_goes_on_after_the_receiver_was_started_again(stage):
    path = stage.file("large.bin", os.urandom(64 * MIB + 12345))
    for how in (signal.SIGTERM, signal.SIGKILL):
        with opened(stage) as (receiver, browser):
            begin(receiver, browser, path, 12 * MIB)
            receiver.end(how)
            rows = wait_for(browser, "interrupted")
            assert rows[0]["details"].startswith("Waiting for the receiver: the upload goes on by itself. "), rows
            assert status(browser) == "0 of 1 arrived, 1 interrupted.", status(browser)
            had = arrived(receiver)
            assert 12 * MIB <= had < 64 * MIB, had
            stage.picture(browser, f"interrupted-{how.name}")
            throttle(browser, 0)
            receiver.start()
            rows = wait_for(browser, "arrived")
            goes_on(browser, had)
            assert rows[0]["details"] == "Stored as large.bin, 67,121,209 bytes", rows
            assert rows[0]["digest"] == digests([path])[0], rows
            assert stored(receiver.directory) == digests([path])
            is_settled(receiver, browser)
            without_alarm(browser)


@check
def a_file_that_is_chosen_again_after_a_reload_goes_on(stage):
    path = stage.file("reloaded.bin", os.urandom(64 * MIB))
    # Without SHA-256, as on a page that came over plain HTTP from another machine.
    for plain in (False, True):
        with opened(stage) as (receiver, browser):
            if plain:
                browser.devtools("Page.addScriptToEvaluateOnNewDocument",
                                 source="Object.defineProperty(crypto, 'subtle', {value: undefined})")
                browser.go(receiver.url)
            begin(receiver, browser, path, 12 * MIB)
            receiver.end(signal.SIGKILL)
            wait_for(browser, "interrupted")
            had = arrived(receiver)
            receiver.start()
            browser.go(receiver.url)
            throttle(browser, 0)
            browser.run(CALLS)
            assert browser.run(HINT) == "Not complete: reloaded.bin. Choose the same file again to go on.", browser.run(HINT)
            assert ("fnv-1a" in browser.run(KEPT)[0][0]) == plain, browser.run(KEPT)
            stage.picture(browser, "reloaded")
            browser.send_keys("#file", str(path))
            wait_for(browser, "arrived")
            assert calls(browser)[0][0] == "HEAD", calls(browser)
            goes_on(browser, had)
            assert stored(receiver.directory) == digests([path])
            is_settled(receiver, browser)
            without_alarm(browser)


@check
def another_file_never_goes_on_with_a_kept_upload(stage):
    content = os.urandom(8 * MIB)
    path = stage.file("first.bin", content)
    time = path.stat()

    def keep_time(path):
        os.utime(path, ns=(time.st_atime_ns, time.st_mtime_ns))

    def other_date():
        path.write_bytes(content[:5 * MIB] + os.urandom(3 * MIB))
        return path

    def other_size():
        path.write_bytes(content + b"x")
        keep_time(path)
        return path

    def other_beginning():
        path.write_bytes(b"other" + content[5:])
        keep_time(path)
        return path

    def other_name():
        copy = stage.file("second.bin", content)
        keep_time(copy)
        return copy

    for change in (other_date, other_size, other_beginning, other_name):
        path.write_bytes(content)
        keep_time(path)
        with opened(stage) as (receiver, browser):
            begin(receiver, browser, path, 2 * MIB, rate=2 * MIB)
            browser.go(receiver.url)
            throttle(browser, 0)
            browser.run(CALLS)
            other = change()
            browser.send_keys("#file", str(other))
            wait_for(browser, "arrived")
            assert [method for method, *_ in calls(browser)][:2] == ["POST", "PATCH"], (change, calls(browser))
            assert stored(receiver.directory) == digests([other]), change
            # The upload of the first file waits until it expires.
            assert browser.run(HINT) == "Not complete: first.bin. Choose the same file again to go on.", browser.run(HINT)


@check
def a_file_that_changes_while_it_is_sent_is_an_error(stage):
    content = os.urandom(24 * MIB)

    def rewrite(path):
        path.write_bytes(content[:8 * MIB] + os.urandom(16 * MIB))

    def append(path):
        with path.open("ab") as file:
            file.write(b"more")

    def remove(path):
        path.unlink()

    for change in (rewrite, append, remove):
        with opened(stage) as (receiver, browser):
            path = stage.file("changing.bin", content)
            begin(receiver, browser, path, 2 * MIB, rate=4 * MIB)
            change(path)
            throttle(browser, 0)
            rows = wait_for(browser, "failed")
            assert rows[0]["details"].startswith("The file can't be read: it is gone, was changed"), rows
            assert stored(receiver.directory) == [], change
            is_settled(receiver, browser)


@check
def without_a_network_a_file_waits(stage):
    path = stage.file("offline.bin", os.urandom(16 * MIB))
    with opened(stage) as (receiver, browser):
        # No pause ends by itself: the page goes on because it is told that the network is back.
        browser.run("setTimeout = () => 0")
        begin(receiver, browser, path, 2 * MIB, rate=4 * MIB)
        browser.devtools("Network.emulateNetworkConditions", offline=True, latency=0, downloadThroughput=-1,
                         uploadThroughput=-1)
        rows = wait_for(browser, "interrupted")
        assert rows[0]["details"].startswith("Waiting for the network: "), rows
        throttle(browser, 0)
        wait_for(browser, "arrived")
        assert stored(receiver.directory) == digests([path])
        is_settled(receiver, browser)
        without_alarm(browser)


@check
def a_connection_that_stays_silent_is_given_up(stage):
    path = stage.file("silent.bin", os.urandom(8 * MIB))
    with restartable(stage.formstream) as receiver, relaying(receiver.url) as (url, relay):
        with browsing(stage.driver) as browser:
            browser.go(url)
            browser.run(CALLS + "; " + HURRY)
            relay.is_silent, relay.breaks_after = True, 2 * MIB
            browser.send_keys("#file", str(path))
            wait_for(browser, "interrupted")
            relay.breaks_after = None
            wait_for(browser, "arrived")
            assert stored(receiver.directory) == digests([path])
            is_settled(receiver, browser)
            without_alarm(browser)


@check
def two_windows_never_share_an_upload(stage):
    path = stage.file("windows.bin", os.urandom(12 * MIB))
    with opened(stage) as (receiver, browser):
        first = browser.call("GET", "/window")
        begin(receiver, browser, path, 2 * MIB, rate=2 * MIB)
        second = browser.call("POST", "/window/new", {"type": "window"})["handle"]
        browser.call("POST", "/window", {"handle": second})
        browser.go(receiver.url)
        browser.run(CALLS)
        browser.send_keys("#file", str(path))
        wait_for(browser, "arrived")
        assert calls(browser)[0][0] == "POST", calls(browser)
        browser.call("POST", "/window", {"handle": first})
        throttle(browser, 0)
        wait_for(browser, "arrived")
        assert "HEAD" not in [method for method, *_ in calls(browser)], calls(browser)
        assert stored(receiver.directory) == digests([path, path])
        is_settled(receiver, browser)


@check
def several_files_arrive_once_although_the_receiver_was_killed(stage):
    paths = [stage.file(f"several-{number}.bin", os.urandom((12 + number) * MIB)) for number in range(4)]
    paths += [stage.file("small", b"small")]
    with opened(stage) as (receiver, browser):
        begin(receiver, browser, "\n".join(map(str, paths)), 8 * MIB, rate=4 * MIB)
        receiver.end(signal.SIGKILL)
        # No further file is begun.
        wait_for(browser, "interrupted", "interrupted", "waiting", "waiting", "waiting")
        throttle(browser, 0)
        receiver.start()
        wait_for(browser, *["arrived"] * 5)
        assert stored(receiver.directory) == digests(paths)
        is_settled(receiver, browser)
        without_alarm(browser)


@check
def what_is_kept_can_be_discarded(stage):
    path = stage.file("unwanted.bin", os.urandom(8 * MIB))
    with opened(stage) as (receiver, browser):
        begin(receiver, browser, path, 2 * MIB, rate=2 * MIB)
        browser.go(receiver.url)
        throttle(browser, 0)
        browser.click("#kept button")
        is_settled(receiver, browser)


@check
def the_same_file_twice_is_two_uploads(stage):
    path = stage.file("twice.bin", os.urandom(12 * MIB))
    with opened(stage) as (receiver, browser):
        begin(receiver, browser, path, 2 * MIB, rate=2 * MIB)
        browser.send_keys("#file", str(path))
        until(lambda: len(receiver.incomplete()) == 2, "a second upload")
        assert len(browser.run(KEPT)) == 1
        throttle(browser, 0)
        wait_for(browser, "arrived", "arrived")
        assert stored(receiver.directory) == digests([path, path])
        is_settled(receiver, browser)


@check
def a_large_file_that_is_cancelled_leaves_nothing_and_can_be_sent_again(stage):
    path = stage.file("cancelled.bin", os.urandom(16 * MIB))
    with opened(stage) as (receiver, browser):
        begin(receiver, browser, path, 2 * MIB, rate=4 * MIB)
        assert len(browser.run(KEPT)) == 1
        browser.click("li button")
        rows = wait_for(browser, "cancelled")
        assert rows[0]["details"] == "Cancelled while sending.", rows
        is_settled(receiver, browser)
        throttle(browser, 0)
        browser.click("li button")
        wait_for(browser, "arrived")
        assert stored(receiver.directory) == digests([path])
        # While it waits for the receiver, it can be cancelled, too.
        begin(receiver, browser, path, 2 * MIB, rate=4 * MIB)
        receiver.end(signal.SIGKILL)
        wait_for(browser, "arrived", "interrupted")
        browser.click("li:last-child button")
        wait_for(browser, "arrived", "cancelled")
        assert browser.run(KEPT) == []
        without_alarm(browser)


@check
def a_large_file_pauses_and_continues_by_keyboard(stage):
    paths = [stage.file(f"paused-{number}.bin", os.urandom(8 * MIB)) for number in range(3)]
    with opened(stage) as (receiver, browser):
        begin(receiver, browser, "\n".join(map(str, paths)), 2 * MIB, rate=2 * MIB)
        tab_to(browser, "it.getAttribute('aria-label') === 'Pause paused-0.bin'", "the button that pauses")
        browser.press(ENTER)
        # The place is free for another file.
        rows = wait_for(browser, "paused", "sending", "sending")
        assert rows[0]["details"].startswith("Paused. "), rows
        assert rows[0]["bar"] and rows[0]["value"] > 0, rows
        assert browser.run("return document.activeElement.getAttribute('aria-label')") == "Continue paused-0.bin"
        assert status(browser) == "0 of 3 arrived, 1 paused.", status(browser)
        for width in (360, 1000):
            browser.devtools("Emulation.setDeviceMetricsOverride", width=width, height=800, deviceScaleFactor=1,
                             mobile=False)
            legible(browser, "paused")
            stage.picture(browser, f"paused-{width}")
        throttle(browser, 0)
        wait_for(browser, "paused", "arrived", "arrived")
        assert stored(receiver.directory) == digests(paths[1:])
        browser.press(ENTER)
        wait_for(browser, "arrived", "arrived", "arrived")
        # The button is gone, and the focus is not.
        assert browser.run("return document.activeElement.tagName") == "LI"
        assert stored(receiver.directory) == digests(paths)
        is_settled(receiver, browser)
        is_quiet(browser)


@check
def the_bar_shows_only_what_the_receiver_has_confirmed(stage):
    path = stage.file("slow.bin", os.urandom(12 * MIB))
    with opened(stage) as (receiver, browser):
        browser.run("""window.wrong = []; new MutationObserver(() => {
          const value = document.querySelector("progress").value, state = document.querySelector("li").className;
          const upload = Object.values(localStorage).map(JSON.parse)[0];
          const confirmed = (upload?.confirmed ?? 0) / arguments[0];
          if (state === "sending" && value > confirmed || value === 1 && state !== "arrived") wrong.push([state, value, confirmed]);
        }).observe(document.querySelector("ul"), {subtree: true, childList: true, attributes: true})""".replace(
            "arguments[0]", str(path.stat().st_size)))
        begin(receiver, browser, path, 3 * MIB, rate=2 * MIB)
        until(lambda: 0 < browser.run(ROWS)[0]["value"] < 1, "a bar in progress")
        throttle(browser, 0)
        wait_for(browser, "arrived")
        assert browser.run("return wrong") == [], browser.run("return wrong")
        # The file ends with a short piece, before which the page looks whether the file has changed.
        assert calls(browser)[-1] == ["PATCH", 12 * MIB - 65536, 65536], calls(browser)


@check
def after_a_lost_response_the_page_asks_again(stage):
    path = stage.file("lost.bin", os.urandom(2 * MIB))
    with restartable(stage.formstream) as receiver, relaying(receiver.url) as (url, relay):
        with browsing(stage.driver) as browser:
            browser.go(url)
            browser.run(CALLS)
            relay.loses_after = 2 * MIB
            browser.send_keys("#file", str(path))
            wait_for(browser, "interrupted")
            until(lambda: stored(receiver.directory) == digests([path]), "the file is stored")
            relay.loses_after = None
            rows = wait_for(browser, "arrived")
            assert rows[0]["details"] == "Stored as lost.bin, 2,097,152 bytes", rows
            assert calls(browser)[-2:] == [["HEAD", None, None], ["PATCH", 2 * MIB, 0]], calls(browser)
            assert stored(receiver.directory) == digests([path])
            is_settled(receiver, browser)
            without_alarm(browser)


@check
def if_the_receiver_forgot_a_completed_upload_the_result_is_unknown(stage):
    path = stage.file("forgotten.bin", os.urandom(2 * MIB))
    with restartable(stage.formstream) as receiver, relaying(receiver.url) as (url, relay):
        with browsing(stage.driver) as browser:
            browser.go(url)
            relay.loses_after = 2 * MIB
            browser.send_keys("#file", str(path))
            wait_for(browser, "interrupted")
            until(lambda: stored(receiver.directory) == digests([path]), "the file is stored")
            receiver.end()
            shutil.rmtree(receiver.directory / ".formstream-uploads")
            receiver.start()
            relay.loses_after = None
            rows = wait_for(browser, "unknown")
            assert rows[0]["details"].endswith("it is not known whether the file arrived."), rows
            assert stored(receiver.directory) == digests([path])
            is_settled(receiver, browser)


def delete(url):
    request = urllib.request.Request(url, method="DELETE", headers={"Tus-Resumable": "1.0.0"})
    OPENER.open(request).close()


def paused(receiver, browser, path):
    """Pauses in the middle of a file, and returns what is kept of its upload."""
    begin(receiver, browser, path, 2 * MIB, rate=2 * MIB)
    until(lambda: browser.run(ROWS)[0]["value"] > 0, "a confirmed piece")
    browser.click("li .pause")
    wait_for(browser, "paused")
    throttle(browser, 0)
    return browser.run(KEPT)[0][1]


@check
def an_upload_that_is_gone_begins_again(stage):
    path = stage.file("gone.bin", os.urandom(8 * MIB))
    with opened(stage) as (receiver, browser):
        delete(paused(receiver, browser, path)["url"])
        browser.click("li .pause")
        wait_for(browser, "arrived")
        assert [method for method, *_ in calls(browser)].count("POST") == 2, calls(browser)
        assert stored(receiver.directory) == digests([path])
        is_settled(receiver, browser)
        without_alarm(browser)


@check
def an_offset_that_can_not_be_is_an_error(stage):
    path = stage.file("offsets.bin", os.urandom(8 * MIB))
    content = path.read_bytes()

    def shorten(receiver, file, _):
        # A receiver that runs knows what it has confirmed, and removes the upload.
        receiver.end(signal.SIGKILL)
        with file.open("r+b") as opened:
            opened.truncate(1000)
        receiver.start()

    def extend(receiver, file, kept):
        with file.open("ab") as opened:
            opened.write(bytes(kept["sent"] + 1 - file.stat().st_size))

    for change in (shorten, extend):
        with opened(stage) as (receiver, browser):
            kept = paused(receiver, browser, path)
            # The upload is at rest after a request about it, which ends the one before.
            OPENER.open(urllib.request.Request(kept["url"], method="HEAD", headers={"Tus-Resumable": "1.0.0"})).close()
            change(receiver, receiver.incomplete()[0], kept)
            browser.click("li .pause")
            rows = wait_for(browser, "failed")
            assert rows[0]["details"].startswith("The receiver says that it has "), rows
            assert stored(receiver.directory) == []
            browser.click("#retry")
            wait_for(browser, "arrived")
            assert stored(receiver.directory) == [digest(content)]


@check
def a_receiver_without_resumable_uploads_gets_a_form(stage):
    path = stage.file("form.bin", os.urandom(3 * MIB))
    for flag in (["--no-resumable"], ["--max-store", "1M"]):
        with opened(stage, *flag) as (receiver, browser):
            browser.send_keys("#file", str(path))
            wait_for(browser, "arrived")
            assert "PATCH" not in [method for method, *_ in calls(browser)], calls(browser)
            assert stored(receiver.directory) == digests([path])


@check
def large_files_keep_their_paths_and_are_never_read_as_forms(stage):
    root = stage.files / "album"
    (root / "day 1").mkdir(parents=True)
    contents = {"album/day 1/\u05d0 \"1\".bin": os.urandom(2 * MIB), "album/page.mhtml": os.urandom(2 * MIB),
                "album/note.txt": b"note"}
    for name, content in contents.items():
        (stage.files / name).write_bytes(content)
    with opened(stage, "--keep-paths") as (receiver, browser):
        browser.send_keys("#folder", str(root))
        until(lambda: status(browser) == "3 of 3 arrived.", "three files")
        found = {name: sum for name, sum in tree(receiver.directory).items() if not name.startswith(".")}
        assert sorted(found.values()) == sorted(map(digest, contents.values())), found
        assert set(found) >= {"album/page.mhtml", "album/note.txt"}, found
        is_quiet(browser)


@check
def large_files_are_sent_with_the_token(stage):
    token = stage.file("token", b"a-token-of-some-length")
    token.chmod(0o600)
    path = stage.file("secret.bin", os.urandom(3 * MIB))
    with restartable(stage.formstream, "--token-file", str(token)) as receiver, browsing(stage.driver) as browser:
        browser.go(receiver.url.replace("//", "//x:a-token-of-some-length@"))
        browser.send_keys("#file", str(path))
        wait_for(browser, "arrived")
        assert stored(receiver.directory) == digests([path])
        is_quiet(browser)
