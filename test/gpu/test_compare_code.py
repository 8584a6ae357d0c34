#!/usr/bin/env python3
"""Tests of bench/compare_code.py without PyTorch: test_compare_code.py NEREID"""

import shutil
import sys
import tempfile
import unittest
from pathlib import Path
from types import SimpleNamespace

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "bench"))
import compare_code  # noqa: E402

NEREID = sys.argv.pop(1)
KERNEL = """
import triton
import triton.language as tl

@triton.jit
def kernel(x, y, z, n, m, one, eps, on, BLOCK: tl.constexpr, FLAG: tl.constexpr, LATE: tl.constexpr = 4):
    pass
"""
ADD = (ROOT / "kernels/vector_add/vector_add.py", "add_kernel", "*fp32:16, *fp32:16, *fp32:16, i32, BLOCK=1024", 4, 3)
COST = dict(registers=128, spilled=8, shared=1024, blocks=4)


class Signature(unittest.TestCase):
    def test_every_kind_of_argument(self):
        arguments = dict(x=SimpleNamespace(type="fp16"), y=None, z=SimpleNamespace(type="bf16"), n=4096, m=1 << 40, one=1,
                         eps=1.0, on=True, BLOCK=64, FLAG=True)
        with tempfile.NamedTemporaryFile("w", suffix=".py") as file:
            file.write(KERNEL)
            file.flush()
            text = compare_code.signature(file.name, "kernel", arguments, lambda value: getattr(value, "type", None))
        self.assertEqual(text, "x=*fp16:16, y=None, z=*bf16:16, n=i32:16, m=i64:16, one=1, eps=fp32, on=i1, BLOCK=64, "
                               "FLAG=True, LATE=4")

    def test_a_kernel_that_the_file_lacks(self):
        with self.assertRaisesRegex(LookupError, "has no kernel nothing"):
            compare_code.parameters_of(ADD[0], "nothing")


class Judgement(unittest.TestCase):
    def test_what_is_worse(self):
        self.assertFalse(compare_code.is_worse(COST, COST))
        self.assertFalse(compare_code.is_worse(COST, dict(COST, registers=255, shared=2048, spilled=0, blocks=5)))
        self.assertTrue(compare_code.is_worse(COST, dict(COST, spilled=12)))
        self.assertTrue(compare_code.is_worse(COST, dict(COST, spilled=0, blocks=3)))

    def test_a_line_says_what_changed(self):
        text = compare_code.line("case", "kernel", COST, dict(COST, blocks=3))
        self.assertEqual(text, "worse case kernel: registers 128, spilled 8, shared 1024, blocks 4 -> 3")


class Compiling(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.compiler = compare_code.Compiler(NEREID, "sm_90a", "", folder.name)

    def test_ptx_says_nothing_of_lines(self):
        text = self.compiler.ptx(ADD)
        self.assertIn(".entry add_kernel", text)
        self.assertNotIn(".loc", text)

    @unittest.skipUnless(shutil.which("ptxas"), "no ptxas")
    def test_the_command_line_tells_the_cost(self):
        cost = self.compiler.cost(ADD)
        self.assertEqual((cost["spilled"], cost["shared"]), (0, 0))
        self.assertGreater(cost["registers"], 8)
        self.assertGreaterEqual(cost["blocks"], 8)

    def test_what_does_not_compile_is_an_error(self):
        with self.assertRaisesRegex(RuntimeError, "add_kernel"):
            self.compiler.ptx((*ADD[:2], "*fp32:16", 4, 3))


if __name__ == "__main__":
    unittest.main()
