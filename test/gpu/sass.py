"""NVIDIA's machine code as `nvdisasm -c -lrm narrow` prints it: instructions, the
registers that each reads and writes, and the control flow between them.

Which registers an instruction reads or writes is not taken from its operands,
whose widths depend on the opcode, but from the table of live ranges that
nvdisasm prints beside the code: a column a register, `^` for a write, `v` for a
read, `x` for both.
"""

import re
from dataclasses import dataclass, field

CODE = re.compile(r"^\s*/\*([0-9a-f]{4,})\*/\s+(?:@(!?U?P[0-9T]+)\s+)?([A-Z][A-Za-z0-9_.]*)\s*(.*?)\s*;?\s*$")
LABEL = re.compile(r"^([.$\w]+):\s*$")
TARGET = re.compile(r"`\(([^()]+)\)")
# Continue elsewhere, and the next table says how.
BRANCHES = {"BRA", "JMP", "CALL", "RET", "EXIT", "BSYNC", "BRX", "JMX", "BREAK", "KILL", "RTT"}
GUESSED = {"BRX", "JMX", "RTT"}  # computed targets


class Unreadable(Exception):
    """A text that is no disassembly with live ranges, or code whose flow is unknown."""


@dataclass
class Instruction:
    address: int
    predicate: str  # "", "P0", "!P0"
    opcode: str
    operands: str
    reads: set = field(default_factory=set)  # "R12", "P0", "UR4"
    writes: set = field(default_factory=set)
    successors: list = field(default_factory=list)  # positions in the function
    block: int = -1  # position of the first instruction of its basic block

    @property
    def name(self):
        return self.opcode.split(".")[0]

    def __str__(self):
        guard = f"@{self.predicate} " if self.predicate else ""
        return f"/*{self.address:04x}*/ {guard}{self.opcode} {self.operands}".rstrip()


@dataclass
class Function:
    name: str
    instructions: list = field(default_factory=list)
    labels: dict = field(default_factory=dict)  # name -> position
    predecessors: list = field(default_factory=list)


def columns(head):
    """Registers by the column of their marks, from the lines above a table: the
    names of the groups, then the registers' numbers, written downwards."""
    groups, digits = [], []
    for line in head:
        cells = line.split("|")
        if any(name in line for name in ("GPR", "PRED")):
            groups = [cell.strip() for cell in cells]
        elif re.search(r"\d", line):
            digits.append(line)
    prefix = {"GPR": "R", "PRED": "P", "UGPR": "UR", "UPRED": "UP"}
    if not digits or not groups:
        raise Unreadable("no table of live ranges: disassemble with nvdisasm -c -lrm narrow")
    found, start = {}, 0
    for number, cell in enumerate(digits[-1].split("|")):
        name = prefix.get(groups[number]) if number < len(groups) else None
        first = start + len(cell) - len(cell.lstrip(" #"))  # after the column of counts
        for at in range(first, start + len(cell)):
            text = "".join(line[at] if at < len(line) else " " for line in digits).strip()
            if name and text.isdigit():
                found[at] = name + str(int(text))
        start += len(cell) + 1
    return found


def parse(text):
    """The functions of a disassembly; `connect` tells their control flow."""
    functions, head, marks = [], [], {}
    for line in text.splitlines():
        section = re.match(r"\s*\.section\s+\.text\.([^,\s]+)", line)
        if section:
            functions.append(Function(section.group(1).strip('"')))
            head, marks = [], {}
            continue
        code, _, table = line.partition("// ")
        if not functions:
            continue
        if not code.strip():
            head.append(table)
            continue
        if head and not marks:
            marks = columns(head)
        function = functions[-1]
        label = LABEL.match(code.strip())
        if label:
            function.labels[label.group(1)] = len(function.instructions)
            continue
        instruction = CODE.match(code)
        if not instruction:
            continue
        if not marks:
            raise Unreadable("no table of live ranges: disassemble with nvdisasm -c -lrm narrow")
        address, predicate, opcode, operands = instruction.groups()
        made = Instruction(int(address, 16), predicate or "", opcode, operands)
        for at, register in marks.items():
            mark = table[at] if at < len(table) else " "
            if mark in "^x":
                made.writes.add(register)
            if mark in "vx":
                made.reads.add(register)
        function.instructions.append(made)
    functions = [function for function in functions if function.instructions]
    if not functions:
        raise Unreadable("no code")
    return functions


def target(function, instruction):
    found = TARGET.search(instruction.operands)
    if not found or found.group(1) not in function.labels:
        raise Unreadable(f"{function.name}: no target: {instruction}")
    return function.labels[found.group(1)]


def connect(function):
    """Successors, predecessors and basic blocks. A call is followed by what comes
    after it, and writes, perhaps, what its callee writes."""
    code = function.instructions
    opened = {}  # register of a convergence barrier -> where its threads meet
    for instruction in code:
        if instruction.name == "BSSY":
            barrier = instruction.operands.split(",")[0].strip()
            opened.setdefault(barrier, set()).add(target(function, instruction))
    calls = []
    for at, instruction in enumerate(code):
        name, following = instruction.name, [at + 1] if at + 1 < len(code) else []
        if name in GUESSED:
            raise Unreadable(f"{function.name}: a computed target: {instruction}")
        if name in ("BRA", "JMP"):
            # BRA.DIV goes where some threads of a warp are elsewhere.
            always = (not instruction.predicate and instruction.operands.strip().startswith("`")
                      and ".DIV" not in instruction.opcode)
            instruction.successors = [target(function, instruction)] + ([] if always else following)
        elif name == "CALL":
            calls.append((instruction, target(function, instruction)))
            instruction.successors = following
        elif name == "BSYNC":
            meets = opened.get(instruction.operands.strip(), set())
            instruction.successors = following if not meets or at + 1 in meets else sorted(meets)
            if instruction.predicate:
                instruction.successors = sorted({*instruction.successors, *following})
        elif name in ("EXIT", "RET", "KILL"):
            instruction.successors = following if instruction.predicate else []
        else:
            instruction.successors = following
    callees = [(instruction, reachable(function, start)) for instruction, start in calls]
    for _ in callees:  # a callee may call another
        for instruction, body in callees:
            instruction.writes.update(*(code[position].writes for position in body))
    function.predecessors = [[] for _ in code]
    for at, instruction in enumerate(code):
        for next_ in instruction.successors:
            function.predecessors[next_].append(at)
    starts = set(function.labels.values()) | {0}
    for at, instruction in enumerate(code):
        joined = at and function.predecessors[at] == [at - 1] and code[at - 1].successors == [at]
        instruction.block = code[at - 1].block if joined and at not in starts else at


def reachable(function, start):
    seen, work = set(), [start]
    while work:
        at = work.pop()
        if at not in seen:
            seen.add(at)
            work.extend(function.instructions[at].successors)
    return seen
