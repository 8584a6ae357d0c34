#!/usr/bin/env python3
"""Writes UnicodeTables.inc and CharacterNames.inc beside this script.

Run it with the Python whose language is parsed (3.11, Unicode 14):

    python3.11 nereid/Syntax/Lex/generate_unicode_tables.py NameAliases.txt

NameAliases.txt is the Unicode Character Database's (CODE;ALIAS;TYPE lines);
Python's own unicodedata knows the aliases but cannot list them.
"""
import collections
import os
import sys
import unicodedata

HERE = os.path.dirname(os.path.abspath(__file__))
EVERY = range(0x110000)
SURROGATES = range(0xD800, 0xE000)
HANGUL = range(0xAC00, 0xD7A4)
HEAD = """\
// Made by generate_unicode_tables.py from Unicode {version}; do not edit.
// clang-format off
"""


def write(name, body):
    with open(os.path.join(HERE, name), "w", encoding="ascii") as out:
        out.write(HEAD.format(version=unicodedata.unidata_version))
        out.write(body)


def numbers(values):
    lines, line = [], ""
    for value in values:
        text = f"{value},"
        if len(line) + len(text) > 110:
            lines.append(line)
            line = ""
        line += text
    return "\n".join(lines + [line])


def table(kind, name, values):
    return f"static constexpr {kind} {name}[] = {{\n{numbers(values)}\n}};\n"


def ranges(predicate):
    """Boundaries: the set holds [b0, b1), [b2, b3), ..."""
    out, inside = [], False
    for c in EVERY:
        if predicate(chr(c)) != inside:
            out.append(c)
            inside = not inside
    return out + ([0x110000] if inside else [])


def unicode_tables():
    continues = [c for c in EVERY if ("a" + chr(c)).isidentifier()]
    body = table("uint32_t", "xidStart", ranges(lambda c: c.isidentifier() and c != "_"))
    body += table("uint32_t", "xidContinue", ranges(lambda c: ("a" + c).isidentifier()))
    body += table("uint32_t", "printable", ranges(str.isprintable))

    # NFKD of each identifier character, Hangul left to arithmetic.
    keys, offsets, pool = [], [], []
    known = {}
    closure = set(continues)
    for c in continues:
        if c in HANGUL:
            continue
        full = unicodedata.normalize("NFKD", chr(c))
        closure.update(map(ord, full))
        if full == chr(c):
            continue
        if full not in known:
            known[full] = len(pool)
            pool += [len(full)] + [ord(x) for x in full]
        keys.append(c)
        offsets.append(known[full])
    body += table("uint32_t", "decomposed", keys)
    body += table("uint16_t", "decompositionAt", offsets)
    body += table("uint32_t", "decompositions", pool)

    # Canonical combining classes: first, last, class.
    runs = []
    for c in sorted(closure):
        order = unicodedata.combining(chr(c))
        if not order:
            continue
        if runs and runs[-1][1] == c - 1 and runs[-1][2] == order:
            runs[-1][1] = c
        else:
            runs.append([c, c, order])
    body += table("uint32_t", "combiningClasses", [x for run in runs for x in run])

    # Canonical compositions: first, second, composite.
    pairs = []
    for c in continues:
        parts = unicodedata.decomposition(chr(c))
        if not parts or parts.startswith("<") or " " not in parts:
            continue
        first, second = (int(x, 16) for x in parts.split())
        if unicodedata.normalize("NFC", chr(first) + chr(second)) == chr(c):
            pairs.append((first, second, c))
    body += table("uint32_t", "compositions", [x for pair in sorted(pairs) for x in pair])
    write("UnicodeTables.inc", body)


ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
SHORT = 48  # so many words take one letter, the others three


def encode(index):
    if index < SHORT:
        return ALPHABET[index]
    index -= SHORT
    return ALPHABET[SHORT + index // 4096] + ALPHABET[index // 64 % 64] + ALPHABET[index % 64]


def text(name, value):
    """A string literal in pieces of a line each."""
    pieces = [value[i : i + 110] for i in range(0, len(value), 110)]
    return f"static constexpr char {name}[] =\n" + "\n".join(f'"{p}"' for p in pieces) + ";\n"


def names(aliases):
    named = []
    ideographs = []
    for c in EVERY:
        name = unicodedata.name(chr(c), None)
        if name is None or name.startswith("HANGUL SYLLABLE "):
            continue
        if name.startswith("CJK UNIFIED IDEOGRAPH-"):
            ideographs.append(c)
        else:
            named.append((c, name))
    for line in aliases:
        fields = line.split("#")[0].strip().split(";")
        if len(fields) >= 2:
            c, alias = int(fields[0], 16), fields[1].split(":")[0].strip()
            assert unicodedata.lookup(alias) == chr(c), alias
            named.append((c, alias))

    count = collections.Counter(word for _, name in named for word in name.split(" "))
    words = [word for word, _ in sorted(count.items(), key=lambda item: (-item[1], item[0]))]
    index = {word: i for i, word in enumerate(words)}
    runs = []
    for c, _ in named:
        if runs and runs[-1][0] + runs[-1][1] == c:
            runs[-1][1] += 1
        else:
            runs.append([c, 1])
    body = "// Words of names, most frequent first, each followed by a space.\n"
    body += text("nameWords", " " + " ".join(words) + " ")
    body += "// Names as word numbers (see encodeWord), each followed by a space.\n"
    encoded = ("".join(encode(index[w]) for w in name.split(" ")) for _, name in named)
    body += text("names", " " + " ".join(encoded) + " ")
    body += "// Whose names these are: first code point, count.\n"
    body += table("uint32_t", "nameRuns", [x for run in runs for x in run])
    inside = set(ideographs)
    body += table("uint32_t", "ideographs", ranges(lambda c: ord(c) in inside))
    write("CharacterNames.inc", body)


def main():
    assert sys.version_info[:2] == (3, 11), "the tables are those of Python 3.11"
    unicode_tables()
    with open(sys.argv[1], encoding="utf-8") as aliases:
        names(aliases)


main()
