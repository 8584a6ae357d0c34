#!/usr/bin/env python3
"""Compiles the project's kernels to PTX for every architecture and has ptxas,
where there is one, assemble them: no error, no spills where the kernel is bound
by memory, as many registers as minnreg asks for, and a table of source lines for
profilers. Where there is nvdisasm, check_sass.py proves of sm_90a that no product
loses its left operand or its result.

    test/gpu/assemble.py NEREID          NEREID: the program; exit status 0 or 1. Each kernel for one generation,
                                         in turn; chains of products for sm_90a
    test/gpu/assemble.py NEREID --all    each kernel for every architecture

ptxas is looked for in PATH, /usr/local/cuda/bin and .venv. For an architecture or a version of PTX that it does not
know, the PTX is only written; without one that is all that --all does, and otherwise nothing (status 77): the compilations
are those of simulated_instructions.py. Spills and serialized
products are failures with the release of TESTED, and notes with any other: they
are choices of an assembler.
"""

import dataclasses
import re
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "harness"))
import kernel_cases  # noqa: E402
from check_sass import check_text, disassemble, find_tool  # noqa: E402
from sass import Unreadable  # noqa: E402

ROOT = Path(__file__).resolve().parents[2]
TESTED = "13.0"
ARCHITECTURES = ("sm_70", "sm_75", "sm_80", "sm_86", "sm_89", "sm_90a", "sm_100a", "sm_120a")
GENERATIONS = ("sm_70", "sm_80", "sm_90a", "sm_100a", "sm_120a")
CHAINS = "test/gpu/chained_products.py"
CHAINED = "*{t}:16,*{t}:16,*{t}:16,*fp32:16,i32,{b}"

# file, kernel, signature, warps, bound by memory. Those of kernels/ stand in kernels/<op>/cases.txt.
CASES = [
    *((f"kernels/{op}/{op}.py", case.kernel, case.signature(), case["warps"], case.values.get("spills") != "may")
      for op in kernel_cases.ops() for case in kernel_cases.cases(op, "assemble")),
    ("tutorials/01_vector_add/vector_add.py", "add_kernel", "*fp32:16,*fp32:16,*fp32:16,i32:16,1024", 4, True),
    ("tutorials/01_vector_add/vector_add.py", "add_kernel", "*bf16,*bf16,*bf16,i32,1024", 4, True),
    *((CHAINS, "left_in_front", CHAINED.format(t=t, b=f'{b},"{between}"'), w, False)
      for between in ("none", "mask", "scale", "call", "loop")
      for t, b, w in (("bf16", "64,64,64", 4), ("fp16", "128,64,128", 8))),
    *((CHAINS, kernel, CHAINED.format(t="bf16", b=b), w, False)
      for kernel in ("left_of_outer_loop", "left_carried", "left_of_two", "left_of_a_branch")
      for b, w in (("64,64,64", 4), ("128,64,64", 4), ("128,64,64", 8))),
    *((CHAINS, "of_few_iterations", f"*fp16:16,*fp16:16,*fp32:16,64,64,64,{n}", w, False)
      for n in (2, 4) for w in (4, 8)),
    ("test/gpu/slices.py", "rotary", "*bf16:16,*fp32:16,*fp32:16,*bf16:16,i32,4,128", 4, True),
    ("test/gpu/slices.py", "part", "*fp32:16,*fp32:16,33,70,2,5,9,13,3,5", 4, True),
    ("test/e2e/kernels/my_kernel.py", "my_kernel", "*fp16:16,*fp16:16,i32,128", 4, True),
    ("test/e2e/kernels/matmul.py", "matmul_kernel", "*fp32,*fp32,*fp32,i32,i32,i32,i32,i32,i32,i32,i32,i32,32,64,16", 4,
     False),
]


def release_of(ptxas):
    said = subprocess.run([ptxas, "--version"], capture_output=True, text=True).stdout
    found = re.search(r"release (\d+\.\d+)", said)
    return found.group(1) if found else "unknown"


def assemble(ptxas, architecture, path):
    """An error, or what ptxas says of registers; None where it cannot tell."""
    cubin = Path(path).with_suffix(".cubin")
    run = subprocess.run([ptxas, f"-arch={architecture}", "-lineinfo", "-v", path, "-o", cubin],
                         capture_output=True, text=True)
    text = run.stdout + run.stderr
    # It does not know the architecture, any longer or yet, or the version of PTX.
    if run.returncode and re.search(r"is not defined for option|no longer supported|[Uu]nsupported (\.version|PTX)", text):
        return None
    if run.returncode == 0 and b".debug_line" not in cubin.read_bytes():
        return "error: no line table\n" + text
    return text


@dataclasses.dataclass
class Found:
    """Of one kernel for one architecture."""
    failures: list = dataclasses.field(default_factory=list)
    choices: list = dataclasses.field(default_factory=list)  # of the assembler
    is_assembled: bool = False
    products: int = 0


def look(nereid, ptxas, nvdisasm, folder, case, architecture):
    file, kernel, signature, warps, memory_bound = case
    what = f"{kernel}({signature}) num_warps={warps} {architecture}"
    path = f"{folder}/{CASES.index(case)}-{architecture}.ptx"
    run = subprocess.run([nereid, "compile", f"{ROOT}/{file}:{kernel}", "--signature", signature, "--num-warps", str(warps),
                          "--target", architecture, "--emit", "ptx", "-o", path], capture_output=True, text=True)
    if run.returncode:
        return Found([f"{what}: {run.stderr.strip()}"])
    text = assemble(ptxas, architecture, path) if ptxas else None
    if text is None:
        return Found()
    found = Found(is_assembled=True)
    spills = re.search(r"(\d+) bytes spill stores", text)
    if "error" in text or not spills:
        found.failures.append(f"{what}: {text.strip()}")
    elif memory_bound and int(spills.group(1)):
        found.choices.append(f"{what}: {spills.group(0)}")
    elif "serialized" in text:  # something touches accumulators in flight
        found.choices.append(f"{what}: {text.strip()}")
    if nvdisasm and architecture == "sm_90a" and "error" not in text:
        try:
            found.products, problems = check_text(disassemble(nvdisasm, Path(path).with_suffix(".cubin")), Path(path).read_text())
        except Unreadable as error:
            problems = [str(error)]
        found.failures += [f"{what}: {problem}" for problem in problems]
    least = re.search(r"minnreg=(\d+)", signature)
    if least and f"Used {min(int(least.group(1)), 2048 // warps)} registers" not in text:
        found.failures.append(f"{what}: {text.strip()}")
    return found


def main():
    nereid, ptxas, nvdisasm = sys.argv[1], find_tool("ptxas"), find_tool("nvdisasm")
    release = release_of(ptxas) if ptxas else None
    if not ptxas and "--all" not in sys.argv[2:]:
        print("skipped: no ptxas")
        sys.exit(77)
    if "--all" in sys.argv[2:]:
        work = [(case, architecture) for case in CASES for architecture in ARCHITECTURES]
    else:
        work = [(case, "sm_90a" if case[0] == CHAINS else GENERATIONS[number % len(GENERATIONS)])
                for number, case in enumerate(CASES)]
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(2) as pool:
        found = list(pool.map(lambda one: look(nereid, ptxas, nvdisasm, folder, *one), work))
    failures = [failure for one in found for failure in one.failures]
    choices = [choice for one in found for choice in one.choices]
    if release == TESTED:
        failures += choices
    for choice in choices if release != TESTED else []:
        print(f"note: ptxas {release}: {choice}")
    for failure in failures:
        print(failure)
    only_written = {architecture for (_, architecture), one in zip(work, found) if not one.is_assembled and not one.failures}
    print(f"{len(work)} compilations of {len(CASES)} kernels, {sum(one.is_assembled for one in found)} assembled, "
          f"{len(failures)} failed"
          + (f"; {sum(one.products for one in found)} products have a left operand in registers" if nvdisasm
             else "; no nvdisasm: products not checked")
          + (f"; written only: {', '.join(sorted(only_written))}" if only_written else ""))
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
