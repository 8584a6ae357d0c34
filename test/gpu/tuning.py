#!/usr/bin/env python3
"""nereid tune against Triton's autotuner, and --search against lists that a person wrote.

    test/gpu/tuning.py build/bin/nereid [--device cuda:0] [--only matmul,softmax] [--skip-upstream] [--quick]
                       [--tutorial FILE] [--seconds 50] [--size 4096]

1. The matmul of Triton's tutorial 03 at 4096, all caches empty, same configurations: until Triton's autotuner is ready and until
   nereid tune is; what each configuration takes when all are measured at length, and how far the choice is from the best;
   how long the next process takes to find it.
2. For each of eight kernels (tuned_kernels.py): the list is tuned; the decorator is taken away and --search finds a
   configuration within --seconds; both are measured together in one list.

--device cpu measures the second part on the processor. Exit status 77 without the device, 1 when a bound does not hold:
4x sooner than upstream, within 2 % of the best, found in 5 ms, searches within 2 % of the lists and 60 s.
"""
import argparse
import json
import os
from pathlib import Path
import re
import subprocess
import sys
import tempfile
import textwrap
import time

HERE = Path(__file__).resolve().parent
KERNELS = HERE / "tuned_kernels.py"
TUTORIAL = HERE.parents[1] / ".corpora/triton-intel/python/tutorials/03-matrix-multiplication.py"


def launches(device):
    """name: (arguments, grid). The processor gets less to do."""
    gpu = device.startswith("cuda")
    r, n, m, length = (4096, 4096, 4096, 4096) if gpu else (256, 4096, 256, 256)
    element = "f16" if gpu else "f32"
    square = f"[{m},{m}]"
    return {
        "softmax": ([f"y=zeros:f32[{r},{n}]", f"x=randn:f32[{r},{n}]", f"n={n}"], f"{r}"),
        "layer_norm": ([f"y=zeros:f32[{r},{n}]", f"x=randn:f32[{r},{n}]", f"w=randn:f32[{n}]", f"b=randn:f32[{n}]", f"n={n}", "eps=1e-5"], f"{r}"),
        "layer_norm_backward": ([f"dx=zeros:f32[{r},{n}]", f"dy=randn:f32[{r},{n}]", f"x=randn:f32[{r},{n}]", f"w=randn:f32[{n}]", f"n={n}",
                                 "eps=1e-5"], f"{r}"),
        "matmul": ([f"a=randn:{element}{square}", f"b=randn:{element}{square}", f"c=zeros:{element}{square}", f"M={m}", f"N={m}", f"K={m}"],
                   "cdiv(M, BM) * cdiv(N, BN)"),
        "attention": ([f"{t}={g}:{element}[16,{length},64]" for t, g in (("out", "zeros"), ("q", "randn"), ("k", "randn"), ("v", "randn"))]
                      + [f"L={length}", "scale=0.125", "D=64"], "cdiv(L, BM), 16"),
        "cross_entropy": ([f"loss=zeros:f32[{r}]", f"x=randn:f32[{r},{8 * n}]", f"target=randint:0:{8 * n}:i32[{r}]", f"n={8 * n}"], f"{r}"),
        "transpose": ([f"y=zeros:f32{square}", f"x=randn:f32{square}", f"M={m}", f"N={m}"], "cdiv(M, BM), cdiv(N, BN)"),
        "int8_matmul": ([f"a=randint:-8:8:i8{square}", f"b=randint:-8:8:i8{square}", f"c=zeros:i32{square}", f"M={m}", f"N={m}", f"K={m}"],
                        "cdiv(M, BM) * cdiv(N, BN)"),
    }


class Tool:
    """The command, with caches of its own."""

    def __init__(self, program, device, folder):
        self.program, self.device, self.folder = program, device, Path(folder)
        self.environment = dict(os.environ, NEREID_CACHE_DIR=str(self.folder / "cache"), CUDA_CACHE_PATH=str(self.folder / "driver"))

    def tune(self, kernel, arguments, grid, *options):
        command = [self.program, "tune", kernel, *arguments, "--grid", grid, "--device", self.device, "--json", "-", *options]
        started = time.time()
        done = subprocess.run(command, capture_output=True, text=True, env=self.environment)
        if done.returncode:
            sys.exit(f"{' '.join(command)}\n{done.stderr}")
        return dict(json.loads(done.stdout), wall=time.time() - started)

    def run_ms(self, kernel, arguments, grid, repeat):
        command = [self.program, "run", kernel, *arguments, "--grid", grid, "--device", self.device, "--time", "--repeat", str(repeat)]
        done = subprocess.run(command, capture_output=True, text=True, env=self.environment)
        found = re.search(r"median ([\d.e+-]+) ms", done.stdout)
        return float(found[1]) if found else float("inf")


def text_of(config):
    return " ".join(f"{name}={value}" for name, value in config.items())


UPSTREAM = """
    import ast, json, sys, time, types
    import torch, triton, triton.language as tl
    path, size = sys.argv[1], int(sys.argv[2])
    module = types.ModuleType("tutorial"); module.__file__ = path
    sys.modules["tutorial"] = module
    def wanted(node):
        return isinstance(node, (ast.Import, ast.ImportFrom, ast.FunctionDef)) or isinstance(node, ast.Assign) and not isinstance(node.value, ast.Call) \\
            or isinstance(node, ast.Assign) and "DEVICE" in ast.unparse(node.targets[0])
    for node in ast.parse(open(path).read()).body:
        if wanted(node):
            try:
                exec(compile(ast.Module([node], []), path, "exec"), module.__dict__)
            except Exception:
                pass
    a = torch.randn((size, size), device="cuda", dtype=torch.float16)
    b = torch.randn((size, size), device="cuda", dtype=torch.float16)
    c = torch.empty((size, size), device="cuda", dtype=torch.float16)
    kernel = module.matmul_kernel
    grid = lambda META: (triton.cdiv(size, META["BLOCK_SIZE_M"]) * triton.cdiv(size, META["BLOCK_SIZE_N"]),)
    (a @ b).sum().item()
    started = time.time()
    kernel[grid](a, b, c, size, size, size, a.stride(0), a.stride(1), b.stride(0), b.stride(1), c.stride(0), c.stride(1), ACTIVATION="")
    torch.cuda.synchronize()
    print(json.dumps({"seconds": time.time() - started, "configs": len(kernel.configs), "best": str(kernel.best_config)}))
"""


def upstream_seconds(tutorial, size, folder):
    program = Path(folder) / "upstream.py"
    program.write_text(textwrap.dedent(UPSTREAM))
    environment = dict(os.environ, TRITON_CACHE_DIR=str(Path(folder) / "triton"), CUDA_CACHE_PATH=str(Path(folder) / "driver"))
    done = subprocess.run([sys.executable, program, str(tutorial), str(size)], capture_output=True, text=True, env=environment)
    if done.returncode:
        print(f"upstream Triton does not run here: {done.stderr.strip().splitlines()[-1:]}")
        return None
    return json.loads(done.stdout.splitlines()[-1])


def compare_with_upstream(options, wrong):
    size = options.size
    matrix = f"[{size},{size}]"
    arguments = [f"a_ptr=randn:f16{matrix}", f"b_ptr=randn:f16{matrix}", f"c_ptr=zeros:f16{matrix}", f"M={size}", f"N={size}", f"K={size}",
                 f"stride_am={size}", "stride_ak=1", f"stride_bk={size}", "stride_bn=1", f"stride_cm={size}", "stride_cn=1", "ACTIVATION=\"\""]
    grid = "cdiv(M, BLOCK_SIZE_M) * cdiv(N, BLOCK_SIZE_N)"
    kernel = f"{options.tutorial}:matmul_kernel"
    with tempfile.TemporaryDirectory() as folder:
        upstream = None if options.skip_upstream else upstream_seconds(options.tutorial, size, folder)
    with tempfile.TemporaryDirectory() as folder:
        tool = Tool(options.nereid, options.device, folder)
        ours = tool.tune(kernel, arguments, grid)
        print(f"tutorial 03 matmul {size}: nereid is ready after {ours['ready_ms'] / 1e3:.2f} s ({len(ours['trials'])} configurations; the "
              f"process took {ours['wall']:.2f} s): {text_of(ours['config'])}, {ours['ms']:.4f} ms")
        if upstream:
            factor = upstream["seconds"] / (ours["ready_ms"] / 1e3)
            print(f"  Triton's autotuner after {upstream['seconds']:.2f} s ({upstream['configs']} configurations): {upstream['best']}; {factor:.1f}x")
            if factor < 4:
                wrong.append(f"only {factor:.2f}x sooner than upstream")
        again = tool.tune(kernel, arguments, grid)
        print(f"  the next process finds it in {again['ready_ms']:.2f} ms")
        if not again["found"] or again["ready_ms"] > 5:
            wrong.append("the next process does not find the choice in 5 ms")
        at_length = {}
        for _ in range(1 if options.quick else 3):
            for trial in ours["trials"]:
                if trial["state"] == "measured":
                    config = trial["config"]
                    ms = tool.run_ms(kernel, arguments + [f"{n}={v}" for n, v in config.items()], grid, 50 if options.quick else 500)
                    at_length.setdefault(text_of(config), []).append(ms)
        medians = sorted((sorted(times)[len(times) // 2], config) for config, times in at_length.items())
        for ms, config in medians:
            print(f"    {ms:9.4f} ms  {config}")
        own = next(ms for ms, config in medians if config == text_of(ours["config"]))
        print(f"  measured at length, the choice takes {100 * (own / medians[0][0] - 1):.2f} % more than the best")
        if own > 1.02 * medians[0][0]:
            wrong.append("the choice is more than 2 % from the best")


def without_decorator(source, kernel):
    """The file without the list of one kernel."""
    pattern = re.compile(r"@triton\.autotune\((?:(?!\n@triton\.jit).)*\)\n(?=@triton\.jit\ndef " + kernel + r"\()", re.S)
    changed, count = pattern.subn("", source)
    assert count == 1, kernel
    return changed


def python_list(configs):
    options = ("num_warps", "num_stages", "num_ctas", "maxnreg", "minnreg")
    return "[" + ", ".join(f"triton.Config({ {k: v for k, v in c.items() if k not in options} }, "
                           + ", ".join(f"{k}={c[k]}" for k in options if k in c) + ")" for c in configs) + "]"


def compare_search(options, name, wrong):
    arguments, grid = launches(options.device)[name]
    key = [word.split("=")[0] for word in arguments if re.match(r"\w+=\d+$", word)]
    source = KERNELS.read_text()
    with tempfile.TemporaryDirectory() as folder:
        tool = Tool(options.nereid, options.device, folder)
        listed = tool.tune(f"{KERNELS}:{name}", arguments, grid)
        bare = Path(folder) / "bare.py"
        bare.write_text(without_decorator(source, name))
        searched = tool.tune(f"{bare}:{name}", arguments, grid, "--search", "--seconds", str(options.seconds))
        # Both in one list, in one process.
        configs = [listed["config"], searched["config"]]
        both = Path(folder) / "both.py"
        both.write_text(bare.read_text().replace(f"@triton.jit\ndef {name}(", f"@triton.autotune(configs={python_list(configs)}, key={key!r})\n"
                                                 f"@triton.jit\ndef {name}("))
        ratio = 1.0
        if configs[0] != configs[1]:
            trials = {text_of(t["config"]): t for t in tool.tune(f"{both}:{name}", arguments, grid)["trials"]}
            mine, theirs = (trials[text_of(c)] for c in reversed(configs))
            if mine["state"] != "measured":
                wrong.append(f"{name}: the search's choice is {mine['state']}: {mine.get('message')}")
                return
            ratio = mine["ms"] / theirs["ms"]
    print(f"{name:20} list {listed['ms']:9.4f} ms in {listed['seconds']:6.2f} s ({len(listed['trials'])}): {text_of(listed['config'])}")
    print(f"{'':20} search {searched['ms']:7.4f} ms in {searched['seconds']:6.2f} s ({len(searched['trials'])}): {text_of(searched['config'])}; "
          f"{100 * ratio:.1f} % of the list's time")
    if ratio > 1.02:
        wrong.append(f"{name}: the search's choice takes {100 * (ratio - 1):.1f} % more than the list's")
    if searched["wall"] > 60:
        wrong.append(f"{name}: the search took {searched['wall']:.0f} s")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("nereid")
    parser.add_argument("--device", default="cuda:0")
    parser.add_argument("--only", default="")
    parser.add_argument("--skip-upstream", action="store_true")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--tutorial", type=Path, default=TUTORIAL)
    parser.add_argument("--seconds", type=int, default=50)
    parser.add_argument("--size", type=int, default=4096)
    options = parser.parse_args()
    if options.quick:
        options.seconds = min(options.seconds, 15)
    names = [name for name in options.only.split(",") if name] or ["tutorial", *launches(options.device)]
    unknown = set(names) - {"tutorial", *launches(options.device)}
    if unknown:
        parser.error(f"--only: expected {', '.join(['tutorial', *launches(options.device)])}, got {', '.join(sorted(unknown))}")
    doctor = subprocess.run([options.nereid, "doctor"], capture_output=True, text=True).stdout
    if options.device not in re.findall(r"^devices +(.*)$", doctor, re.M)[0].split(", "):
        print(f"skipped: no {options.device} here")
        return 77
    wrong = []
    for name in names:
        if name != "tutorial":
            compare_search(options, name, wrong)
        elif options.tutorial.exists() and options.device != "cpu":
            compare_with_upstream(options, wrong)
        else:
            print(f"the tutorial is left out: it needs {options.tutorial} and a GPU")
        sys.stdout.flush()
    print("\n".join(wrong) or "every bound holds")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
