#!/usr/bin/env python3
"""The words and numbers of `nereid explain`'s text and page: counts as digits, a least number beside those that waste
something, each column's meaning, operations in the text.

    test/explain/kernels/check_words.py build/bin/nereid
"""

import re
import subprocess
import sys
import tempfile
from pathlib import Path

from cases import CASES


def cells(page):
    return re.findall(r"<t[dh][^>]*>(.*?)</t[dh]>", page, re.DOTALL)


def main():
    wrong = []

    def expect(holds, what):
        if not holds:
            wrong.append(what)

    for name, column in (("transposed", "sectors a request"), ("conflicts", "passes"), ("conflicts_fixed", None)):
        case = next(case for case in CASES if case.kernel == name)
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "page.html"
            text = subprocess.run(case.command(sys.argv[1], "explain") + ["--programs", "16", "--html", file], check=True,
                                  capture_output=True, text=True).stdout
            page = file.read_text()
        shown = cells(page)
        powers = [cell for cell in shown if re.search(r"\d(\.\d+)?e[+-]?\d", cell.split("</summary>")[0]) and "tl." not in cell]
        expect(not powers, f"{name}: expected counts without powers of ten, got {powers[:3]}")
        headings = re.findall(r'<th title="([^"]*)">([^<]*)</th>', page)
        for heading, meaning in (("asked for", "bytes of all requests"), ("sectors a request (would do)", "in brackets"),
                                 ("passes (would do)", "shared memory")):
            expect(any(heading == shown and meaning in title for title, shown in headings), f"{name}: no words for {heading!r}: {headings}")
        if column:
            place = [index for index, heading in enumerate(re.findall(r"<th[^>]*>([^<]*)</th>", page)) if column in heading][0]
            rows = [cells(row) for row in re.findall(r"<tr>(.*?)</tr>", page, re.DOTALL)]
            expect(any(len(row) > place and re.fullmatch(r"[\d.]+ ?[kMG]? \([\d.]+ ?[kMG]?\)", row[place]) for row in rows),
                   f"{name}: expected a least number in brackets below {column!r}")
        expect(re.search(r"^  operations +[\d.]+ [kMGT]?", text, re.MULTILINE), f"{name}: no operations in the text:\n{text}")
    if wrong:
        sys.exit("\n".join(wrong))
    print("counts are digits, and columns say what they are")


if __name__ == "__main__":
    main()
