"""A browser of its own for a test, by the plain WebDriver protocol (W3C): no library is asked for."""

import contextlib
import json
import os
import re
import shutil
import signal
import subprocess
import tempfile
import time
import urllib.error
import urllib.request

# The key under which WebDriver writes down an element.
ELEMENT = "element-6066-11e4-a52e-4f735466cecf"
# How long anything may take. It bounds a wait that has gone wrong, and is never slept through.
DEADLINE = 30
FLAGS = [
    "--headless=new", "--no-first-run", "--no-default-browser-check", "--no-pings", "--disable-sync",
    "--disable-background-networking", "--disable-component-update", "--disable-default-apps",
    "--disable-domain-reliability", "--disable-client-side-phishing-detection", "--disable-extensions",
    "--disable-features=OptimizationHints,MediaRouter,Translate", "--metrics-recording-only",
    "--no-proxy-server", "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
]
# The loopback alone, whatever the environment says.
OPENER = urllib.request.build_opener(urllib.request.ProxyHandler({}))


class Broken(Exception):
    """What keeps a test from being made: no browser, no answer, a script that fails."""


def until(condition, what, deadline=DEADLINE):
    """Asks again and again until the condition gives something, and gives it."""
    end = time.monotonic() + deadline
    while not (result := condition()):
        if time.monotonic() > end:
            raise AssertionError(f"waited {deadline} s in vain for this: {what}")
        time.sleep(0.02)
    return result


class Browser:
    """One window of Chromium."""

    def __init__(self, driver, session):
        self.base = f"{driver}/session/{session}"

    def call(self, method, path, body=None):
        return call(method, self.base + path, body)

    def go(self, url):
        self.call("POST", "/url", {"url": url})

    def run(self, script, *arguments):
        """What a function of that body returns, in the page."""
        return self.call("POST", "/execute/sync", {"script": script, "args": arguments})

    def run_async(self, script, *arguments):
        """The same, of a promise."""
        return self.call("POST", "/execute/async", {
            "script": f"const done = arguments[arguments.length - 1];"
                      f"(async (...given) => {{ {script} }})(...arguments).then(done);",
            "args": arguments})

    def devtools(self, command, **parameters):
        return self.call("POST", "/goog/cdp/execute", {"cmd": command, "params": parameters})

    def find(self, selector):
        return self.call("POST", "/element", {"using": "css selector", "value": selector})[ELEMENT]

    def click(self, selector):
        self.call("POST", f"/element/{self.find(selector)}/click", {})

    def send_keys(self, selector, text):
        self.call("POST", f"/element/{self.find(selector)}/value", {"text": text})

    def press(self, key):
        """Presses a key as on the keyboard, wherever the focus is."""
        self.call("POST", "/actions", {"actions": [{"type": "key", "id": "keyboard", "actions": [
            {"type": "keyDown", "value": key}, {"type": "keyUp", "value": key}]}]})

    def choose(self, selector, paths):
        """Chooses files by whatever name: a line break would end a name that WebDriver is told."""
        root = self.devtools("DOM.getDocument")["root"]["nodeId"]
        node = self.devtools("DOM.querySelector", nodeId=root, selector=selector)["nodeId"]
        self.devtools("DOM.setFileInputFiles", nodeId=node, files=[str(path) for path in paths])

    def complaints(self):
        """What the browser had to say since it was asked last: errors, and what the policy forbade."""
        return [entry["message"] for entry in self.call("POST", "/se/log", {"type": "browser"})]

    def screenshot(self):
        """The whole page as PNG, in base 64."""
        shot = self.devtools("Page.captureScreenshot", captureBeyondViewport=True, clip={
            "x": 0, "y": 0, "scale": 1,
            **self.run("return {width: innerWidth, height: document.documentElement.scrollHeight}")})
        return shot["data"]


def call(method, url, body=None):
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(url, data, {"Content-Type": "application/json"}, method=method)
    try:
        with OPENER.open(request, timeout=2 * DEADLINE) as answer:
            return json.load(answer)["value"]
    except urllib.error.HTTPError as error:
        value = json.load(error)["value"]
        raise Broken(f"{method} {url}: {value['error']}: {value['message']}") from None


@contextlib.contextmanager
def driving():
    """chromedriver on a free port. It ends with all that it started."""
    program = shutil.which("chromedriver")
    if not program:
        raise Broken("chromedriver is not here: .ci/install browser")
    directory = tempfile.mkdtemp(prefix="formstream-browser-")
    environment = {key: value for key, value in os.environ.items() if not key.lower().endswith("_proxy")}
    # Its home is its own: nothing is read from the person's, and nothing is left there.
    environment |= {"HOME": directory, "TMPDIR": directory, "XDG_CONFIG_HOME": directory,
                    "XDG_CACHE_HOME": directory}
    process = subprocess.Popen([program, "--port=0"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                               text=True, env=environment, start_new_session=True)
    try:
        port = None
        for line in process.stdout:
            if found := re.search(r"started successfully on port (\d+)", line):
                port = found[1]
                break
        if not port:
            raise Broken("chromedriver does not start")
        yield f"http://127.0.0.1:{port}", directory
    finally:
        end_group(process)
        process.stdout.close()
        shutil.rmtree(directory, ignore_errors=True)


def end_group(process):
    """Ends a program and its children, whose group is its own by start_new_session, and sees them gone."""
    def is_gone():
        process.poll()
        try:
            os.killpg(process.pid, 0)
        except ProcessLookupError:
            return True
    os.killpg(process.pid, signal.SIGTERM)
    try:
        until(is_gone, "the browser's end")
    except AssertionError:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()


@contextlib.contextmanager
def browsing(driver, width=1000, height=800, dark=False, scripts=True):
    """A fresh browser, of a profile of its own."""
    address, directory = driver
    profile = tempfile.mkdtemp(dir=directory)
    flags = [*FLAGS, f"--user-data-dir={profile}"]
    if os.geteuid() == 0:
        # Chromium's sandbox can't be made by root.
        flags.append("--no-sandbox")
    options = {"args": flags}
    if not scripts:
        options["prefs"] = {"profile.managed_default_content_settings.javascript": 2}
    made = call("POST", f"{address}/session", {"capabilities": {"alwaysMatch": {
        "browserName": "chrome", "goog:chromeOptions": options, "goog:loggingPrefs": {"browser": "ALL"},
        "timeouts": {"script": DEADLINE * 1000}}}})
    browser = Browser(address, made["sessionId"])
    browser.version = made["capabilities"]["browserVersion"]
    try:
        browser.devtools("Emulation.setDeviceMetricsOverride", width=width, height=height,
                         deviceScaleFactor=1, mobile=False)
        browser.devtools("Emulation.setEmulatedMedia", features=[
            {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}])
        yield browser
    finally:
        browser.call("DELETE", "")
