"""Headless Chromium over a pipe: its own protocol, and nothing to install for it."""

import base64
import json
import os
import select
import shutil
import subprocess
import time

PLACE = "SKDPGEN_BROWSER"  # the variable that names the program
NAMES = ("chromium", "chromium-browser", "google-chrome", "chrome")
OPTIONS = ("--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage")
OPTIONS += ("--no-first-run", "--disable-background-networking", "--no-zygote")
SECONDS = 120


def browser():
    """Return the path of a browser, or None."""
    found = (shutil.which(name) for name in NAMES)
    return os.environ.get(PLACE) or next(filter(None, found), None)


class Chromium:
    """A page of a browser: what it is told, and every event that it tells.

    Messages are JSON with a zero byte behind, read and written at the browser's file
    descriptors 3 and 4 (`--remote-debugging-pipe`).
    """

    def __init__(self, folder):
        read, self.written = os.pipe()
        self.reading, write = os.pipe()

        def hand_over():
            os.dup2(read, 63), os.dup2(write, 64)  # first out of the way of each other
            os.dup2(63, 3), os.dup2(64, 4)

        self.process = subprocess.Popen(
            [
                *(browser(), *OPTIONS, "--remote-debugging-pipe"),
                *(f"--user-data-dir={folder}", "about:blank"),
            ],
            close_fds=False,
            preexec_fn=hand_over,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        os.close(read), os.close(write)
        self.buffer, self.number, self.session, self.events = b"", 0, None, []
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        attached = self.call("Target.attachToTarget", targetId=target, flatten=True)
        self.session = attached["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.process.kill()
        self.process.wait()
        os.close(self.reading), os.close(self.written)

    def call(self, method, **parameters):
        """Tell the browser something, and return what it answers."""
        self.number += 1
        said = {"id": self.number, "method": method, "params": parameters}
        if self.session:
            said["sessionId"] = self.session
        os.write(self.written, json.dumps(said).encode() + b"\0")
        deadline = time.monotonic() + SECONDS
        while True:
            heard = self._next(deadline)
            if heard.get("id") == self.number:
                assert "error" not in heard, heard
                return heard["result"]

    def open(self, path):
        """Open a file, wait until it is loaded, and return the seconds it took."""
        start = time.monotonic()
        self.events.clear()
        self.call("Page.navigate", url=path.as_uri())
        while not self.told("Page.loadEventFired"):
            self._next(start + SECONDS)
        return time.monotonic() - start

    def told(self, *methods):
        """Return the events of some names since the page was opened."""
        return [one["params"] for one in self.events if one["method"] in methods]

    def value(self, expression):
        """Return what an expression of JavaScript comes to in the page."""
        answer = self.call(
            "Runtime.evaluate", expression=expression, returnByValue=True
        )
        return answer["result"]["value"]

    def emulate(self, media="screen", scheme="light"):
        """Show the page as a medium and a colour scheme would have it."""
        features = [{"name": "prefers-color-scheme", "value": scheme}]
        self.call("Emulation.setEmulatedMedia", media=media, features=features)

    def picture(self, width, height):
        """Return a PNG of the upper part of the page."""
        size = {"width": width, "height": height, "deviceScaleFactor": 1}
        self.call("Emulation.setDeviceMetricsOverride", mobile=False, **size)
        self.call("Emulation.setScrollbarsHidden", hidden=True)
        return base64.b64decode(self.call("Page.captureScreenshot")["data"])

    def print(self):
        """Return the page as PDF."""
        return base64.b64decode(self.call("Page.printToPDF")["data"])

    def _next(self, deadline):
        while b"\0" not in self.buffer:
            seconds = max(0, deadline - time.monotonic())
            ready, _, _ = select.select([self.reading], [], [], seconds)
            assert ready, "the browser says nothing"
            piece = os.read(self.reading, 1 << 16)
            assert piece, "the browser is gone"
            self.buffer += piece
        one, _, self.buffer = self.buffer.partition(b"\0")
        heard = json.loads(one)
        if "method" in heard:
            self.events.append(heard)
        return heard
