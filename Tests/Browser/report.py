"""Tests the page of `formstream report --html`."""

import json
import subprocess

from page import ENTER, HOSTILE, TAB, check, legible
from receiving import receiving
from webdriver import browsing, until

REFUSED = [HOSTILE[0].replace("/", "_"), HOSTILE[1], HOSTILE[3], "w" * 120]


def page(stage):
    """Sends files, some of them refused, and returns the address of the page about that."""
    files, journals = stage.files / "files", stage.files / "journals"
    files.mkdir()
    for index in range(200):
        (files / f"{index}.txt").write_bytes(b"f" * index)
    for name in REFUSED:
        (files / name).write_bytes(bytes(2000))
    with receiving(stage.formstream, "--max-body", "1000") as (url, _):
        subprocess.run([stage.formstream, "send", "-q", "-j", "4", "--journal", journals, url, files],
                       stderr=subprocess.DEVNULL, check=False)
    path = journals / "page.html"
    subprocess.run([stage.formstream, "report", "--html", path, journals], stdout=subprocess.DEVNULL, check=False)
    return path.as_uri()


@check
def the_report_is_legible_in_light_and_dark_and_on_narrow_screens(stage):
    address = page(stage)
    for kind, width, dark in (("light", 1400, False), ("dark", 1400, True),
                              ("medium", 700, False), ("narrow", 360, False), ("narrow-dark", 360, True)):
        with browsing(stage.driver, width, 800, dark) as browser:
            browser.go(address)
            legible(browser, kind)
            browser.run("document.querySelector('details').open = true")
            legible(browser, kind)
            stage.picture(browser, f"report-{kind}")
            assert not browser.complaints()
            assert browser.run("return document.title") == "Report: 204 files"
            # Each picture has a text.
            assert browser.run("return [...document.querySelectorAll('svg')].every(each => each.getAttribute('aria-label'))")
            within(browser, kind)


@check
def the_pictures_of_a_long_run_have_room(stage):
    """A run of two minutes exactly ends at the last mark of the axis."""
    files, journals = stage.files / "files", stage.files / "journals"
    files.mkdir()
    journals.mkdir()
    (files / "a").write_bytes(b"a")
    manifest = stage.files / "manifest"
    subprocess.run([stage.formstream, "plan", "-q", "-o", manifest, files], check=True)
    lines = manifest.read_bytes().splitlines(keepends=True)
    begun = 1_780_000_000 * 10 ** 9
    records = [
        {"schema": "formstream.journal/1", "manifest": json.loads(lines[0])["id"], "shard": None, "url": "http://x/",
         "boot": "b", "begun_ns": begun},
        {"schema": "formstream.record/2", "offset": len(lines[0]), "path": "a", "size": 1 << 40, "outcome": "ok", "attempts": 1,
         "maybe_duplicate": False, "seconds": 120, "begun_ns": begun, "ended_ns": begun + 120 * 10 ** 9, "error": None},
        {"schema": "formstream.closed/1"}]
    (journals / "journal-a.jsonl").write_text("".join(
        json.dumps(record, separators=(",", ":")) + "\n" for record in records))
    path = stage.files / "page.html"
    subprocess.run([stage.formstream, "report", "--manifest", manifest, "--html", path, journals], check=True,
                   stdout=subprocess.DEVNULL)
    with browsing(stage.driver, 1000, 800) as browser:
        browser.go(path.as_uri())
        assert "2 min 00 s" in browser.run("return document.querySelector('svg').textContent")
        within(browser, "long")
        stage.picture(browser, "report-long")


def within(browser, kind):
    """Nothing in a picture is drawn beyond its edges."""
    beyond = browser.run("""return [...document.querySelectorAll("svg *")].filter(each => {
      const [one, all] = [each.getBoundingClientRect(), each.closest("svg").getBoundingClientRect()];
      return one.left < all.left - 1 || one.right > all.right + 1 || one.bottom > all.bottom + 1;
    }).map(each => each.outerHTML)""")
    assert not beyond, f"{kind}: {beyond}"


@check
def the_report_is_read_by_keyboard_and_loads_nothing(stage):
    with browsing(stage.driver, 1000, 800) as browser:
        browser.go(page(stage))
        assert browser.run("return performance.getEntriesByType('resource').length") == 0
        for _ in range(10):
            browser.press(TAB)
            if browser.run("return document.activeElement.tagName") == "SUMMARY":
                break
        browser.press(ENTER)
        until(lambda: browser.run("return document.querySelector('details').open"), "the table")
        rows = browser.run("""return [...document.querySelectorAll("details tbody tr")].map(
          row => [...row.cells].map(cell => cell.textContent))""")
        assert 1 <= len(rows) <= 24 and rows[-1][1] == "200", rows
        assert sum(int(row[4]) for row in rows) == 4, rows
        text = browser.run("return document.body.textContent")
        for name in (REFUSED[0], "evil\\u{202E}gpj.exe", REFUSED[2], REFUSED[3], "413"):
            assert name in text, f"{name} is not shown"
