#!/usr/bin/env python3
"""A browser without a window, for tests of the page: runs Chromium and does the steps of the arguments.

usage: browser.py STEP...

  open=URL        load it
  until=EXPR      wait until the JavaScript expression is true (30 s)
  do=EXPR         evaluate it
  print=EXPR      evaluate it, and print it
  shot=FILE       a picture of the window, PNG; shot-all=FILE: of the whole page
  key=KEY         press Tab, Enter, ...
  insecure=       certificates are not checked
  touch=FILE      make an empty file
  size=WxH        of the window; media=dark: what the reader prefers
  forgive=TEXT    errors of the console until now that have it are as they should be

Exits 0; 1 where a step fails, or the console has had an error or a violation of the page's policy, which are
printed; 77 where there is no Chromium.
"""
import base64
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time

PATIENCE_S = 30 * int(os.environ.get("SW_PATIENCE", "1"))


class Browser:
    """Chromium, spoken to by its DevTools protocol over a pipe."""

    def __init__(self, program, width, height):
        self.profile = tempfile.mkdtemp()
        to_read, self.to = os.pipe()
        self.back, from_write = os.pipe()

        def descriptors():
            a, b = os.dup(to_read), os.dup(from_write)
            os.dup2(a, 3)
            os.dup2(b, 4)

        self.process = subprocess.Popen(
            [program, "--headless=new", "--no-sandbox", "--disable-gpu", "--remote-debugging-pipe", "--no-first-run",
             "--disable-dev-shm-usage", "--hide-scrollbars", "--disable-background-networking", "--disable-extensions",
             f"--user-data-dir={self.profile}", f"--window-size={width},{height}", "about:blank"],
            preexec_fn=descriptors, close_fds=False, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(to_read)
        os.close(from_write)
        self.n, self.rest, self.faults, self.session = 0, b"", [], None
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")
        self.size(width, height)

    def size(self, width, height):
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1,
                  mobile=False)

    def message(self):
        while b"\0" not in self.rest:
            got = os.read(self.back, 1 << 16)
            if not got:
                raise SystemExit("browser: it has ended")
            self.rest += got
        text, self.rest = self.rest.split(b"\0", 1)
        return json.loads(text)

    def call(self, method, **params):
        self.n += 1
        message = {"id": self.n, "method": method, "params": params}
        if self.session:
            message["sessionId"] = self.session
        os.write(self.to, json.dumps(message).encode() + b"\0")
        while True:
            answer = self.message()
            if answer.get("id") == self.n:
                if "error" in answer:
                    raise SystemExit(f"browser: {method}: {answer['error']['message']}")
                return answer["result"]
            self.note(answer)

    def note(self, event):
        params = event.get("params", {})
        if event.get("method") == "Runtime.exceptionThrown":
            details = params["exceptionDetails"]
            self.faults.append(details.get("exception", {}).get("description", details["text"]))
        elif event.get("method") == "Runtime.consoleAPICalled" and params["type"] in ("error", "warning", "assert"):
            self.faults.append(" ".join(str(a.get("value", a.get("description"))) for a in params["args"]))
        elif event.get("method") == "Log.entryAdded" and params["entry"]["level"] in ("error", "warning"):
            self.faults.append(f"{params['entry']['text']} {params['entry'].get('url', '')}")

    def value(self, expression):
        answer = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in answer:
            raise SystemExit(f"browser: {expression}: {answer['exceptionDetails'].get('exception', {}).get('description')}")
        return answer["result"].get("value")

    def until(self, expression):
        end = time.monotonic() + PATIENCE_S
        while not self.value(f"!!({expression})"):
            if time.monotonic() > end:
                print("the page says:", self.value("document.body.innerText"))
                raise SystemExit(f"browser: not within time: {expression}")
            time.sleep(0.05)

    def step(self, step):
        verb, _, rest = step.partition("=")
        if verb == "open":
            self.call("Page.navigate", url=rest)
        elif verb == "until":
            self.until(rest)
        elif verb == "do":
            self.value(rest)
        elif verb == "print":
            value = self.value(rest)
            print(value if isinstance(value, str) else json.dumps(value))
        elif verb in ("shot", "shot-all"):
            picture = self.call("Page.captureScreenshot", format="png", captureBeyondViewport=verb == "shot-all")
            with open(rest, "wb") as f:
                f.write(base64.b64decode(picture["data"]))
        elif verb == "key":
            code = {"Tab": 9, "Enter": 13, "Escape": 27, " ": 32}.get(rest, 0)
            text = {"Enter": "\r"}.get(rest, rest if len(rest) == 1 else "")
            self.call("Input.dispatchKeyEvent", type="keyDown", key=rest, code=rest, windowsVirtualKeyCode=code, text=text)
            self.call("Input.dispatchKeyEvent", type="keyUp", key=rest, code=rest, windowsVirtualKeyCode=code)
        elif verb == "size":
            width, height = rest.split("x")
            self.size(int(width), int(height))
        elif verb == "insecure":
            self.call("Security.setIgnoreCertificateErrors", ignore=True)
        elif verb == "touch":
            with open(rest, "w"):
                pass
        elif verb == "media":
            self.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": rest}])
        elif verb == "forgive":
            self.faults = [f for f in self.faults if rest not in f]
        else:
            raise SystemExit(f"browser: no step {verb}")

    def close(self):
        self.process.kill()
        self.process.wait()
        shutil.rmtree(self.profile, ignore_errors=True)


def main():
    program = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if not program:
        print("there is no Chromium")
        return 77
    browser = Browser(program, 1280, 900)
    try:
        for step in sys.argv[1:]:
            browser.step(step)
        browser.value("0")  # what the console has had by now has been read
    finally:
        browser.close()
    for fault in browser.faults:
        print("console:", fault)
    return 1 if browser.faults else 0


if __name__ == "__main__":
    sys.exit(main())
