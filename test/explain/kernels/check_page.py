#!/usr/bin/env python3
"""The page of `nereid explain --html` in headless Chromium, without network: its source and hints are there, dark and light."""

import subprocess
import sys
import tempfile
from pathlib import Path

from cases import CASES

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "harness"))
import browser  # noqa: E402

chromium = browser.find()
if not chromium:
    print("skipped: no Chromium")
    sys.exit(77)

case = next(case for case in CASES if case.kernel == "strided")
with tempfile.TemporaryDirectory() as folder:
    page = Path(folder) / "page.html"
    subprocess.run(case.command(sys.argv[1], "explain") + ["--html", page], check=True, capture_output=True)
    shown, said = browser.open_page(chromium, folder, page)
    wanted = ["<h1>strided</h1>", 'class="source"', "x = tl.load(x_ptr + i * C + c", '<tr class="note hint">',
              "neighbouring threads are not neighbours in memory", "32 (4)"]
    missing = [text for text in wanted if text not in shown]
    if missing or said:
        sys.exit("\n".join([f"the page has no {text!r}" for text in missing] + said))
    print("the page is whole")
