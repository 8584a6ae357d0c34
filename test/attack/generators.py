"""Hostile sources, arguments, files, environments and limits. make(kind, random, Attack, encoded) gives one attack."""
import copy
import json
import pathlib
import re
import struct

import programs

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
KERNEL = """import triton
import triton.language as tl


@triton.jit
def scale(x_ptr, y_ptr, n, a, BLOCK: tl.constexpr = 64):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n)
    tl.store(y_ptr + i, x * a, mask=i < n)
"""
RUN = ["run", "k.py:scale", "--grid", "1", "x_ptr=zeros:f32[64]", "y_ptr=zeros:f32[64]", "n=64", "a=2"]
COMPILE = ["compile", "k.py:scale", "--signature", "*fp32:16, *fp32:16, i32, fp32, 64"]
NUMBERS = ["0", "-1", "1", "64", "2147483647", "2147483648", "-2147483649", "9223372036854775807", "-9223372036854775808",
           "18446744073709551615", "18446744073709551616", "1" + "0" * 400, "1e400", "-1e400", "1e-400", "nan", "inf",
           "-inf", "0x", "0x10", "1_000", "1.5", ".", "", " ", "+", "--1", "1e", "٣", "½", "1\x00", "0b1", "1j", "1L"]
WORDS = ["", "none", "true", "None", "\x1b[31m", "a\nb", "\ufeff", "%s%n", "../../../etc/passwd", "/", ".", "..", "-", "--",
         "=", "==", ":", "@", "@@", "'", '"', "\\", "{}", "[]", "()", "$(id)", "`id`", "*", "~", "\udcff", "é" * 50,
         "x" * 5000, "(" * 500, "[" * 500, "1," * 2000, "lambda: 0", "__import__('os')", "'" * 3, "(1,2", "((1,),)"]
DTYPES = ["f32", "f16", "bf16", "i8", "u64", "i1", "fp8e5", "f64", "f33", "", "*f32", "float32", "tl.float32", "i128"]
SHAPES = ["", "0", "1", "64", "64,64", "1000000", "4294967296", "9223372036854775807", "-1", "1,0,9223372036854775807",
          "1," * 300 + "1", "a", "64,", ",", " 6 4 ", "[1]", "1;2"]
GENERATORS = ["rand", "randn", "zeros", "empty", "arange", "full", "full:1", "full:nan", "full:1e999", "randint",
              "randint:0:9", "randint:9:0", "randint:-9223372036854775808:9223372036854775807", "rnd", "", "full:::"]
PATHS = ["k.py", "./k.py", "none/f", "/dev/null", "/dev/full", "/dev/zero", "/dev/stdout", "/dev/fd/1", "/dev/fd/99", ".",
         "/", "fifo", "folder", "readonly", "link", "dangling", "loop", "sparse", "x.npy", "launch.json", "out", "",
         "a" * 300, "/proc/self/mem", "/proc/self/status", "/sys/kernel/notes", "-", "k.py/", "é", "\x1b[2J", "new\nline"]
FILES = {"fifo": "fifo:", "folder/": "folder:", "readonly": "mode:444:old\n", "link": "link:k.py",
         "dangling": "link:nowhere/at/all", "loop": "link:loop", "sparse": "sparse:3221225472"}
KNOBS = [*re.findall(r'^NEREID_KNOB\(\w+, \w+,\s*"(\w+)"', (ROOT / "nereid/Support/Knobs.def").read_text(), re.MULTILINE),
         "NEREID_UNKNOWN", "HOME", "XDG_CACHE_HOME", "TMPDIR", "PATH", "LANG", "LC_ALL", "PYTHONPATH", "COLUMNS"]
DEVICES = ["cpu", "interp"]


def files(r, **more):
    chosen = {"k.py": KERNEL, **more}
    for name, content in FILES.items():
        chosen.setdefault(name.rstrip("/"), content)
    return chosen


def source(r, Attack, text, kernel="k"):
    """Compiled for some target, or run."""
    path = {"k.py": text}
    if r.random() < 0.5:
        return Attack("", ["compile", f"k.py:{kernel}", "--emit", r.choice(["tile", "asm", "llvm", "obj"]), "--signature",
                           "*fp32, *i32, i32, fp32"], path)
    if r.random() < 0.3:
        return Attack("", ["compile", f"k.py:{kernel}", "--emit", "ptx", "--target", r.choice(["sm_80", "sm_90a"]),
                           "--signature", "*fp32, *i32, i32, fp32"], path)
    return Attack("", ["run", f"k.py:{kernel}", "--device", r.choice(DEVICES), "--grid", r.choice(["1", "2", "2,3"]),
                       "p=zeros:f32[4096]", "q=zeros:i32[4096]", f"n={r.choice(['0', '1', '7', '64'])}", "x=1.5"], path)


def mutated(r, Attack, encoded):
    seeds = sorted((ROOT / "kernels").glob("*/*.py")) + sorted((ROOT / "tutorials").glob("*/*.py"))
    text = r.choice([path for path in seeds if "\ndef " in path.read_text()]).read_text()
    name = r.choice([line.split("(")[0][4:] for line in text.splitlines() if line.startswith("def ")])
    for _ in range(r.randint(1, 4)):
        text = programs.mutate(r, text)
    words = ["compile", f"k.py:{name}", "--emit", r.choice(["ast", "tile", "asm"]), "--signature",
             ", ".join(r.choice(["*fp32:16", "i32", "64", "*bf16", "fp32"]) for _ in range(r.randint(1, 8)))]
    if r.random() < 0.3:
        words = ["run", f"k.py:{name}", "--grid", "1"]
    return Attack("", words, {"k.py": text})


def built(r, Attack, encoded):
    return source(r, Attack, programs.random_kernel(r))


def shaped(r, Attack, encoded):
    return source(r, Attack, programs.large_kernel(r))


def raw_bytes(r, Attack, encoded):
    data = bytearray(programs.random_kernel(r).encode())
    for _ in range(r.randint(1, 20)):
        at = r.randrange(len(data))
        data[at:at + r.randint(0, 3)] = bytes(r.choice([0, 9, 10, 12, 13, 27, 34, 39, 40, 92, 127, 128, 192, 255, 239])
                                              for _ in range(r.randint(0, 4)))
    if r.random() < 0.1:
        data = bytearray(r.randbytes(r.randint(0, 4000)))
    return source(r, Attack, "", "k").__class__("", ["compile", "k.py:k", "--emit", "tile", "--signature",
                                                     "*fp32, *i32, i32, fp32"], {"k.py": encoded(bytes(data))})


HOST_DATA = "sizes: [16, 32]\nkernel:\n  - warps: 4\n  - {warps: 8, note: 'x'}\nothers: &a\n  - yes\n  - ~\n  - |\n    text\nlast: *a\n"


def hosts(r, Attack, encoded):
    """Host code with objects, files and exceptions, and its data, spoilt."""
    text, data = (ROOT / "test/attack/host_program.py").read_text(), HOST_DATA
    for _ in range(r.randint(0, 4)):
        text = programs.mutate(r, text)
    for _ in range(r.choice([0, 0, 1, 3])):
        data = programs.mutate(r, data)
    words = ["tune", "k.py:k", "p=zeros:f32[64]", "q=zeros:i32[64]", f"n={r.choice(['0', '1', '64'])}", "x=1.5", "--list"]
    if r.random() < 0.2:
        words += ["--bind", r.choice(["torch.mlu.count()=1", "yaml.safe_load()={}", "open()=3", "Loader=1", "first=1", "a.b()={'x': 1}",
                                      "subprocess.run().returncode=1", "triton.Config()=2", "chosen=[1]", "HERE='/'"])]
    return Attack("", words, {"k.py": text, "configs.yaml": data})


def value(r):
    kind = r.randrange(6)
    if kind == 0:
        return r.choice(NUMBERS)
    if kind == 1:
        return r.choice(WORDS)
    if kind == 2:
        return "@" + r.choice(PATHS) + r.choice(["", ":bf16", ":f33", ":"])
    if kind == 3:
        return f"({', '.join(r.choice(NUMBERS + WORDS[:12]) for _ in range(r.randint(0, 4)))})"
    return f"{r.choice(GENERATORS)}:{r.choice(DTYPES)}[{r.choice(SHAPES)}]"


def arguments(r, Attack, encoded):
    words = list(RUN)
    for _ in range(r.randint(1, 3)):
        at = r.randrange(4, len(words))
        name = words[at].split("=")[0]
        change = r.randrange(5)
        if change < 3:
            words[at] = f"{name}={value(r)}"
        elif change == 3:
            words.append(f"{r.choice([name, 'BLOCK', 'num_warps', 'debug', 'maxnreg', 'grid', ''])}={value(r)}")
        else:
            words[at] = r.choice(WORDS + NUMBERS)
    return Attack("", words + ["--device", r.choice(DEVICES)], files(r))


def options(r, Attack, encoded):
    takes = ["--grid", "--device", "--out", "--print", "--bind", "--seed", "--tolerance", "--repeat", "--launch",
             "--results", "--check", "--instrument", "--signature", "--emit", "--target", "-o", "--object", "--namespace", "--num-warps",
             "--num-stages"]
    flags = ["--time", "--check", "-v", "--no-fp-fusion", "--help", "--version", "--json", "--markdown", "--host",
             "--knobs-markdown", "--exit-statuses-markdown"]
    words = list(r.choice([RUN, COMPILE, ["builtins"], ["doctor"], ["run"], ["compile", "k.py"], []]))
    for _ in range(r.randint(1, 4)):
        if r.random() < 0.7:
            option = r.choice(takes)
            given = r.choice(NUMBERS + WORDS + PATHS + ["x_ptr=" + r.choice(PATHS), "GLOBAL=3", "sm_90a", "x86-64-v3",
                                                        "header", "asm", "obj", "ptx", "n", "cdiv(n, 3)", "a::b"])
            words += [option, given] if r.random() < 0.8 else [f"{option}={given}"]
        else:
            words.append(r.choice(flags + WORDS))
    r.random() < 0.2 and r.shuffle(words)
    return Attack("", words, files(r))


def grids(r, Attack, encoded):
    atoms = NUMBERS[:20] + ["n", "a", "BLOCK", "x_ptr", "cdiv", "cdiv(n, 0)", "n // 0", "n % 0", "2 ** 9999999", "1 << n * n",
                            "'a' * 99999999", "[0] * 99999999", "lambda m: m", "max()", "min(n)", "n if a else 2",
                            "triton.cdiv(n, BLOCK)", "(n,)", "()", "print(1)", "__import__('os')", "n.x", "n[0]", "\x1b"]
    text = r.choice(atoms)
    for _ in range(r.randint(0, 3)):
        text = f"{text}{r.choice([' + ', ' * ', ', ', ' // ', ' ** ', ' - ', ' and ', ' < ', ' << '])}{r.choice(atoms)}"
    if r.random() < 0.1:
        text = "(" * r.choice([10, 300, 5000]) + text
    # Two billion programs that are right take their time, which is no hang.
    text = text.replace("2147483647", "21474")
    return Attack("", [*RUN[:3], text, *RUN[4:]], files(r))


def launch_files(r, Attack, encoded):
    tensor = {"tensor": {"dtype": "fp32", "shape": [64], "storage": 0}}
    launch = {"kernel": "k.py:scale", "grid": [1], "storages": [{"bytes": 256, "fill": 1}],
              "arguments": {"x_ptr": tensor, "y_ptr": json.loads(json.dumps(tensor)), "n": 64, "a": 2.0}}
    anything = [None, True, 0, -1, 1.5, 1 << 62, 1 << 64, "", "x", "\u001b[1m", [], {}, [1], {"int": "x"}, {"float": "nan"},
                {"float": "1e999"}, {"tensor": {}}, {"tuple": [[]]}, {"descriptor": {}}, {"function": "scale"}, "a\u0000b",
                [[[[[]]]]], {"dtype": "fp33"}, 1e308, "randn:f32[64]", "k.py", "/dev/zero", "fifo"]
    keys = ["kernel", "grid", "device", "storages", "arguments", "options", "bind", "repeat", "id", "file", "hex", "npy",
            "generate", "seed", "bytes", "fill", "skew", "pointers", "out", "tensor", "dtype", "shape", "strides", "storage",
            "offset", "unknown", ""]
    for _ in range(r.randint(1, 4)):
        places, stack = [], [launch]
        while stack:
            node = stack.pop()
            for key in (node if isinstance(node, dict) else range(len(node))):
                places.append((node, key))
                if isinstance(node[key], (dict, list)):
                    stack.append(node[key])
        node, key = r.choice(places)
        if r.random() < 0.25 and isinstance(node, dict):
            node[r.choice(keys)] = copy.deepcopy(r.choice(anything))
        elif r.random() < 0.15 and isinstance(node, dict):
            del node[key]
        else:
            node[key] = copy.deepcopy(r.choice(anything))
    text = json.dumps(launch)
    if r.random() < 0.3:
        at = r.randrange(len(text))
        text = text[:at] + r.choice(["", "\x00", "}", "[" * r.choice([5, 90000]), '"', "\\u", "1e99999", "\udc80"]) + \
            text[at + r.randint(0, 5):]
    name, words = "launch.json", ["run", "--launch", "launch.json"]
    if r.random() < 0.3:
        words = ["run", "--launch", "-"]
        return Attack("", words, files(r), stdin=text + "\n" + text[:r.randrange(len(text))])
    if r.random() < 0.3:
        words += [r.choice(["launch.json", "none.json", "k.py", "fifo"])]
    if r.random() < 0.3:
        words += ["--results", r.choice(PATHS)]
    if r.random() < 0.2:
        words += ["--check"]
    return Attack("", words, files(r, **{name: encoded(text.encode("utf-8", "surrogateescape"))}))


def arrays(r, Attack, encoded):
    descr = r.choice(["<f4", ">f8", "|b1", "<u2", "<f4x", "<c8", "|O", "<U4", "f4", "<f16", "", "<i99999999999999999999"])
    shape = r.choice(["(64,)", "(8, 8)", "()", "(0,)", "(9223372036854775807,)", "(4294967296, 4294967296)", "(-1,)",
                      "(64", "(64,,)", "[64]", "(" + "1, " * 5000 + ")", "(99999999999999999999999,)", "(6.5,)"])
    order = r.choice(["False", "True", "Maybe", "0"])
    header = f"{{'descr': '{descr}', 'fortran_order': {order}, 'shape': {shape}, }}".encode()
    if r.random() < 0.2:
        header = header.replace(b"}", r.choice([b"", b"}}", b"} x", b", 'x': 1}"]))
    version = r.choice([1, 1, 1, 2, 3, 0, 9])
    length = len(header) + r.choice([0, 0, 0, 1, -1, 60000, -len(header)])
    form = "<H" if version == 1 else "<I"
    data = b"\x93NUMPY" + bytes([version, 0]) + struct.pack(form, max(length, 0) & (0xffff if version == 1 else 0xffffffff)) + header + \
        r.choice([b"", bytes(256), bytes(255), r.randbytes(600)])
    if r.random() < 0.3:
        mutable = bytearray(data)
        for _ in range(r.randint(1, 5)):
            mutable[r.randrange(len(mutable))] = r.randrange(256)
        data = bytes(mutable)
    name = r.choice(["x.npy", "x.npy", "x.npy", *PATHS])
    words = [word if not word.startswith("x_ptr") else f"x_ptr=@{name}" + r.choice(["", "", ":bf16", ":i8"])
             for word in RUN] + ["--print", "x_ptr"]
    return Attack("", words, files(r, **{"x.npy": encoded(data)}))


def inputs(r, Attack, encoded):
    name = r.choice(PATHS)
    words = r.choice([["run", f"{name}:scale", *RUN[2:]], ["compile", name, *COMPILE[2:]],
                      ["run", "--launch", name], ["run", "--launch", name, name],
                      ["compile", name, "k.py", "--emit", "header", "-o", "h.h", "--signature", "scale(i32)"]])
    text = KERNEL + r.choice(["", f"from {r.choice(['fifo', 'folder', 'k', 'none', 'os', 'k.k'])} import x\n"])
    return Attack("", list(words), files(r, **{"k.py": text}))


def outputs(r, Attack, encoded):
    words = r.choice([
        [*RUN, "--out", f"x_ptr={r.choice(PATHS)}", "--out", f"y_ptr={r.choice(PATHS)}"],
        [*RUN, "--out", f"y_ptr={r.choice(PATHS)}", "--print", "x_ptr"],
        [*COMPILE, "--emit", r.choice(["asm", "obj", "llvm", "ptx"]), "-o", r.choice(PATHS)],
        ["compile", "k.py", "--emit", "header", "-o", r.choice(PATHS), "--object", r.choice(PATHS), "--signature",
         "scale(*fp32, *fp32, i32, fp32)"],
        ["compile", "k.py", "--emit", "header", "-o", r.choice(PATHS), "--namespace", r.choice(WORDS + ["class", "a::b"]),
         "--signature", "scale(*fp32, *fp32, i32, fp32)"]])
    attack = Attack("", list(words), files(r))
    attack.stdout = r.choice(["", "", "full", "closed"])
    if r.random() < 0.3:
        attack.limits["file"] = r.choice([0, 1, 100, 1000, 5000])
    return attack


def cache(r, Attack, encoded):
    """Rubbish under names of entries, and around them."""
    chosen = files(r)
    for _ in range(r.randint(1, 4)):
        name = r.choice(["".join(r.choice("0123456789abcdef") for _ in range(64)) + ".nki", "mine.nki", ".tmp-1-2-3", "x"])
        chosen[f"cache/{name}"] = r.choice(["fifo:", "sparse:3221225472", "link:/dev/zero", "folder:", "NEREIDK1",
                                            encoded(b"NEREIDK1" + r.randbytes(r.choice([10, 72, 500])))])
    attack = Attack("", list(RUN), chosen)
    attack.environment["NEREID_CACHE_SIZE"] = r.choice(["0", "1", "100", "10K", "1G"])
    return attack


def environments(r, Attack, encoded):
    attack = Attack("", list(r.choice([RUN, COMPILE, ["doctor"], [*RUN, "--check"]])), files(r))
    for _ in range(r.randint(1, 4)):
        name = r.choice(KNOBS)
        attack.environment[name] = r.choice([None, "oob", "nan", "assert", "overflow", "cache,compile,launch", "x86-64-v3", "interp", "1",
                                             *(p for p in PATHS if "\x00" not in p),
                                             *(n for n in NUMBERS if "\x00" not in n)])
    # Kernels for GPUs, on the simulated one.
    if r.random() < 0.3:
        attack.environment["NEREID_CUDA_DRIVER"] = "simulator"
        attack.environment["NEREID_SIMULATOR"] = r.choice(["", "early,races", "sm_80,late", "pages,seed=3", "sm_75",
                                                           f"seed={r.choice(['', '-1', '1' * 30])}", "sm_91", ",", "racesraces"])
        if attack.words[0] == "run":
            attack.words += ["--device", r.choice(["cuda:0", "cuda", "cuda:1", "cuda:-1"])]
    return attack


def limits(r, Attack, encoded):
    attack = Attack("", list(r.choice([RUN, [*RUN, "--device", "interp"], [*COMPILE, "--emit", "obj"], ["doctor"],
                                       ["builtins", "--json"], [*RUN, "--out", "y_ptr=out", "--print", "y_ptr"]])), files(r))
    # The kernel ends a program by a signal whose own data are larger than the limit: those of nereid are 2 MiB.
    for _ in range(r.randint(1, 2)):
        kind, values = r.choice([("file", [0, 1, 4096]), ("files", [0, 3, 4, 5, 8, 16]), ("stack", [65536, 1 << 18, 1 << 20]),
                                 ("memory", [300 << 20, 400 << 20, 600 << 20, 1 << 30]), ("data", [4 << 20, 64 << 20]),
                                 ("processes", [0, 1])])
        attack.limits[kind] = r.choice(values)
    if r.random() < 0.5:
        attack.words = [*RUN[:4], f"x_ptr=zeros:f32[{r.choice(['64', '100000000', '300000000', '4000000000'])}]", *RUN[5:]]
    attack.stdout = r.choice(["", "", "full", "closed"])
    return attack


def signatures(r, Attack, encoded):
    entries = ["*fp32", "*fp32:16", "i32", "i32:16", "i32:1", "fp32", "fp32:16", "*k fp32", "*kfp32", "64", "none", "true",
               "*", "", "**fp32", "*fp32:8", "i128", "x_ptr=*fp32", "n=i32", "a=1", "BLOCK=0", "BLOCK=-5", "BLOCK=99999999",
               "num_warps=3", "num_warps=-1", "maxnreg=9999", "'text'", "(1, 2)", *NUMBERS, *WORDS]
    text = ", ".join(r.choice(entries) if r.random() < 0.4 else e for e in ["*fp32", "*fp32", "i32", "fp32", "64"])
    if r.random() < 0.2:
        text = r.choice(["scale(", "scale)", "nobody("]) + text + r.choice([")", ""])
    words = ["compile", "k.py:scale", "--signature", text, "--emit", r.choice(["tile", "asm", "ptx", "header", "lines"])]
    if r.random() < 0.5:
        words += ["--target", r.choice(["sm_90a", "sm_75", "x86-64-v2", "interp", "sm_", "sm_99999", "cpu,cpu", ""])]
    return Attack("", words + ["-o", "out.h"], files(r))


KINDS = {"mutated": mutated, "built": built, "shaped": shaped, "bytes": raw_bytes, "arguments": arguments,
         "options": options, "grids": grids, "launch": launch_files, "arrays": arrays, "inputs": inputs, "outputs": outputs,
         "cache": cache, "environments": environments, "limits": limits, "signatures": signatures, "hosts": hosts}


def make(kind, r, Attack, encoded):
    attack = KINDS[kind](r, Attack, encoded)
    attack.kind = kind
    # What exec itself refuses is no attack.
    attack.words = [word.replace("\x00", "") for word in attack.words]
    return attack
