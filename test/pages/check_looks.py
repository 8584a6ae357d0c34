#!/usr/bin/env python3
"""Pages of `nereid explain` and `nereid bench`: on paper, on a telephone and on a wide screen, light and dark (harness/looks.py).

    test/pages/check_looks.py build/bin/nereid [--pictures FOLDER]

First pages that are wrong on purpose: each fault is found. Exits with 77 where there is no Chromium.
"""

import argparse
import subprocess
import sys
import tempfile
from pathlib import Path

TESTS = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(TESTS / "harness"), str(TESTS / "explain" / "kernels")]
import browser  # noqa: E402
import looks  # noqa: E402
from cases import CASES  # noqa: E402

KERNELS = '''
import triton
import triton.language as tl


@triton.jit
def a_kernel_with_quite_a_long_name_as_generated_code_has_them(x_ptr, y_ptr, n, BLOCK: tl.constexpr = 128):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    # A line that is longer than any screen is wide: ''' + "and so on, " * 30 + '''
    tl.store(y_ptr + i, tl.exp(tl.load(x_ptr + i, mask=i < n)) + tl.load(x_ptr + i + 1, mask=i + 1 < n, other=0.0), mask=i < n)


@triton.jit
def fails(x_ptr, y_ptr, n, BLOCK: tl.constexpr = 128):
    i = tl.arange(0, BLOCK)
    tl.static_assert(BLOCK < 200, "a message that explains at some length why blocks of this size are of no use here")
    tl.store(y_ptr + i, tl.load(x_ptr + i, mask=i < n), mask=i < n)
'''

# What each of them lacks, and words of the fault.
WRONG = {
    "wide": ("<div style='width:2000px'>wide</div>", "the page is"),
    "cut": ("<div style='width:5em;overflow:hidden;white-space:nowrap'>text that is cut off at the side</div>", "cut off at the side"),
    "low": ("<div style='height:1em;overflow:hidden'>a<br>b<br>c</div>", "cut off above or below"),
    "cell": ("<table style='table-layout:fixed;width:100px'><td style='white-space:nowrap'>text that leaves its cell<td>x</table>", "leaves its cell"),
    "pale": ("<p style='color:#999'>pale</p>", "contrast 2.85"),
    "gradient": ("<p style='background:linear-gradient(#333,#fff)'>dark on dark</p>", "contrast"),
    "small": ("<p style='font-size:6px'>small</p>", "text of 6.0 pixels"),
    "outside": ("<svg viewBox='0 0 200 100' width=200><circle cx=199 cy=50 r=20 /></svg>", "leaves its chart"),
    "stacked": ("<svg viewBox='0 0 200 100' width=200><text x=9 y=50>10000</text><text x=19 y=50>20000</text></svg>", "lie on one another"),
    "scrolled": ("<div style='width:5em;overflow:auto;white-space:nowrap'>text that scrolls on a screen</div>", "printed, light: text is cut off"),
}


def check_script(chromium, folder):
    """Faults are found; a page without is without."""
    head = "<!doctype html><meta name=viewport content='width=device-width'><body style='background:#fff;color:#000'>"
    missing = []
    for name, (body, words) in WRONG.items():
        page = folder / f"{name}.html"
        page.write_text(head + body)
        found = chromium.faults(page)
        if not any(words in fault for fault in found):
            missing.append(f"{name}: expected '{words}', got {found}")
        if name == "scrolled" and any("pixels" in fault for fault in found):
            missing.append(f"{name}: what scrolls can be read on a screen, got {found}")
    page = folder / "right.html"
    page.write_text(head + "<h1>Right</h1><table><td>cell<td>12 %</table><svg viewBox='0 0 200 100' width=200><text x=9 y=50>1</text></svg>")
    return missing + chromium.faults(page)


def pages(nereid, folder):
    """(name, file) of the pages that are looked at."""
    (folder / "k.py").write_text(KERNELS)
    # The programs run in the folder, whose own path may have blanks.
    kernel = "k.py:a_kernel_with_quite_a_long_name_as_generated_code_has_them"

    def make(name, *words, status=0):
        page = folder / f"{name}.html"
        run = subprocess.run([nereid, *words, "--html", str(page)], capture_output=True, text=True, cwd=folder)
        assert run.returncode == status, (words, run.returncode, run.stderr)
        return name, page

    launch = ["x_ptr=randn:f32[1000]", "y_ptr=empty:f32[1000]", "n=1000"]
    yield make("explain", "explain", kernel, *launch, "--grid", "8", "--against",
               f"{kernel} BLOCK=64 --grid 16")
    for kind in ("strided", "conflicts", "ieee"):
        case = next(case for case in CASES if case.kernel == kind)
        yield make(f"explain-{kind}", *case.command(nereid, "explain")[1:], "--programs", "8")
    bench = ["bench", kernel, "x_ptr=randn:f32[n + 1]", "y_ptr=empty:f32[n]", "n=n", "--grid", "cdiv(n, BLOCK)", "--seconds", "0",
             "--roofline", "none"]
    yield make("bench-many", *bench, "--vary", "n=100..2000+100", "--vary", "BLOCK=" + ",".join(str(2 ** i) for i in range(4, 13)))
    yield make("bench-rivals", *bench, "--vary", "n=256..16384*2", "--vary", "BLOCK=64,256", "--against", "eight warps, and a label of many words "
               f"that says what is different here={kernel} num_warps=8", "--against", "k.py:fails", "--against", "interp", status=1)
    yield make("bench-one", *bench, "--vary", "n=1000")
    yield make("bench-failing", *[word.replace(kernel, "k.py:fails") for word in bench], "--vary", "n=100", "--vary", "BLOCK=64,256", status=1)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("nereid")
    parser.add_argument("--pictures", help="a folder for pictures of all of them")
    options = parser.parse_args()
    program = browser.find()
    if not program:
        print("skipped: no Chromium (apt-get install chromium)")
        sys.exit(77)
    with tempfile.TemporaryDirectory() as name:
        folder, problems = Path(name), []
        with looks.Browser(program, folder) as chromium:
            problems += check_script(chromium, folder)
            count = 0
            for page, path in pages(str(Path(options.nereid).resolve()), folder):
                count += 1
                # Everything that opens is looked at open as well.
                for prepare in ("", "document.querySelectorAll('details').forEach(one => { one.open = true; })"):
                    pictures = options.pictures and f"{options.pictures}/{page}{'-open' if prepare else ''}"
                    problems += [f"{page}: {fault}" for fault in chromium.faults(path, prepare, pictures)]
        problems = list(dict.fromkeys(problems))
        if problems:
            sys.exit("\n".join(problems))
        print(f"{count} pages, each in {len(looks.LOOKS)} looks: nothing is cut off, pale or outside")


if __name__ == "__main__":
    main()
