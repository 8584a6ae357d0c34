#!/usr/bin/env python3
"""Proves on machine code that wgmma multiplies what the program says.

    test/gpu/check_sass.py [--ptxas PTXAS] [--nvdisasm NVDISASM] PATH...

PATH: .cubin; .ptx, which ptxas assembles first; .sass, what `nvdisasm -c -lrm
narrow` prints; or a folder of them, such as a program's NEREID_DUMP. Exit status
0: no violation; 1: violations, or code that cannot be judged; 77: no nvdisasm,
or no ptxas where one is needed.

A product (HGMMA, IGMMA, QGMMA) may take its left operand from four registers.
ptxas up to 13.2 gives such registers to other values although they are still
wanted. Two rules, for each of the registers of a left operand:

  one place   every definition that reaches the product is in one basic block,
              and one of them always takes place. An operand that lives through
              a loop and is overwritten in it has two: the one in front of the
              loop, and the one that comes round.
  in flight   from the product to the wait that covers it nothing writes it.

The first is stricter than the language: an operand that two branches assign, or
that an iteration hands to the next, breaks it too. The compiler keeps those in
shared memory (docs/TileGPUToLLVM.md). Not seen: a definition that is wrong, but
the only one, in the block of the product.

ptxas also unrolls loops around products, and then takes an expression of one
product's result for the same expression of the next one's. One rule, for each
register of a result:

  wanted      something reads it before it is overwritten. Results that the PTX
              does not read either, as under a mask known while compiling, are
              known from the operands of its wgmma; without PTX they break the rule.

Of ptxas 12.8 alone: the descriptor that says where in shared memory an operand
lies is computed from a register without a value. One rule, for each register
that a descriptor is computed from:

  written     something writes it on a way from the kernel's entry to its reader.
"""

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import sass

ROOT = Path(__file__).resolve().parents[2]
PRODUCT = re.compile(r"^[HIQ]GMMA$")
OPERAND_REGISTERS = 4  # of a left operand, whatever its type
SKIPPED = 77


def left_operand(instruction):
    """The registers of a product's left operand; none where it is in shared memory."""
    if not PRODUCT.match(instruction.name):
        return []
    operands = [text.strip() for text in instruction.operands.split(",")]
    found = re.match(r"R(\d+)\b", operands[1])
    first = int(found.group(1)) if found else None
    return [] if first is None else [f"R{first + i}" for i in range(OPERAND_REGISTERS)]


def descriptors(instruction):
    """The uniform registers of a product's descriptors: two for an operand in
    shared memory. Those of a left operand in registers are not used."""
    found = re.search(r"gdesc\[UR(\d+)\]", instruction.operands) if PRODUCT.match(instruction.name) else None
    first = 2 if left_operand(instruction) else 0
    return [f"UR{int(found.group(1)) + i}" for i in range(first, 4)] if found else []


def always(instruction):
    return not instruction.predicate and instruction.name != "CALL"


def opposite(predicate):
    return predicate[1:] if predicate.startswith("!") else "!" + predicate


def definitions(function, at, register):
    """Positions of the writes of `register` that may be its last before `at`; -1
    for the function's entry."""
    found, seen = set(), set()
    work = [(before, frozenset()) for before in function.predecessors[at]] or [(-1, frozenset())]
    while work:
        state = work.pop()
        position, guards = state
        if state in seen:
            continue
        seen.add(state)
        if position < 0:
            found.add(-1)
            continue
        instruction = function.instructions[position]
        if register in instruction.writes:
            found.add(position)
            # Under a predicate and under its opposite is always.
            if always(instruction) or opposite(instruction.predicate) in guards:
                continue
            guards = guards | {instruction.predicate}
        guards = frozenset(guard for guard in guards if guard.lstrip("!") not in instruction.writes)
        work += [(before, guards) for before in function.predecessors[position]] or [(-1, guards)]
    return found


def several_places(function, at, register):
    """The definitions that reach a product, if they are in more than one place."""
    found = sorted(definitions(function, at, register))
    blocks = {function.instructions[position].block if position >= 0 else -1 for position in found}
    return found if len(blocks) > 1 or -1 in blocks else []


def writes_in_flight(function, at, registers):
    """Positions of writes of `registers` between a product and its wait."""
    found, seen = set(), set()
    ends = "gsb0" in function.instructions[at].operands
    work = [(next_, ends, 0) for next_ in function.instructions[at].successors]
    while work:
        state = work.pop()
        if state in seen:
            continue
        seen.add(state)
        position, ended, younger = state
        instruction = function.instructions[position]
        if instruction.opcode.startswith("WARPGROUP.DEPBAR"):
            pending = int(instruction.operands.split(",")[-1].strip(), 0)
            if ended and younger >= pending:
                continue
        if instruction.writes.intersection(registers):
            found.add(position)
        if PRODUCT.match(instruction.name) and "gsb0" in instruction.operands:
            younger += ended
            ended = True
        work += [(next_, ended, min(younger, 8)) for next_ in instruction.successors]
    return sorted(found)


def never_read(function, at):
    """Registers of a product's result that nothing reads before they are overwritten."""
    wanted = {name for name in function.instructions[at].writes if re.match(r"R\d", name)}
    seen, work = set(), [(next_, register) for next_ in function.instructions[at].successors for register in wanted]
    while work:
        state = work.pop()
        position, register = state
        if state in seen or register not in wanted:
            continue
        seen.add(state)
        instruction = function.instructions[position]
        if register in instruction.reads:
            wanted.discard(register)
        elif register not in instruction.writes or not always(instruction):
            work += [(next_, register) for next_ in instruction.successors]
    return sorted(wanted, key=lambda name: int(name[1:]))


def unread_in_ptx(text):
    """Positions of accumulators, by their number, that some wgmma of a PTX text
    has and that no other instruction reads. A text per kernel is assumed."""
    products = re.findall(r"wgmma\.mma_async[^{;]*\{([^}]*)\}", text)
    sums = [[name.strip() for name in product.split(",")] for product in products]
    names = {name for product in sums for name in product}
    read = set()
    for line in text.splitlines():
        code = line.split("//")[0]
        if "wgmma.mma_async" in code:
            continue
        operands = re.findall(r"%[a-z]+\d+", code)
        # The first operand is written, but for a predicate, a store and a branch.
        if operands and not re.match(r"\s*(@|st\.|red\.|\})", code):
            operands = operands[1:]
        read.update(names.intersection(operands))
    return {(len(product), i) for product in sums for i, name in enumerate(product) if name not in read}


def never_written(function):
    """Reads of what nothing has written, among all that the descriptors of the
    function's products are computed from."""
    if not any(PRODUCT.match(instruction.name) for instruction in function.instructions):
        return []
    sass.connect(function)
    found, seen = set(), set()
    begun_here = sass.reachable(function, 0)  # an argument of a callee is written by its callers
    work = [(at, register) for at, instruction in enumerate(function.instructions) if at in begun_here
            for register in instruction.reads.intersection(descriptors(instruction))]
    while work:
        read = work.pop()
        if read in seen:
            continue
        seen.add(read)
        places = definitions(function, *read)
        if places == {-1}:
            found.add(read)
        work += [(place, register) for place in places if place >= 0 for register in function.instructions[place].reads]
    return [f"{function.name}: {function.instructions[at]}\n  a descriptor is computed from {register}, which nothing has written"
            for at, register in sorted(found)]


def lost_results(function, at, unread):
    instruction = function.instructions[at]
    results = sorted((int(name[1:]) for name in instruction.writes if re.match(r"R\d", name)))
    return [name for name in never_read(function, at)
            if (len(results), int(name[1:]) - results[0]) not in unread]


def check(function, unread=frozenset()):
    """Products with a left operand in registers, and what is wrong with all products.
    `unread`: what unread_in_ptx says of the same code."""
    products, problems = 0, never_written(function)
    for at, instruction in enumerate(function.instructions):
        if PRODUCT.match(instruction.name):
            lost = lost_results(function, at, unread)
            if lost:
                problems.append(f"{function.name}: {instruction}\n  results that nothing reads: {' '.join(lost)}")
        registers = left_operand(instruction)
        products += bool(registers)

        def listed(positions):
            return "".join("\n    " + (str(function.instructions[i]) if i >= 0 else "(entry: never written)")
                           for i in positions)

        for register in registers:
            found = several_places(function, at, register)
            if found:
                problems.append(f"{function.name}: {instruction}\n  {register} is defined in several places:{listed(found)}")
        written = writes_in_flight(function, at, registers) if registers else []
        if written:
            problems.append(f"{function.name}: {instruction}\n  written while the product reads it:{listed(written)}")
    return products, problems


def check_text(text, ptx=""):
    """Of a disassembly, and of the PTX it was made of where there is one."""
    products, problems, unread = 0, [], unread_in_ptx(ptx)
    for function in sass.parse(text):
        count, found = check(function, unread)
        products += count
        problems += found
    return products, problems


#===-- Tools -----------------------------------------------------------------===#


def find_tool(name):
    """In $NAME, in PATH, in /usr/local/cuda, or of a Python package in .venv."""
    given = os.environ.get(name.upper())
    folders = [path.parent for pattern in ("nvidia/*/bin", "triton/backends/nvidia/bin")
               for path in sorted((ROOT / ".venv").glob(f"lib/python*/site-packages/{pattern}/{name}"))]
    return given or shutil.which(name) or shutil.which(name, path=os.pathsep.join(["/usr/local/cuda/bin", *map(str, folders)]))


def disassemble(nvdisasm, cubin):
    run = subprocess.run([nvdisasm, "-c", "-lrm", "narrow", str(cubin)], capture_output=True, text=True)
    if run.returncode:
        raise sass.Unreadable(f"nvdisasm: {run.stderr.strip()}")
    return run.stdout


def assemble(ptxas, ptx, cubin):
    architecture = re.search(r"^\s*\.target\s+(\w+)", ptx.read_text(), re.M)
    if not architecture:
        raise sass.Unreadable("no PTX: .target is missing")
    run = subprocess.run([ptxas, f"-arch={architecture.group(1)}", str(ptx), "-o", str(cubin)], capture_output=True, text=True)
    if run.returncode:
        raise sass.Unreadable(f"ptxas: {run.stderr.strip()}")


def check_file(path, ptxas, nvdisasm, folder):
    """Of a .sass, .cubin or .ptx."""
    if path.suffix == ".sass":
        return check_text(path.read_text())
    if path.suffix == ".ptx":
        if "wgmma.mma_async" not in path.read_text():
            return 0, []
        cubin = Path(folder) / "kernel.cubin"
        assemble(ptxas, path, cubin)
        return check_text(disassemble(nvdisasm, cubin), path.read_text())
    return check_text(disassemble(nvdisasm, path))


def main():
    parser = argparse.ArgumentParser(description="Checks the left operands of wgmma in machine code.")
    parser.add_argument("paths", nargs="+", metavar="PATH", type=Path)
    parser.add_argument("--ptxas", default=find_tool("ptxas"))
    parser.add_argument("--nvdisasm", default=find_tool("nvdisasm"))
    options = parser.parse_args()
    files = []
    for path in options.paths:
        files += sorted(p for p in path.rglob("*") if p.suffix in (".sass", ".cubin", ".ptx")) if path.is_dir() else [path]
    suffixes = {file.suffix for file in files}
    if not options.ptxas and ".ptx" in suffixes:
        print("skipped: no ptxas")
        sys.exit(SKIPPED)
    if not options.nvdisasm and suffixes & {".ptx", ".cubin"}:
        print("skipped: no nvdisasm; scripts/test-venv installs it")
        sys.exit(SKIPPED)
    kernels = products = failed = 0
    with tempfile.TemporaryDirectory() as folder:
        for file in files:
            try:
                count, problems = check_file(file, options.ptxas, options.nvdisasm, folder)
            except sass.Unreadable as error:
                count, problems = 0, [str(error)]
            kernels += 1
            products += count
            failed += bool(problems)
            for problem in problems:
                print(f"{file}: {problem}")
    print(f"{kernels} files, {products} products with a left operand in registers, {failed} files with violations")
    sys.exit(1 if failed or not files else 0)


if __name__ == "__main__":
    main()
