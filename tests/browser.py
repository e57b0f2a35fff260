"""A headless Chromium for the tests of pages, over the DevTools protocol on two pipes: it needs no port and no library."""

import base64
import json
import os
import shutil
import subprocess

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
"""None where there is none, and its tests are skipped."""


class Browser:
    """One tab, to be used as a context."""

    def __init__(self, folder):
        self._folder = str(folder)

    def __enter__(self):
        read_here, written_there = os.pipe()
        read_there, written_here = os.pipe()
        # Chromium reads its orders from file 3 and answers on file 4.
        flags = "--headless --no-sandbox --disable-gpu --disable-dev-shm-usage --no-first-run --hide-scrollbars"
        flags += " --remote-debugging-pipe"
        command = f'exec "$0" {flags} --user-data-dir="$1" about:blank 3<&{read_there} 4>&{written_there}'
        self._process = subprocess.Popen(
            ["/bin/bash", "-c", command, CHROMIUM, self._folder],
            pass_fds=(read_there, written_there),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        os.close(read_there)
        os.close(written_there)
        self._orders, self._answers = os.fdopen(written_here, "wb", 0), os.fdopen(read_here, "rb")
        self._count, self._session = 0, None
        self.complaints = []
        """What the page writes to its console, and every request to anywhere but a file."""
        tab = self.tell("Target.createTarget", url="about:blank")["targetId"]
        self._session = self.tell("Target.attachToTarget", targetId=tab, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Network", "Log"):
            self.tell(f"{domain}.enable")
        return self

    def __exit__(self, *error):
        self._session = None
        self.tell("Browser.close")
        self._process.wait(20)
        self._orders.close()
        self._answers.close()

    def _read(self):
        found = bytearray()
        while not found.endswith(b"\0"):
            byte = self._answers.read(1)
            assert byte, "the browser has gone"
            found += byte
        message = json.loads(found[:-1])
        about, more = message.get("method"), message.get("params", {})
        if about in ("Runtime.exceptionThrown", "Log.entryAdded", "Runtime.consoleAPICalled"):
            self.complaints.append(more)
        if about == "Network.requestWillBeSent" and not more["request"]["url"].startswith("file:"):
            self.complaints.append(more["request"]["url"])
        return message

    def tell(self, order, **more):
        """One order of the protocol, and what it gives."""
        self._count += 1
        message = {"id": self._count, "method": order, "params": more}
        message |= {"sessionId": self._session} if self._session else {}
        self._orders.write(json.dumps(message).encode() + b"\0")
        while True:
            answer = self._read()
            if answer.get("id") == self._count:
                assert "error" not in answer, answer
                return answer["result"]

    def open(self, path, width, dark=False):
        """Load a file into a window so wide."""
        self.tell("Emulation.setDeviceMetricsOverride", width=width, height=900, deviceScaleFactor=1, mobile=False)
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.tell("Emulation.setEmulatedMedia", features=[scheme])
        self.tell("Page.navigate", url="about:blank")
        self.tell("Page.navigate", url=path if "://" in str(path) else path.as_uri())
        while self.ask("document.readyState") != "complete" or self.ask("location.href") == "about:blank":
            pass

    def ask(self, script):
        """What a line of JavaScript gives in the page."""
        answer = self.tell("Runtime.evaluate", expression=script, returnByValue=True)
        assert "exceptionDetails" not in answer, answer
        return answer["result"].get("value")

    def press(self, key):
        """A key, as from a keyboard."""
        for kind in ("keyDown", "keyUp"):
            self.tell("Input.dispatchKeyEvent", type=kind, key=key, code=key)

    def picture(self):
        """The whole page as PNG."""
        shot = self.tell("Page.captureScreenshot", captureBeyondViewport=True)
        return base64.b64decode(shot["data"])
