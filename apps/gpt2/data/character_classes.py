#!/usr/bin/env python3
"""Makes CharacterClasses.inc: which code points are letters, numbers and white
space. Source: the general categories of the Unicode Character Database, from
Python's unicodedata or, in another version, the package unicodedata2.

  character_classes.py           writes the file
  character_classes.py --check   says whether it is current; 77 where Python has
                                 another version of Unicode

The version is the one of Hugging Face's tokenizers 0.22 and 0.23: both must cut
text at the same places."""
import pathlib
import sys

VERSION = "16.0.0"
SPACES = {9, 10, 11, 12, 13, 0x85}  # White_Space outside the categories Z*
HEAD = f"""\
// Made by character_classes.py from Unicode {VERSION}: the first code point of each
// run of one class. L: letters, N: numbers, S: white space, O: all else.
"""


def database():
    for name in ("unicodedata", "unicodedata2"):
        try:
            module = __import__(name)
        except ImportError:
            continue
        if module.unidata_version == VERSION:
            return module
    return None


def class_of(data, code):
    category = data.category(chr(code))
    if category[0] == "Z" or code in SPACES:
        return "S"
    return category[0] if category[0] in "LN" else "O"


def table(data):
    runs, before = [], None
    for code in range(0x110000):
        now = class_of(data, code)
        if now != before:
            runs.append(f"{{0x{code:X}, {now}}},")
            before = now
    lines = [" ".join(runs[i:i + 6]) for i in range(0, len(runs), 6)]
    return HEAD + "\n".join(lines) + "\n"


def main():
    data = database()
    if data is None:
        print(f"skipped: this Python has no Unicode {VERSION} (unicodedata2=={VERSION} has)")
        return 77
    path = pathlib.Path(__file__).with_name("CharacterClasses.inc")
    if "--check" in sys.argv:
        isCurrent = path.read_text() == table(data)
        print(f"{path.name} is {'current' if isCurrent else 'not what character_classes.py makes of Unicode ' + VERSION}")
        return 0 if isCurrent else 1
    path.write_text(table(data))
    return 0


if __name__ == "__main__":
    sys.exit(main())
