"""The kernels of this folder and their launches, arguments as `nereid run` and `nereid explain` take them.

Half of them waste something on purpose: a line that ends in `# KERNEL: words` is what a hint with these words names. Each
has a fixed form, which does the same work. What is bound by memory uses far more of it than the second-level cache holds.
"""

import json
import subprocess
from dataclasses import dataclass
from pathlib import Path

FOLDER = Path(__file__).resolve().parent


@dataclass
class Case:
    file: str
    kernel: str
    arguments: str
    grid: str
    bound: str = "memory"  # else products
    programs: int = 128  # of the grid, that are simulated

    @property
    def is_fixed(self):
        return self.kernel.endswith("_fixed")

    @property
    def losses(self):
        """Lines, and the words that a hint at each has."""
        mark = f"  # {self.kernel}: "
        lines = enumerate((FOLDER / self.file).read_text().splitlines(), 1)
        return [(number, line.split(mark)[1]) for number, line in lines if mark in line]

    def command(self, nereid, verb):
        return [nereid, verb, f"{FOLDER / self.file}:{self.kernel}", *self.arguments.split(), "--grid", self.grid]

    def explain(self, nereid, *options):
        """The report of `nereid explain --json`."""
        command = self.command(nereid, "explain") + ["--programs", str(self.programs), "--json", "-", *options]
        return json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def pair(file, kernel, slow, fixed, *more):
    return [Case(file, kernel, *slow, *more), Case(file, kernel + "_fixed", *fixed, *more)]


def same(arguments, grid):
    return (arguments, grid), (arguments, grid)


RECORDS = "x_ptr=zeros:f32[67108864] y_ptr=zeros:f32[67108864] n=8388608 C=8 BLOCK=1024"
TABLE = "table_ptr=zeros:f32[134217760] out_ptr=zeros:f32[4194304] rows=4194304 D=16 BLOCK=256"
SQUARE = "x_ptr=zeros:f32[67108864] y_ptr=zeros:f32[67108864] M=8192 N=8192"
TILES = "x_ptr=zeros:f32[67108864] y_ptr=zeros:f32[67108864] R=128 C=32"
FIELD = "x_ptr=zeros:f32[134217728] y_ptr=zeros:f32[16777216] n=16777216 BLOCK=1024"
ROWS = "x_ptr=randn:f32[2048,32768] y_ptr=zeros:f32[2048,32768] N=32768"
SUM = "x_ptr=zeros:f32[134217728] out_ptr=zeros:f32[1] BLOCK=1024"
UPDATES = "x_ptr=zeros:f32[67108864] out_ptr=zeros:f32[67108864] R=8192 C=8192"
BYTES = "x_ptr=zeros:i8[{0}] y_ptr=zeros:i8[{0}] z_ptr=zeros:i8[{0}] n={0} BLOCK=4096"
SHORT = "x_ptr=zeros:f32[67108864] out_ptr=zeros:f32[1048576] N=64"
SINGLE = "a_ptr=randn:f32[2048,2048] b_ptr=randn:f32[2048,2048] c_ptr=zeros:f32[2048,2048] N=2048"
HALF = "a_ptr=randn:f16[4096,4096] b_ptr=randn:f16[4096,4096] c_ptr=zeros:f16[4096,4096] N=4096"

CASES = [
    *pair("strided.py", "strided", *same(RECORDS, "8192")),
    *pair("misaligned.py", "misaligned", *same(TABLE, "16384")),
    *pair("transposed.py", "transposed", (SQUARE + " BLOCK=1024", "8192,8"), (SQUARE + " BLOCK=64", "128,128")),
    *pair("conflicts.py", "conflicts", *same(TILES, "16384")),
    *pair("partial.py", "partial", *same(FIELD, "16384")),
    *pair("spills.py", "spills", (ROWS, "2048"), (ROWS + " num_warps=16", "2048")),
    *pair("programs.py", "programs", (SUM + " part=8388608", "16"), (SUM + " part=65536", "2048")),
    *pair("atomics.py", "atomics", (UPDATES + " BLOCK=1024", "8192,8"), (UPDATES + " BLOCK=64", "128,128")),
    *pair("narrow.py", "narrow", (BYTES.format(268435455), "65536"), (BYTES.format(268435456), "65536")),
    *pair("masked.py", "masked", (SHORT + " BLOCK=1024", "1048576"), (SHORT + " BLOCK=64 ROWS=32", "32768")),
    *pair("products.py", "ieee", *same(SINGLE + " BM=64 BN=64 BK=32", "32,32"), "products", 8),
    *pair("products.py", "unstaged", (HALF + " BM=128 BN=128 BK=64 num_warps=8 num_stages=1", "32,32"),
          (HALF + " BM=128 BN=128 BK=64 num_warps=8 num_stages=4", "32,32"), "products", 8),
]
