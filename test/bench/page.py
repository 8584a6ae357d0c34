#!/usr/bin/env python3
"""What `nereid bench` writes, as others read it: CSV, JSON and SVG are well-formed, and the page opens in headless Chromium
without network and without a console error, shows its plots, and zooms by the keyboard.

    test/bench/page.py build/bin/nereid

Exits with 77 where there is no Chromium, after the rest was checked.
"""

import csv
import json
import re
import subprocess
import sys
import tempfile
import xml.etree.ElementTree
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "harness"))
import browser  # noqa: E402

KEYS = """<script>
const plot = document.querySelector('svg'), before = plot.innerHTML;
for (const key of ['+', '+', 'ArrowRight', '-']) plot.dispatchEvent(new KeyboardEvent('keydown', {key}));
const zoomed = plot.innerHTML;
plot.dispatchEvent(new KeyboardEvent('keydown', {key: '0'}));
document.body.dataset.zooms = zoomed !== before && plot.innerHTML === before;
document.querySelector('input').click();
document.body.dataset.hides = plot.querySelectorAll('path.line').length === 1;
document.querySelector('input').click();
const pressed = [...document.querySelectorAll('button')].find(one => one.textContent === 'N logarithmic');
const was = [pressed.getAttribute('aria-pressed'), getComputedStyle(pressed).backgroundColor];
pressed.click();
const is = [pressed.getAttribute('aria-pressed'), getComputedStyle(pressed).backgroundColor];
pressed.click();
document.body.dataset.presses = was[0] !== is[0] && was[1] !== is[1];
</script></body>"""
MISTAKE = "<script>undefinedName();</script></body>"


def bench(nereid, folder):
    files = {kind: folder / f"report.{kind}" for kind in ("csv", "json", "svg", "html")}
    outputs = [word for kind, path in files.items() for word in (f"--{kind}", str(path))]
    subprocess.run([nereid, "bench", "layer_norm", "M=16", "N=256,512,16384", "--seconds", "0.02", "--roofline", "none", *outputs],
                   check=True, stdout=subprocess.DEVNULL)
    return {kind: path.read_text() for kind, path in files.items()}


def open_text(chromium, folder, name, text):
    path = folder / name
    path.write_text(text)
    return browser.open_page(chromium, folder, path)


def check_texts(report):
    rows = list(csv.DictReader(report["csv"].splitlines()))
    kept = json.loads(report["json"])["rows"]
    assert len(rows) == len(kept) == 6, rows
    for text, row in zip(rows, kept):
        assert float(text["time [ms]"]) == row["time [ms]"] > 0
        assert text["N"] == row["point"]["N"] and text["provider"] == row["provider"]
    picture = xml.etree.ElementTree.fromstring(report["svg"])
    name = "{http://www.w3.org/2000/svg}"
    lines = [path for path in picture.iter(f"{name}path") if path.get("class", "").startswith("line")]
    assert len(lines) >= 2 * 2 and len(list(picture.iter(f"{name}circle"))) == 2 * 6, len(lines)
    for element in picture.iter():
        assert not re.search(r"nan|inf", element.get("d", "") + element.get("cx", "")), element.attrib
    assert re.search(r"\.failure \{[^}]*monospace", report["html"]), "a caret below a line stands under what it points at"
    assert re.search(r"\.table \{[^}]*max-height", report["html"]), "a table of many points is no longer than a screen"
    for kind in ("html", "svg"):
        places = re.findall(r"""(?:src|href)\s*=\s*["']?([^"'\s>]+)""", report[kind])
        assert all(place.startswith("data:") for place in places), places


def check_page(chromium, folder, page):
    shown, console = open_text(chromium, folder, "page.html", page.replace("</body>", KEYS))
    assert not console, console
    assert shown.count("<svg") == 2, shown[:2000]
    assert len(re.findall(r'<path class="line"', shown)) == 4, "a line for each provider, in each plot"
    assert len(re.findall(r"<circle", shown)) == 2 * 6
    assert 'data-zooms="true"' in shown and 'data-hides="true"' in shown, "the keyboard zooms, the legend hides"
    assert 'data-presses="true"' in shown and ">reset zoom</button>" in shown, "buttons say what they do, and whether they are pressed"
    assert ">16384</text>" in shown and "NaN" not in shown
    _, console = open_text(chromium, folder, "wrong.html", page.replace("</body>", MISTAKE))
    assert any("undefinedName" in line for line in console), "errors are seen where there are some"


def main():
    chromium = browser.find()
    with tempfile.TemporaryDirectory() as name:
        report = bench(sys.argv[1], Path(name))
        check_texts(report)
        if not chromium:
            print("skipped: the page, since there is no Chromium (apt-get install chromium)")
            sys.exit(77)
        check_page(chromium, Path(name), report["html"])
    print("the table, the picture and the page are as they should be")


if __name__ == "__main__":
    main()
