"""Code objects of AMD's processors, as a loader sees them, and their execution by
tinygrad's emulator (test/mockgpu/amd of its repository, which others wrote)."""

import contextlib
import ctypes
import mmap
import os
import struct
import subprocess
import sys
import types

EMULATED = {"gfx1100": "rdna3", "gfx1201": "rdna4", "gfx90a": "cdna", "gfx942": "cdna"}
ABSENT = "needs tinygrad's emulator: NEREID_TINYGRAD names no checkout of its repository with test/mockgpu/amd/emu.py"


def find_emulator():
    """run_asm, or None."""
    root = os.environ.get("NEREID_TINYGRAD", "")
    if not os.path.exists(os.path.join(root, "test/mockgpu/amd/emu.py")):
        return None
    sys.path.insert(0, root)
    # Python's own `test` is found before a folder without __init__.py.
    package = types.ModuleType("test")
    package.__path__ = [os.path.join(root, "test")]
    sys.modules["test"] = package
    # Nothing of it may look for a GPU.
    os.environ.setdefault("DEV", "CPU")
    from test.mockgpu.amd.emu import run_asm
    return run_asm


class CodeObject:
    """An ELF file of one kernel, in executable memory."""

    def __init__(self, data, kernel):
        self.data = data
        assert data[:4] == b"\x7fELF" and struct.unpack_from("<H", data, 18)[0] == 224, "no code object"
        phoff, shoff = struct.unpack_from("<QQ", data, 32)
        phsize, phnum, shsize, shnum = struct.unpack_from("<HHHH", data, 54)
        loads = []
        for i in range(phnum):
            kind, _, offset, address, _, size, memory, _ = struct.unpack_from("<IIQQQQQQ", data, phoff + i * phsize)
            if kind == 1:
                loads.append((offset, address, size, memory))
        self.memory = mmap.mmap(-1, max(address + memory for _, address, _, memory in loads) + 4096)
        for offset, address, size, _ in loads:
            self.memory[address:address + size] = data[offset:offset + size]
        self.base = ctypes.addressof(ctypes.c_char.from_buffer(self.memory))
        place = self.symbol(kernel + ".kd", shoff, shsize, shnum)
        self.shared, self.private, self.arguments = struct.unpack_from("<III", self.memory, place)
        self.entry = place + struct.unpack_from("<q", self.memory, place + 16)[0]
        self.rsrc2, self.properties = struct.unpack_from("<IH", self.memory, place + 52)
        self.size = len(self.memory) - self.entry

    def symbol(self, name, shoff, shsize, shnum):
        sections = [struct.unpack_from("<IIQQQQIIQQ", self.data, shoff + i * shsize) for i in range(shnum)]
        for _, kind, _, _, offset, size, link, _, _, each in sections:
            if kind != 11:  # SHT_DYNSYM
                continue
            names = sections[link][4]
            for at in range(offset, offset + size, each):
                text, _, _, _, value, _ = struct.unpack_from("<IBBHQQ", self.data, at)
                end = self.data.index(b"\0", names + text)
                if self.data[names + text:end].decode() == name:
                    return value
        raise AssertionError(f"no {name} in the code object")

    def user_data(self, arguments):
        """Scalar registers that the command processor fills in, in the order of the ISA's table."""
        known = {1: None, 2: None, 3: arguments, 4: None, 5: None}
        registers = [0] * 4 if self.properties & 1 else []
        for bit, value in known.items():
            if self.properties >> bit & 1:
                assert value is not None, f"the kernel wants user register {bit}, which nobody fills in"
                registers += [value & 0xffffffff, value >> 32]
        if self.properties >> 6 & 1:
            registers.append(self.private)
        return registers

    def run(self, run_asm, target, grid, threads, values):
        """`values`: of the parameters, each ("P", address) or (letter of struct, number)."""
        block = b""
        for letter, value in values:
            size = struct.calcsize("<" + letter.replace("P", "Q"))
            block += b"\0" * (-len(block) % size) + struct.pack("<" + letter.replace("P", "Q"), value)
        block += b"\0" * (-len(block) % 8)
        # Hidden arguments: counts of workgroups, their sizes, the rest.
        block += struct.pack("<IIIHHHHHH", *grid, threads, 1, 1, 0, 0, 0)
        block += b"\0" * (len(block) + 256)
        buffer = ctypes.create_string_buffer(block, len(block))
        address = ctypes.addressof(buffer)
        granules = (self.shared + 511) // 512
        rsrc2 = self.rsrc2 & ~(0x1ff << 15) | granules << 15
        run_asm(self.base + self.entry, self.size, *grid, threads, 1, 1, address, rsrc2, self.private, EMULATED[target],
                self.user_data(address))


@contextlib.contextmanager
def compiled(nereid, folder, file, kernel, signature, warps, target, extra=()):
    path = os.path.join(folder, f"{kernel}-{target}.hsaco")
    run = subprocess.run([nereid, "compile", f"{file}:{kernel}", "--signature", signature, "--num-warps", str(warps),
                          "--target", target, "--emit", "hsaco", "-o", path, *extra], capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    with open(path, "rb") as stream:
        yield CodeObject(stream.read(), kernel)
