"""Starts and controls a browser by the plain WebDriver protocol (W3C), without a library."""

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

# The key of an element reference in WebDriver.
ELEMENT = "element-6066-11e4-a52e-4f735466cecf"
# The time limit of every wait, in seconds. A test that succeeds never waits that long.
DEADLINE = 30
FLAGS = [
    "--headless=new", "--no-first-run", "--no-default-browser-check", "--no-pings", "--disable-sync",
    "--disable-background-networking", "--disable-component-update", "--disable-default-apps",
    "--disable-domain-reliability", "--disable-client-side-phishing-detection", "--disable-extensions",
    "--disable-features=OptimizationHints,MediaRouter,Translate", "--metrics-recording-only",
    "--no-proxy-server", "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
]
# Only the loopback, even if the environment sets a proxy.
OPENER = urllib.request.build_opener(urllib.request.ProxyHandler({}))


class Broken(Exception):
    """A test could not be run: no browser, no response, or a failing script."""


def until(condition, what, deadline=DEADLINE):
    """Polls the condition until it returns something true, and returns that."""
    end = time.monotonic() + deadline
    while not (result := condition()):
        if time.monotonic() > end:
            raise AssertionError(f"waited {deadline} s in vain for: {what}")
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
        """Runs the body of a function in the page, and returns its result."""
        return self.call("POST", "/execute/sync", {"script": script, "args": arguments})

    def run_async(self, script, *arguments):
        """The same for an async function."""
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
        """Presses and releases a key, wherever the focus is."""
        self.call("POST", "/actions", {"actions": [{"type": "key", "id": "keyboard", "actions": [
            {"type": "keyDown", "value": key}, {"type": "keyUp", "value": key}]}]})

    def choose(self, selector, paths):
        """Chooses files with any names. (WebDriver itself splits a list of files at line breaks.)"""
        root = self.devtools("DOM.getDocument")["root"]["nodeId"]
        node = self.devtools("DOM.querySelector", nodeId=root, selector=selector)["nodeId"]
        self.devtools("DOM.setFileInputFiles", nodeId=node, files=[str(path) for path in paths])

    def complaints(self):
        """The messages on the console since the last call: errors, and violations of the policy."""
        return [entry["message"] for entry in self.call("POST", "/se/log", {"type": "browser"})]

    def screenshot(self):
        """The complete page as PNG, in base 64."""
        shot = self.devtools("Page.captureScreenshot", captureBeyondViewport=True, clip={
            "x": 0, "y": 0, "scale": 1,
            **self.run("return {width: innerWidth, height: document.documentElement.scrollHeight}")})
        return shot["data"]


def call(method, url, body=None):
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(url, data, {"Content-Type": "application/json"}, method=method)
    try:
        with OPENER.open(request, timeout=2 * DEADLINE) as response:
            return json.load(response)["value"]
    except urllib.error.HTTPError as error:
        value = json.load(error)["value"]
        raise Broken(f"{method} {url}: {value['error']}: {value['message']}") from None


@contextlib.contextmanager
def driving():
    """Runs chromedriver on a free port, and ends it and all its children."""
    program = shutil.which("chromedriver")
    if not program:
        raise Broken("chromedriver is not installed: run .ci/install browser")
    directory = tempfile.mkdtemp(prefix="formstream-browser-")
    environment = {key: value for key, value in os.environ.items() if not key.lower().endswith("_proxy")}
    # A new home directory: nothing is read from the user's home, and nothing is left there.
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
    """Ends a program and its children, which start_new_session put into one group, and waits until they are gone."""
    def is_gone():
        process.poll()
        try:
            os.killpg(process.pid, 0)
        except ProcessLookupError:
            return True
    os.killpg(process.pid, signal.SIGTERM)
    try:
        until(is_gone, "the end of the browser")
    except AssertionError:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()


@contextlib.contextmanager
def browsing(driver, width=1000, height=800, dark=False, scripts=True):
    """Runs a browser with a new profile."""
    address, directory = driver
    profile = tempfile.mkdtemp(dir=directory)
    flags = [*FLAGS, f"--user-data-dir={profile}"]
    if os.geteuid() == 0:
        # Chromium's sandbox does not work for root.
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
