"""Hostile kernel files: random ones, mutations of good ones, and good ones of a bad size."""
import re

HEAD = "import triton\nimport triton.language as tl\nC: tl.constexpr = 3\nG = 7\n\n"
DEF = "@triton.jit\ndef k(p, q, n, x):\n"
PROLOGUE = ("    i = tl.program_id(0)\n    a = tl.arange(0, 64)\n    b = tl.load(p + a)\n    m = a < n\n"
            "    w = a[:, None] + a[None, :]\n    t = (n, x)\n")
LEAVES = ["n", "x", "i", "a", "b", "m", "w", "t", "p", "q", "C", "G", "0", "1", "-1", "64", "1.5", "True", "None", "'s'", "()",
          "tl", "tl.float32", "2**62", "2**64", "1e400", "float('nan')", "k", "triton", "nobody", "[1, 2]", "{}", "..."]
BINARY = ["+", "-", "*", "/", "//", "%", "**", "<<", ">>", "&", "|", "^", "@", "<", "==", "is", "in", "and", "or", "not in"]
CALLS = ["tl.load", "tl.store", "tl.sum", "tl.dot", "tl.arange", "tl.zeros", "tl.full", "tl.where", "tl.exp", "tl.max",
         "tl.reshape", "tl.broadcast_to", "tl.trans", "tl.cumsum", "tl.sort", "tl.atomic_add", "tl.static_assert", "tl.cast",
         "tl.static_print", "tl.device_print", "tl.device_assert", "tl.cat", "tl.join", "tl.split", "tl.gather", "tl.rand",
         "tl.make_block_ptr", "tl.advance", "tl.inline_asm_elementwise", "tl.reduce", "tl.associative_scan", "tl.permute",
         "tl.histogram", "tl.num_programs", "tl.cdiv", "tl.multiple_of", "tl.expand_dims", "tl.view", "tl.topk", "tl.fma",
         "range", "len", "min", "max", "int", "float", "abs", "print", "isinstance", "zip", "list", "str", "tuple", "getattr",
         "open", "eval", "k", "n", "tl.nothing", "tl.math.exp", "triton.cdiv", "triton.next_power_of_2", "type", "sum"]
TOKENS = ["(", ")", "[", "]", "{", "}", ":", ",", ".", "=", "\n", "\n    ", "\t", "\\\n", "#", "'", '"', '"""', "@", "->", ":=",
          "lambda", "async", "await", "yield", "class", "return", "global", "del", "with", "try", "raise", "import", "*", "**",
          "if", "else", "elif", "for", "while", "break", "continue", "pass", "not", "in", "is", "f'{", "0x", "1e", "\x0c",
          "\u2028", "\ufeff", "é", "𝔘", "\x00", "\x1b[31m", "tl", "constexpr", "None"]


def expression(r, depth):
    if depth <= 0:
        return r.choice(LEAVES)
    kind = r.randrange(12)
    sub = lambda: expression(r, depth - 1)  # noqa: E731
    if kind < 4:
        return f"({sub()} {r.choice(BINARY)} {sub()})"
    if kind < 7:
        words = [sub() for _ in range(r.randint(0, 4))]
        if words and r.random() < 0.3:
            words[-1] = r.choice(["mask", "axis", "other", "dtype", "nobody", "x"]) + "=" + words[-1]
        return f"{r.choice(CALLS)}({', '.join(words)})"
    if kind == 7:
        return f"({sub()} if {sub()} else {sub()})"
    if kind == 8:
        return f"{sub()}{r.choice(['[:, None]', '[None]', '[0]', '[-1]', '[1:2]', '[::0]', '[...]', '[a]', '[' + sub() + ']'])}"
    if kind == 9:
        return f"{sub()}{r.choice(['.shape', '.dtype', '.to(tl.float16)', '.T', '.value', '.x', '.__class__', '.sum()'])}"
    if kind == 10:
        return r.choice(["-", "~", "not ", "*", "+"]) + sub()
    return r.choice([f"({sub()}, {sub()})", f"[{sub()} for v in {sub()}]", f"f'{{{r.choice(LEAVES)}}}'", f"(lambda v: {sub()})",
                     f"{{{sub()}: {sub()}}}", f"(v := {sub()})"])


def statement(r, indent, depth):
    pad = "    " * indent
    kind = r.randrange(14)
    if depth <= 0 or kind < 6:
        target = r.choice(["a", "b", "v", "n", "t", "p", "w", "v, u", "a[0]", "t[0]", "v.x", "*v, u", "k", "tl", "C"])
        return f"{pad}{target} {r.choice(['=', '+=', '*=', '//=', '='])} {expression(r, 2)}\n"
    body = "".join(statement(r, indent + 1, depth - 1) for _ in range(r.randint(1, 3)))
    if kind == 6:
        return f"{pad}if {expression(r, 1)}:\n{body}{pad}else:\n{body}"
    if kind == 7:
        return f"{pad}for v in {r.choice(['range', 'tl.range', 'tl.static_range', ''])}({expression(r, 1)}):\n{body}"
    if kind == 8:
        return f"{pad}while {r.choice(['i < 3 and n < 100', 'False', 'x > 1e9'])}:\n{body}{pad}    i += 1\n{pad}    n += 50\n"
    if kind == 9:
        return f"{pad}{r.choice(['return', 'break', 'continue', 'pass', 'raise x', 'del a', 'global n', 'return a, b', 'yield a'])}\n"
    if kind == 10:
        return f"{pad}{r.choice(['def f(v):', 'class D:', 'with x:', 'try:', 'async def f():', 'match n:'])}\n{body}"
    if kind == 11:
        return f"{pad}assert {expression(r, 1)}, {expression(r, 0)}\n"
    if kind == 12:
        return f"{pad}tl.store(q + a, {expression(r, 2)})\n"
    return f"{pad}{expression(r, 3)}\n"


def random_kernel(r):
    decorator = r.choice(["@triton.jit\n"] * 12 + [
        "@triton.jit()\n", "@triton.jit(debug=1)\n", "@triton.autotune([], [])\n@triton.jit\n", "@nobody\n", "",
        "@triton.autotune(configs=[triton.Config({'B': 1}, num_warps=3)], key=['n'])\n@triton.jit\n",
        "@triton.heuristics({'x': lambda args: args['n'] // 0})\n@triton.jit\n", "@triton.jit\n@triton.jit\n"])
    define = r.choice(["def k(p, q, n, x):\n"] * 12 + [
        "async def k(p, q, n, x):\n", "def k(p, q, n, x, *rest):\n", "def k(p, q, n, n):\n", "def k(p, q, n, x=nobody):\n",
        "def k(p, /, q, n, *, x):\n", "def k(p: 'x', q: tl.nobody, n: int, x: tl.constexpr):\n", "def k():\n"])
    tops = r.choice([""] * 6 + [f"V = {expression(r, 2)}\n", f"from {r.choice(['os', 'k', 'nobody', '.k', 'numpy'])} import *\n",
                                "k = triton.jit(lambda p, q, n, x: tl.store(p, 1))\n", "import " + "a." * 50 + "b\n",
                                "def host(v):\n    return host(v)\nV = host(1)\n"])
    return HEAD + tops + decorator + define + PROLOGUE + "".join(statement(r, 1, 2) for _ in range(r.randint(1, 6)))


def mutate(r, text):
    tokens = re.findall(r"\w+|\s+|[^\w\s]", text)
    kind = r.randrange(7)
    at, other = r.randrange(len(tokens)), r.randrange(len(tokens))
    if kind == 0:
        del tokens[at:at + r.randint(1, 4)]
    elif kind == 1:
        tokens.insert(at, r.choice(TOKENS))
    elif kind == 2:
        tokens[at], tokens[other] = tokens[other], tokens[at]
    elif kind == 3:
        tokens[at:at] = tokens[other:other + r.randint(1, 30)]
    elif kind == 4:
        tokens[at] = r.choice(LEAVES)
    elif kind == 5:
        tokens[at] = tokens[at] * r.choice([2, 100])
    else:
        lines = text.splitlines(keepends=True)
        line = r.randrange(len(lines))
        lines[line] = r.choice([" ", "\t", "        ", ""]) + lines[line].lstrip(r.choice([" ", ""]))
        return "".join(lines)
    return "".join(tokens)


def large_kernel(r):
    """Right in every line, and of a size that is not written by hand."""
    n = r.choice([10, 50, 200, 400])
    body = r.choice([
        lambda: "".join(f"    n = n * 3 + {i}\n" for i in range(n)) + "    tl.store(q, n)\n",
        lambda: "".join(f"    b = b * 3.0 + {i}\n" for i in range(n)) + "    tl.store(p + a, b)\n",
        lambda: "    tl.store(q, " + " + ".join(["n"] * n) + ")\n",
        lambda: "    v = " + "(" * min(n, 90) + "n" + ")" * min(n, 90) + "\n    tl.store(q, v)\n",
        lambda: "    v = " + "-" * n + "n\n    tl.store(q, v)\n",
        lambda: "    if n == 0:\n        v = 0\n" + "".join(f"    elif n == {i}:\n        v = {i}\n" for i in range(1, n)) +
                "    else:\n        v = n\n    tl.store(q, v)\n",
        lambda: "".join("    " * (1 + i) + f"if n > {i}:\n" for i in range(min(n, 60))) + "    " * (1 + min(n, 60)) +
                "tl.store(q, n)\n",
        lambda: "    for v in tl.static_range(%d):\n        n += v\n    tl.store(q, n)\n" % n,
        lambda: "    v = (n, n)\n" + "    v = (v, v)\n" * min(n, 30) + "    tl.store(q, n)\n",
        lambda: "    v: tl.constexpr = 'ab'\n" + "    v: tl.constexpr = v + v\n" * min(n, 60) + "    tl.store(q, n)\n",
        lambda: "    v = a\n" + "".join("    v = v[:, None]\n" for _ in range(min(n, 12))) + "    tl.store(q, n)\n",
        lambda: "    tl.store(q + tl.arange(0, %d), 1)\n" % (1 << r.choice([10, 20, 25, 40])),
        lambda: "    v = tl.zeros([%d, %d], tl.float32)\n    tl.store(q, tl.sum(v).to(tl.int32))\n" % (
            1 << r.choice([4, 10, 14]), 1 << r.choice([4, 10, 14])),
        lambda: "    v = 1 << %d\n    tl.store(q, v)\n" % r.choice([31, 63, 64, 10 ** 6, 10 ** 12]),
        lambda: "    v: tl.constexpr = 7 ** (7 ** %d)\n    tl.store(q, n)\n" % r.choice([3, 7, 20]),
        lambda: "    for v in range(%s):\n        n += v\n    tl.store(q, n)\n" % r.choice(
            ["n - 10, n, 4", "0, 10, 3", "10, 0, -1", "0, 0", "0, 2**40, 2**39", "5, n, 1"]),
        lambda: "    tl.store(q, len([0 for v in range(%d)]))\n" % (10 ** r.choice([2, 5, 9])),
        lambda: "    tl.store(q, n) # " + "x" * (1000 * n) + "\n",
        lambda: "".join(f"    v{i} = n + {i}\n" for i in range(n)) + "    tl.store(q, v0)\n"])()
    tops = r.choice(["", "", "", "V = [0] * 10 ** %d\n" % r.choice([3, 9, 18]), "V = (0,)\n" + "V = (V, V)\n" * r.choice([5, 40]),
                     "V = 'x' * 10 ** %d\n" % r.choice([3, 9]), "V = [[0] * 60000 for i in range(60000)]\n",
                     "".join(f"V{i} = {i}\n" for i in range(n * 5)), "def h(v):\n    return h(v)\nV = h(1)\n"])
    used = "    tl.static_assert(V == V)\n" if tops.startswith("V") and " V" not in tops[:2] and "V0" not in tops else ""
    return HEAD + tops + DEF + PROLOGUE + used + body
