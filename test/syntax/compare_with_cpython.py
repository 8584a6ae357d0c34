#!/usr/bin/env python3
"""Compares nereid-syntax with CPython 3.11's own `ast`, file by file.

    compare_with_cpython.py --tool build/bin/nereid-syntax

Every .py file of the standard library and its tests that CPython parses must
give the same tree, node for node and position for position; every file that it
rejects must be rejected, on the same line. More in the same way:

    --snippets     the programs that tests of the language hold in strings
    --unicode      all character names in "\\N{...}", identifiers that NFKC changes
    --mutations N  N randomly damaged pieces of the files
    --every N      of files, programs, names and identifiers every N-th

Exit status: 0 equal, 1 different, 77 no Python 3.11 to compare with (skipped).
"""
import argparse
import ast
import doctest
import glob
import multiprocessing
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
import textwrap
import unicodedata
import warnings
import zlib

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import dump_cpython_ast

SKIP = 77
ANY_LINE = "?"  # CPython names no line


def reference(source):
    """What CPython makes of the bytes of a file."""
    sys.setrecursionlimit(20000)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(source)
    except SyntaxError as error:
        return f"error {error.lineno or ANY_LINE}", str(error.msg)
    except (ValueError, RecursionError, MemoryError) as error:
        return f"error {ANY_LINE}", str(error)
    if twice := doubled_parameter(tree):
        return f"error {ANY_LINE}", twice
    text = dump_cpython_ast.dump(tree)
    return f"ok {zlib.crc32(text)} {len(text)}", ""


def doubled_parameter(tree):
    """CPython's message, which comes from its compiler and names the function's line."""
    for node in ast.walk(tree):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)):
            a = node.args
            names = [x.arg for x in [*a.posonlyargs, *a.args, a.vararg, *a.kwonlyargs, a.kwarg] if x]
            if len(names) != len(set(names)):
                alone = ast.Module([ast.Expr(ast.Lambda(a, ast.Constant(0)))], [])
                try:
                    compile(ast.fix_missing_locations(alone), "", "exec")
                except SyntaxError as error:
                    return str(error.msg)
    return ""


def reference_of_file(path):
    with open(path, "rb") as file:
        return reference(file.read())


def results_of_tool(tool, paths):
    done = subprocess.run(
        [tool, "--batch"], input="\n".join(paths) + "\n", capture_output=True, text=True, errors="replace"
    )
    lines = done.stdout.splitlines()
    if done.returncode != 0 or len(lines) != len(paths):
        culprit = paths[len(lines)] if len(lines) < len(paths) else "?"
        sys.exit(f"{tool} stopped with {done.returncode} at {culprit}\n{done.stderr[-2000:]}")
    return lines


def agree(expected, got):
    if expected.startswith("ok"):
        return got == expected
    line = expected.split()[1]
    return got.startswith("error ") and line in (ANY_LINE, got.split()[1])


def library_files(library):
    found = glob.glob(os.path.join(library, "**", "*.py"), recursive=True)
    return sorted(path for path in found if "site-packages" not in path and "dist-packages" not in path)


# A rough tokenizer is enough to damage a program in interesting places.
TOKEN = re.compile(
    r"\"\"\"(?:[^\\]|\\.)*?\"\"\"|'''(?:[^\\]|\\.)*?'''|[rbfuRBFU]{0,2}\"(?:[^\"\\\n]|\\.)*\"|"
    r"[rbfuRBFU]{0,2}'(?:[^'\\\n]|\\.)*'|#[^\n]*|\w+|\n[ \t]*|[ \t]+|[-+*/<>=!:%&|^@]+|.",
    re.DOTALL,
)
WORDS = (
    "if else elif for while def class return yield lambda in is not and or from import as with try except "
    "finally raise pass None True print async await match case _ x 1 1.5 0x 'a' f'{x}' b'a' ( ) [ ] { } , : ; . "
    "= == := -> ** * + - ~ @ % & | ^ << >> < > != <> ... \\ \n $ ? ! ` \" ' \"\"\" += //= # \t"
).split(" ") + [" ", "\n    ", "\n  "]


def mutate(text, generator):
    """A piece of a file, damaged in one to three places."""
    lines = text.split("\n")
    start = generator.randrange(len(lines))
    while start > 0 and (not lines[start] or lines[start][0] in " \t)]}#"):
        start -= 1
    length = generator.choice((5, 15, 40, 120))
    piece = "\n".join(lines[start : start + length]) + "\n"
    tokens = TOKEN.findall(piece)
    for _ in range(generator.choice((1, 1, 1, 2, 3))):
        if not tokens:
            break
        at = generator.randrange(len(tokens))
        kind = generator.randrange(8)
        if kind == 0:
            del tokens[at]
        elif kind == 1:
            tokens.insert(at, tokens[at])
        elif kind == 2:
            other = generator.randrange(len(tokens))
            tokens[at], tokens[other] = tokens[other], tokens[at]
        elif kind == 3:
            tokens[at] = generator.choice(WORDS)
        elif kind == 4:
            tokens.insert(at, generator.choice(WORDS))
        elif kind == 5 and tokens[at]:
            token = tokens[at]
            cut = generator.randrange(len(token))
            tokens[at] = token[:cut] + token[cut + 1 :]
        elif kind == 6:
            tokens.insert(at, generator.choice(tokens))
        else:
            del tokens[at : at + generator.randrange(1, 6)]
    return "".join(tokens)


def compare(tool, paths, names, expected, verbose):
    """Prints what differs; returns how many files."""
    got = results_of_tool(tool, paths)
    different = 0
    for path, name, (want, message), have in zip(paths, names, expected, got):
        if agree(want, have):
            continue
        different += 1
        if different <= verbose:
            print(f"{name}\n  CPython: {want} {message}\n  nereid:  {have}")
            if want.startswith("ok") and have.startswith("ok"):
                show_first_difference(tool, path)
    return different


def show_first_difference(tool, path):
    with open(path, "rb") as file:
        want = dump_cpython_ast.dump(ast.parse(file.read())).split(b"\n")
    have = subprocess.run([tool, path], capture_output=True).stdout.split(b"\n")
    for number, (left, right) in enumerate(zip(want, have), 1):
        if left != right:
            print(f"  tree line {number}:\n    CPython: {left.decode(errors='replace')}")
            print(f"    nereid:  {right.decode(errors='replace')}")
            return


def compare_library(options, pool):
    paths = options.files or library_files(options.library)[::options.every]
    expected = pool.map(reference_of_file, paths, chunksize=8)
    different = compare(options.tool, paths, paths, expected, options.verbose)
    rejected = sum(result.startswith("error") for result, _ in expected)
    print(
        f"{len(paths)} files: {len(paths) - rejected} that CPython accepts, {rejected} that it rejects; "
        f"{different} differ"
    )
    return different, [path for path, (result, _) in zip(paths, expected) if result.startswith("ok")]


def unicode_pieces(every):
    """Programs with character names, and with identifiers to normalize."""
    characters = [chr(c) for c in range(0x110000)]
    named = [name for name in (unicodedata.name(c, None) for c in characters) if name]
    computed = ("CJK UNIFIED", "HANGUL SYLLABLE")  # by rule, so some of them will do
    named = [name for i, name in enumerate(named) if not name.startswith(computed) or i % 50 == 0][::every]
    unnamed = ["NO SUCH NAME", "HANGUL SYLLABLE GAX", "CJK UNIFIED IDEOGRAPH-0041", "LATIN", "", " ", "BEL "]
    for begin in range(0, len(named), 4000):
        yield "".join(f'"\\N{{{name}}}"\n' for name in named[begin : begin + 4000])
    for name in [named[i].lower() for i in range(0, len(named), 3001)] + unnamed:
        yield f'"\\N{{{name}}}"\n'
    generator = random.Random(0)
    start = [c for c in characters[128:] if c.isidentifier()]
    rest = [c for c in characters[128:] if ("a" + c).isidentifier()][::every]
    moving = [c for c in rest if unicodedata.combining(c) or unicodedata.normalize("NFKC", c) != c]
    for begin in range(0, len(rest), 20000):
        yield "".join(f"a{c}\n" for c in rest[begin : begin + 20000])
    lines = []
    for _ in range(60000 // every):
        pool = generator.choice((rest, moving, moving))
        lines.append(generator.choice(start) + "".join(generator.choices(pool, k=generator.randrange(6))) + "\n")
    yield "".join(lines)
    for c in generator.sample(characters[128:0xD800], 300 // every):
        yield f"\nx = a{c}b\n"


# Tests of the language hold programs, right and wrong, in strings and doctests.
SNIPPETS = (
    "test_syntax test_exceptions test_grammar test_fstring test_positional_only_arg test_named_expressions "
    "test_patma test_eof test_string_literals test_unicode_identifiers test_generators test_genexps test_listcomps "
    "test_setcomps test_dictcomps test_except_star test_unpack_ex test_keywordonlyarg test_decorators test_coroutines "
    "test_asyncgen test_type_comments test_pep646_syntax test_compile test_ast test_parser test_tokenize test_future "
    "test_flufl test_cmd_line_script test_source_encoding test_exception_group test_int_literal test_global "
    "test_support test_peg_generator test_codeop test_unparse test_metaclass test_unpack test_with test_augassign"
).split()


# Encodings that nereid does not read (docs/Syntax.md).
OTHER_ENCODING = re.compile(rb"coding[:=]\s*(cp437|cp1251|cp949|cp932|iso8859-7)")


def snippets(library):
    found = {}
    for name in SNIPPETS:
        paths = glob.glob(os.path.join(library, "test", "**", name + ".py"), recursive=True)
        for path in paths:
            with open(path, "rb") as file:
                tree = ast.parse(file.read())
            for node in ast.walk(tree):
                if isinstance(node, ast.Constant) and isinstance(node.value, (str, bytes)) and node.value:
                    text = node.value if isinstance(node.value, bytes) else node.value.encode("utf-8", "replace")
                    if OTHER_ENCODING.search(text):
                        continue
                    found.setdefault(text, f"a string in {path}, line {node.lineno}")
                    found.setdefault(textwrap.dedent(text.decode("utf-8", "replace")).encode(), f"{path} {node.lineno}")
                    if b">>>" in text:
                        for example in doctest.DocTestParser().get_examples(text.decode()):
                            where = f"a doctest in {path}, line {node.lineno + example.lineno}"
                            found.setdefault(example.source.encode(), where)
    return found


def long_chains():
    """Right and wrong ones, nearly as long as CPython takes them."""
    for count in (100, 2900):
        chain = "if a:\n    b\n" + "".join(f"elif a == {i}:\n    b = {i}\n" for i in range(count))
        for end in ("", "else:\n    c\n", "elif d:\n    if e: f\n    else: g\nh\n", "else\n    c\n", "elif d\n    c\n"):
            yield f"{count} elif and {end!r}", (chain + end).encode()


def compare_snippets(options, pool):
    found = snippets(options.library)
    found = dict(list(found.items())[::options.every])
    found.update((text, name) for name, text in long_chains())
    different = compare_pieces(options, pool, list(found), list(found.values()))
    print(f"{len(found)} programs in the strings of tests: {different} differ")
    return different


def compare_unicode(options, pool):
    pieces = [piece.encode() for piece in unicode_pieces(options.every)]
    names = [f"Unicode piece {number}: {piece[:60]!r}" for number, piece in enumerate(pieces)]
    different = compare_pieces(options, pool, pieces, names)
    print(f"{len(pieces)} programs of Unicode names and identifiers: {different} differ")
    return different


def compare_pieces(options, pool, pieces, names):
    expected = pool.map(reference, pieces, chunksize=max(1, min(50, len(pieces) // 8)))
    with tempfile.TemporaryDirectory() as folder:
        files = []
        for number, piece in enumerate(pieces):
            files.append(os.path.join(folder, f"{number}.py"))
            with open(files[-1], "wb") as file:
                file.write(piece)
        if options.keep:
            shutil.copytree(folder, options.keep, dirs_exist_ok=True)
        return compare(options.tool, files, names, expected, options.verbose)


def compare_mutations(options, pool, paths):
    names, pieces = [], []
    for number in range(options.mutations):
        generator = random.Random(f"{options.seed} {number}")
        path = generator.choice(paths)
        with open(path, encoding="utf-8", errors="replace") as file:
            pieces.append(mutate(file.read(), generator).encode("utf-8", "replace"))
        names.append(f"mutation {number} of seed {options.seed}, from {path}")
    different = compare_pieces(options, pool, pieces, names)
    print(f"{len(pieces)} mutations of seed {options.seed}: {different} differ")
    return different


def find_python():
    if sys.version_info[:2] == (3, 11):
        return sys.executable
    return shutil.which("python3.11")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tool", default="nereid-syntax", help="the nereid-syntax program")
    parser.add_argument("--python", default=find_python(), help="a Python 3.11")
    parser.add_argument("--library", help="the folder of .py files; default: that Python's standard library")
    parser.add_argument("--mutations", type=int, default=0, help="how many damaged pieces to compare")
    parser.add_argument("--tolerate", type=int, default=0, help="mutations that may differ, of a thousand")
    parser.add_argument("--snippets", action="store_true", help="compare the programs in the tests' strings")
    parser.add_argument("--unicode", action="store_true", help="compare Unicode names and identifiers")
    parser.add_argument("--every", type=int, default=1, help="compare every N-th only")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--keep", help="a folder for the mutations")
    parser.add_argument("--verbose", type=int, default=20, help="how many differences to print")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("files", nargs="*", help="compare these files only")
    options = parser.parse_args()
    if not options.python:
        print("skipped: no Python 3.11 found to compare with")
        return SKIP
    if sys.version_info[:2] != (3, 11):
        arguments = [options.python, os.path.abspath(__file__), *sys.argv[1:]]
        return subprocess.run(arguments).returncode
    if not options.library:
        options.library = os.path.dirname(os.__file__)
    with multiprocessing.Pool(options.jobs) as pool:
        different, accepted = compare_library(options, pool)
        failed = different > 0
        if options.snippets:
            failed |= compare_snippets(options, pool) > 0
        if options.unicode:
            failed |= compare_unicode(options, pool) > 0
        if options.mutations and accepted:
            different = compare_mutations(options, pool, accepted)
            failed |= different * 1000 > options.tolerate * options.mutations
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
