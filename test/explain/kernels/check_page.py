#!/usr/bin/env python3
"""The page of `nereid explain --html` in headless Chromium, without network: its source and hints are there, dark and light."""

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from cases import CASES

chromium = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome", "chrome"))), None)
if not chromium:
    print("skipped: no Chromium")
    sys.exit(77)

case = next(case for case in CASES if case.kernel == "strided")
with tempfile.TemporaryDirectory() as folder:
    page = Path(folder) / "page.html"
    subprocess.run(case.command(sys.argv[1], "explain") + ["--html", page], check=True, capture_output=True)
    base = [chromium, "--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={folder}/profile",
            "--host-resolver-rules=MAP * ~NOTFOUND", "--enable-logging=stderr"]
    seen = subprocess.run([*base, "--dump-dom", page.as_uri()], capture_output=True, text=True, timeout=60)
    wanted = ["<h1>strided</h1>", 'class="source"', "x = tl.load(x_ptr + i * C + c", '<tr class="note hint">',
              "neighbouring threads are not neighbours in memory", "32 (4)"]
    missing = [text for text in wanted if text not in seen.stdout]
    said = [line for line in seen.stderr.splitlines() if "CONSOLE" in line]
    if missing or said:
        sys.exit("\n".join([f"the page has no {text!r}" for text in missing] + said))
    print("the page is whole")
