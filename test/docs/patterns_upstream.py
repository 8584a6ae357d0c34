#!/usr/bin/env python3
"""Upstream's compiler takes every kernel of docs/guide/CommonPatterns.md, too: for sm_90, with the arguments of the commands there.

Exits with 77 where there is no Triton."""
import importlib.util
import pathlib
import re
import shlex
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
TYPES = {"f32": "*fp32", "f16": "*fp16", "i32": "*i32"}


def launches():
    """(file, kernel, arguments by name) of each command."""
    text = (ROOT / "docs/guide/CommonPatterns.md").read_text().replace("\\\n", " ")
    for line in re.findall(r"^nereid run (.+)$", text, flags=re.M):
        kernel, *words = shlex.split(line)
        words = words[:words.index("--grid")]
        yield (*kernel.split(":"), dict(word.split("=", 1) for word in words))


def load(path):
    spec = importlib.util.spec_from_file_location(pathlib.Path(path).stem, ROOT / path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # helpers are found by their module
    spec.loader.exec_module(module)
    return module


def main():
    try:
        import triton
        from triton.backends.compiler import GPUTarget
        from triton.compiler import ASTSource
    except ImportError as error:
        print(f"skipped: {error}")
        sys.exit(77)
    sys.dont_write_bytecode = True
    count = 0
    for path, kernel, arguments in launches():
        function = getattr(load(path), kernel)
        signature, constants = {}, {}
        for index, parameter in enumerate(function.params):
            text = arguments[parameter.name]
            array = re.search(r"(\w+)\[", text)
            if parameter.is_constexpr:
                signature[parameter.name] = "constexpr"
                # Upstream's blocks are powers of two.
                constants[(index,)] = 1 << (int(text) - 1).bit_length()
            else:
                signature[parameter.name] = TYPES[array[1]] if array else "fp32" if "." in text else "i32"
        with tempfile.TemporaryDirectory() as cache:
            triton.knobs.cache.dir = cache
            triton.compile(ASTSource(function, signature, constants), target=GPUTarget("cuda", 90, 32))
        count += 1
    if count < 20:
        sys.exit(f"expected the commands of CommonPatterns.md, got {count}")
    print(f"{count} kernels compiled by Triton {triton.__version__}")


main()
