"""How pages look in headless Chromium: on paper and on screens of 390 and 1600 pixels, light and dark.

Measured in the page by look.js: nothing wider than its window, no text cut off or beside its cell, letters that can be read
(WCAG: 4.5 to 1 against what lies behind, large ones and lines of charts 3 to 1), and nothing outside of its chart. The browser gets its commands
over a pipe (Chrome's DevTools protocol), so that no port is open and nothing has to be installed.
"""

import json
import os
import subprocess
from pathlib import Path

SCRIPT = (Path(__file__).parent / "look.js").read_text()
PAPER = 718  # pixels of 1/96 inch between the margins of A4
# name, width, medium, color scheme
LOOKS = [(f"{width} pixels, {scheme}", width, "screen", scheme) for width in (390, 1600) for scheme in ("light", "dark")]
LOOKS += [(f"printed, {scheme}", PAPER, "print", scheme) for scheme in ("light", "dark")]


class Browser:
    """One page at a time. `folder` keeps the profile."""

    def __init__(self, program, folder):
        to_browser, self.write = os.pipe()
        self.read, from_browser = os.pipe()
        # The protocol's ends are 3 and 4 in the browser.
        self.process = subprocess.Popen(
            ["sh", "-c", f'exec 3<&{to_browser} 4>&{from_browser}; exec "$0" "$@"', program, "--headless=new", "--no-sandbox", "--disable-gpu",
             f"--user-data-dir={folder}/looks", "--no-first-run", "--host-resolver-rules=MAP * ~NOTFOUND",
             "--hide-scrollbars", "--remote-debugging-pipe", "about:blank"],
            pass_fds=(to_browser, from_browser), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(to_browser)
        os.close(from_browser)
        self.sent, self.rest, self.session = 0, b"", None
        target = next(one for one in self.ask("Target.getTargets")["targetInfos"] if one["type"] == "page")
        self.session = self.ask("Target.attachToTarget", targetId=target["targetId"], flatten=True)["sessionId"]
        self.ask("Page.enable")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.session = None
        self.ask("Browser.close")
        self.process.wait()
        os.close(self.write)
        os.close(self.read)

    def receive(self):
        while b"\0" not in self.rest:
            some = os.read(self.read, 1 << 16)
            if not some:
                raise RuntimeError(f"the browser has ended, with status {self.process.wait()}")
            self.rest += some
        message, self.rest = self.rest.split(b"\0", 1)
        return json.loads(message)

    def ask(self, method, until=None, **parameters):
        """The answer, once the event `until` has come, too."""
        self.sent += 1
        message = {"id": self.sent, "method": method, "params": parameters, **({"sessionId": self.session} if self.session else {})}
        os.write(self.write, json.dumps(message).encode() + b"\0")
        answer = None
        while answer is None or until:
            got = self.receive()
            if got.get("id") == self.sent:
                answer = got
            elif got.get("method") == until:
                until = None
        if "error" in answer:
            raise RuntimeError(f"{method}: {answer['error']}")
        return answer["result"]

    def evaluate(self, script):
        answer = self.ask("Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in answer:
            raise RuntimeError(json.dumps(answer["exceptionDetails"])[:1000])
        return answer["result"].get("value")

    def picture(self, path):
        import base64
        data = self.ask("Page.captureScreenshot", captureBeyondViewport=True)["data"]
        Path(path).write_bytes(base64.b64decode(data))

    def faults(self, page, prepare="", pictures=None):
        """["printed, dark: text is cut off ..."] of a page. `prepare` is a script that runs in it first."""
        found = []
        for name, width, medium, scheme in LOOKS:
            self.ask("Emulation.setDeviceMetricsOverride", width=width, height=1000, deviceScaleFactor=1, mobile=False)
            self.ask("Emulation.setEmulatedMedia", media=medium, features=[{"name": "prefers-color-scheme", "value": scheme}])
            self.ask("Page.navigate", until="Page.loadEventFired", url=Path(page).resolve().as_uri())
            frames = "new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))"
            self.evaluate(f"(async () => {{ {prepare}; window.dispatchEvent(new Event('resize'));"
                          + ("window.dispatchEvent(new Event('beforeprint'));" if medium == "print" else "") + f" await {frames}; }})()")
            found += [f"{name}: {fault}" for fault in self.evaluate(f"({SCRIPT})({json.dumps(medium == 'print')})")]
            if pictures:
                self.picture(f"{pictures}-{medium}-{width}-{scheme}.png")
        return found
