#!/usr/bin/env python3
"""Result types of expressions by upstream's front end: upstream_types_3.9.txt and its like.

    upstream_table.py --write        # the table of the installed version, a minute
    upstream_table.py --check        # compare with the file
    upstream_table.py --check --every 8          # one of eight expressions
    upstream_table.py --check --package FOLDER   # of the Triton unpacked there

Every cell is one kernel that goes through upstream's code generator, from its
syntax tree to verified IR; nothing of it is run. Exit status: 0 equal, 1
different, 77 no Triton that has a table is installed or fetched (skipped).

The table: lines of an expression, a type of x and results, divided by tabs; one result for each type
of y in the order of the line `types`; without a y one for each type of x, and
`*` in the middle. Equal lines are one, with their expressions divided by `;`.
A result is the type's short name, `*` a pointer; `-` where upstream refuses; `!`
where the front end computes in an 8-bit float, which no back end then can. After
`/` stands which form of an operation was chosen where there is more than one,
`s` signed or `u` unsigned.
"""
import argparse
import contextlib
import importlib.util
import itertools
import os
import pathlib
import re
import sys
import tempfile
import warnings

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "upstream"))
import wheel  # noqa: E402

VERSIONS = ["3.6.0", "3.7.1", "3.8.0", "3.9.0"]
SKIP = 77


def table_of(version):
    return HERE / f"upstream_types_{version.rsplit('.', 1)[0]}.txt"


TYPES = ["i1", "i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64",
         "fp8e4nv", "fp8e5", "fp16", "bf16", "fp32", "fp64"]
NAMES = {"i1": "int1", "i8": "int8", "i16": "int16", "i32": "int32", "i64": "int64",
         "u8": "uint8", "u16": "uint16", "u32": "uint32", "u64": "uint64",
         "fp8e4nv": "float8e4nv", "fp8e5": "float8e5", "fp16": "float16",
         "bf16": "bfloat16", "fp32": "float32", "fp64": "float64"}

OPERATORS = ["+", "-", "*", "/", "//", "%", "&", "|", "^", "<<", ">>"]
COMPARISONS = ["==", "!=", "<", "<=", ">", ">="]
# Of every kind and range that promotion tells apart.
LITERALS = ["True", "0", "3", "-3", "127", "128", "255", "256", "-129", "40000", "70000", "3000000000", "-3000000000",
            "10000000000", "9223372036854775808", "18446744073709551615", "0.0", "0.5", "-0.5", "1e-40", "1e39",
            "float('inf')"]
# One operator for each way in which a number meets a tensor.
LITERAL_OPERATORS = ["+", "/", "//", "%", "&", "<<", ">>", "<"]

UNARY = ["+x", "-x", "~x", "not x", "tl.abs(x)", "tl.sum(x)", "tl.max(x)", "tl.min(x)", "tl.max(x, 0, return_indices=True)[0]",
         "tl.argmax(x, 0)", "tl.xor_sum(x)", "tl.reduce_or(x, 0)", "tl.cumsum(x)", "tl.cumprod(x)", "tl.sort(x)",
         "tl.topk(x, 2)", "tl.topk(x, 4)", "tl.flip(x, 0)", "tl.exp(x)", "tl.sqrt(x)", "tl.floor(x)", "tl.sigmoid(x)",
         "tl.softmax(x)", "tl.zeros_like(x)", "tl.where(x, 1, 2)", "tl.where(x > x, x, 0)", "tl.where(x > x, x, 0.5)",
         "tl.cdiv(x, 4)", "tl.ravel(x)", "tl.fma(x, x, x)", "tl.clamp(x, 0.0, 1.0)", "tl.umulhi(x, x)",
         "tl.div_rn(x, x)", "tl.sqrt_rn(x)", "x.to(tl.int1)",  "tl.join(x, x)", "tl.histogram(x, 8)",
         "tl.gather(x, x, 0)", "tl.min(x, 0, return_indices=True)[0]", "tl.argmin(x, 0)", "tl.topk(x, 1)",
         "tl.cumprod(x, dtype=tl.float32)", "tl.reduce(x, 0, plus)", "tl.associative_scan(x, 0, plus)",
         "tl.fdiv(x, 3)", "tl.fdiv(0.5, x)", "tl.fma(x, 2, 0.5)", "tl.fma(2, x, x)", "tl.clamp(x, 0, 5)",
         "tl.clamp(x, 0, 0.5)", "tl.clamp(x, -1, 300)", "tl.umulhi(x, 5)", "tl.div_rn(x, 3)", "tl.div_rn(x, 0.5)",
         "min(x, 3)", "max(0.5, x)", "tl.atomic_load(p + j)", "tl.atomic_add(p + j, x)", "tl.atomic_max(p + j, x)",
         "tl.atomic_xchg(p + j, x)", "tl.atomic_cas(p + j, x, x)",
         "tl.atomic_poll(p, 1)", "tl.expect_zero(x, x > x)",
         "p + x", "x + p", "p - x", "p + 1", "p + 1.5", "p * 2", "p + p", "x.to(tl.int64) + p", "x.to(tl.pi32_t)",
         "p.to(tl.int64)", "p.to(tl.uint64)", "p.to(tl.int32)", "p.to(tl.int1)", "p.to(tl.float64)"]
BINARY = ([f"x {op} y" for op in OPERATORS + COMPARISONS] +
          ["tl.minimum(x, y)", "tl.maximum(x, y)", "tl.clamp(x, y, y)", "tl.where(x == x, x, y)", "tl.fdiv(x, y)",
           "tl.umulhi(x, y)", "tl.fma(x, x, y)", "tl.cdiv(x, y)", "x and y", "x or y", "tl.join(x, y)", "tl.cat(x, y, can_reorder=True)",
           "x.to(y.dtype)", "x.to(y.dtype, bitcast=True)", "x.to(y.dtype, fp_downcast_rounding='rtz')",
           "tl.full([4], 1, y.dtype) + x", "tl.div_rn(x, y)", "tl.clamp(x, 0, y)", "min(x, y)",
           "tl.atomic_xchg(p + j, y)", "tl.interleave(x, y)", "tl.gather(x, y, 0)"])
# Where signedness chooses the operation.
HAS_FORMS = re.compile(r"x (//|%|>>|<|<=|>|>=) |(//|%|>>|<|<=|>|>=) x|tl\.(minimum|maximum|cdiv)\b|tl\.(max|min)\(x\)|^(min|max)\(")
PRODUCTS = ["tl.dot(x, y)"] + [f"tl.dot(x, y, out_dtype=tl.{t})" for t in ("float32", "float16", "bfloat16")]


def with_literals():
    for literal in LITERALS:
        for op in LITERAL_OPERATORS:
            yield f"x {op} {literal}"
            yield f"{literal} {op} x"
        for function in ("minimum", "maximum"):
            yield f"tl.{function}(x, {literal})"
        yield f"tl.full([4], {literal}, x.dtype)"


def body(expression):
    """Lines of a kernel of p and q that leave the expression in r."""
    lines = ["i = tl.arange(0, 4)", "j = i"]
    if "tl.dot" in expression:
        lines = ["i = tl.arange(0, 32)", "j = i[:, None] * 32 + i[None, :]"]
    lines += ["x = tl.load(p + j)"]
    if re.search(r"\by\b", expression):
        lines += ["y = tl.load(q + j)"]
    return lines + [f"r = {expression}"]


def form(ir):
    """The last operation with a signed and an unsigned form."""
    found = re.findall(r"arith\.(?:(shr|div|rem|min|max)([su])i|cmpi ([su])[lg][te])\b", ir)
    if not found:
        return ""
    return "/" + (found[-1][1] or found[-1][2])


class Upstream:
    """One kernel after another through upstream's front end."""

    def __init__(self):
        os.environ.pop("TRITON_INTERPRET", None)
        import triton
        import triton.language as tl
        from triton._C.libtriton import ir
        from triton.backends.compiler import GPUTarget
        from triton.compiler.compiler import make_backend

        self.triton, self.tl, self.ir = triton, tl, ir
        self.backend = make_backend(GPUTarget("cuda", 90, 32))
        self.options = self.backend.parse_options({"sanitize_overflow": False})
        self.folder = tempfile.TemporaryDirectory()
        self.results = []

        @tl.core.builtin
        def record(value, _semantic=None):
            self.results.append(value.type.scalar)

        self.record = record

    def kernels(self, bodies):
        """Jit functions of these bodies; they must stand in a file."""
        path = pathlib.Path(self.folder.name) / "kernels.py"
        text = "import triton\nimport triton.language as tl\n@triton.jit\ndef plus(a, b):\n    return a + b\n"
        for n, lines in enumerate(bodies):
            text += f"@triton.jit\ndef k{n}(p, q):\n" + "".join(f"    {line}\n" for line in lines) + "    record(r)\n"
        path.write_text(text)
        spec = importlib.util.spec_from_file_location("kernels", path)
        module = importlib.util.module_from_spec(spec)
        module.record = self.record
        spec.loader.exec_module(module)
        return [getattr(module, f"k{n}") for n in range(len(bodies))]

    def cell(self, expression, kernel, x, y):
        self.expression = expression
        from triton.compiler import ASTSource

        context = self.ir.context()
        self.ir.load_dialects(context)
        self.backend.load_dialects(context)
        self.results.clear()
        signature = {"p": "*" + x, "q": "*" + y}
        try:
            source = ASTSource(kernel, signature)
            module = source.make_ir(self.backend.target, self.options,
                                    self.backend.get_codegen_implementation(self.options),
                                    self.backend.get_module_map(), context)
        except Exception:
            return "-"
        text = str(module)
        if re.search(r"(?:arith|math)\.(?!bitcast|select|constant).*: (?:tensor<[0-9x]*)?f8E", text):
            return "!"
        result = self.results[-1]
        if result.is_ptr():
            return "*"
        name = {long: short for short, long in NAMES.items()}[repr(result).removeprefix("triton.language.")]
        return name + (form(text) if HAS_FORMS.search(self.expression) else "")


def rows(upstream, every=1):
    """(expression, type of x or `*`, results), in order, of one of so many expressions."""
    binary = (BINARY + PRODUCTS)[::every]
    for expression, kernel in zip(binary, upstream.kernels([body(e) for e in binary])):
        for x in TYPES:
            yield expression, x, " ".join(upstream.cell(expression, kernel, x, y) for y in TYPES)
    unary = [*UNARY, *with_literals()][::every]
    for expression, kernel in zip(unary, upstream.kernels([body(e) for e in unary])):
        yield expression, "*", " ".join(upstream.cell(expression, kernel, x, "i32") for x in TYPES)


def table():
    upstream = Upstream()
    groups = {}
    for expression, x, results in rows(upstream):
        groups.setdefault((x, results), []).append(expression)
    lines = [f"# Result types by upstream Triton {upstream.triton.__version__}; made by upstream_table.py",
             "types " + " ".join(TYPES)]
    lines += [f"{'; '.join(expressions)}\t{x}\t{results}" for (x, results), expressions in groups.items()]
    return "\n".join(lines) + "\n"


def sample_differs(every):
    """What the file says otherwise of one of so many expressions, or nothing."""
    upstream = Upstream()
    said = {}
    for line in table_of(upstream.triton.__version__).read_text().splitlines()[2:]:
        expressions, x, results = line.split("\t")
        said |= {(expression, x): results for expression in expressions.split("; ")}
    for expression, x, results in rows(upstream, every):
        if said.get((expression, x)) != results:
            return f"{expression} of {x}: the file says {said.get((expression, x))}, upstream {results}"
    return ""


@contextlib.contextmanager
def quiet():
    """Both outputs of this process go nowhere, those of its C++ code too."""
    sys.stdout.flush()
    saved = os.dup(1), os.dup(2)
    nowhere = os.open(os.devnull, os.O_WRONLY)
    try:
        os.dup2(nowhere, 1)
        os.dup2(nowhere, 2)
        yield
    finally:
        sys.stdout.flush()
        for n, old in enumerate(saved, 1):
            os.dup2(old, n)
            os.close(old)
        os.close(nowhere)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="compare with the file beside this program")
    parser.add_argument("--every", type=int, metavar="N", help="with --check: one of N expressions")
    parser.add_argument("--write", action="store_true", help="write that file")
    parser.add_argument("--package", metavar="FOLDER", help="a folder that has triton/")
    parser.add_argument("--fetch", metavar="FOLDER", help="where the newest version is kept, if none of them is installed")
    options = parser.parse_args()
    if options.package:
        sys.path.insert(0, options.package)
    reasons = [wheel.make_importable(version, options.fetch if version == VERSIONS[-1] else None) for version in VERSIONS]
    if all(reasons):
        print(f"skipped: {reasons[-1]}")
        return SKIP
    import triton
    # Upstream prints IR that it refuses, on file descriptors.
    with warnings.catch_warnings(), quiet():
        warnings.simplefilter("ignore")
        differs = sample_differs(options.every) if options.every else ""
        text = "" if options.every else table()
    if options.every:
        print(differs)
        return 1 if differs else 0
    if options.write:
        table_of(triton.__version__).write_text(text)
    if not options.check:
        return 0
    old, new = table_of(triton.__version__).read_text().splitlines(), text.splitlines()
    for a, b in itertools.zip_longest(old, new):
        if a != b:
            print(f"the file:\n{a}\nupstream:\n{b}")
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
