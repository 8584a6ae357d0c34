#!/usr/bin/env python3
"""Tests of run_upstream.py and upstream_mistakes.py, with an installed Triton and no GPU; 77 without Triton."""
import contextlib
import json
import os
import pathlib
import re
import struct
import subprocess
import sys
import tempfile
import unittest
from unittest import mock

try:
    import torch  # noqa: F401
    import triton
    import triton.language as tl
except ImportError as error:
    print(f"skipped: {error}")
    sys.exit(77)

import run_upstream
import upstream_mistakes
import check_sass  # from a folder that upstream_mistakes adds


@triton.jit
def takes_the_other(out, n):
    a = tl.program_id(0)
    b = a
    for i in range(n):
        a, b = b, i
    tl.store(out, a)


@triton.jit
def takes_the_other_while(out, n):
    a = tl.program_id(0)
    b = a
    i = 0
    while i < n:
        a = b
        b = n
        i += 1
    tl.store(out, a)


@triton.jit
def of_few_iterations(p, q, out):
    row, column = tl.arange(0, 64)[:, None], tl.arange(0, 64)[None, :]
    total = tl.zeros([64, 64], tl.float32)
    for i in range(3):
        s = tl.dot(tl.load(p + i * 4096 + row * 64 + column), tl.load(q + i * 4096 + row * 64 + column))
        if i > 0:
            s += tl.where(row >= column, 0.0, -8.0)
        total += s
    tl.store(out + row * 64 + column, total)


@triton.jit
def of_16_columns(p, q, out):
    row, column = tl.arange(0, 64)[:, None], tl.arange(0, 64)[None, :]
    few = tl.arange(0, 16)[None, :]
    left = tl.load(p + row * 64 + column)
    total = tl.zeros([64, 16], tl.float32)
    for i in range(3):
        s = tl.dot(left, tl.load(p + i * 4096 + row * 64 + column))
        total += tl.dot(s.to(tl.bfloat16), tl.load(q + i * 1024 + row * 16 + few))
    tl.store(out + row * 16 + few, total)


def machine_code(kernel, **options):
    """The cubin and its PTX, for an H100. `p`, `q` and `out` are aligned to 16 bytes."""
    source = triton.compiler.ASTSource(fn=kernel, signature={"p": "*bf16", "q": "*bf16", "out": "*fp32"}, constexprs={},
                                       attrs={(i, ): [["tt.divisibility", 16]] for i in range(3)})
    target = triton.backends.compiler.GPUTarget("cuda", 90, 32)
    code = triton.compile(source, target=target, options={"num_warps": 4} | options).asm
    return code["cubin"], code["ptx"]


def lost_results(cubin, ptx):
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder, "kernel.cubin")
        path.write_bytes(cubin)
        text = check_sass.disassemble(triton.knobs.nvidia.nvdisasm.path, path)
    return [problem for problem in check_sass.check_text(text, ptx)[1] if "results that nothing reads" in problem]


def stored_by(kernel):
    """What the last store of the kernel's first IR stores: the name of a value."""
    source = triton.compiler.ASTSource(fn=kernel, signature={"out": "*i32", "n": "i32"}, constexprs={})
    target = triton.backends.compiler.GPUTarget("cuda", 90, 32)
    text = triton.compile(source, target=target).asm["ttir"]
    return re.search(r"tt\.store %out, %(\w+(?:#\d+)?)", text)[1], re.search(r"%(\w+)\S* = tt\.get_program_id", text)[1]


class MistakesTest(unittest.TestCase):

    def test_loops_carry_what_they_assign(self):
        for kernel in (takes_the_other, takes_the_other_while):
            with upstream_mistakes.own_cache():
                stored, program = stored_by(kernel)
                self.assertEqual(stored, program)  # the mistake: not what the loop gives
            with upstream_mistakes.own_cache(), upstream_mistakes.loops_carry_what_they_assign():
                stored, program = stored_by(kernel)
                self.assertNotEqual(stored, program)


    def test_loops_stay_rolled(self):
        with upstream_mistakes.own_cache():
            self.assertEqual(len(lost_results(*machine_code(of_few_iterations))), 1)
        with upstream_mistakes.own_cache(), upstream_mistakes.loops_stay_rolled():
            self.assertEqual(lost_results(*machine_code(of_few_iterations)), [])

    def test_a_descriptor_of_a_register_without_a_value(self):
        with upstream_mistakes.own_cache():
            self.assertTrue(upstream_mistakes.computes_no_descriptor(machine_code(of_16_columns, num_stages=1)[0]))
            self.assertFalse(upstream_mistakes.computes_no_descriptor(machine_code(of_few_iterations)[0]))

    def test_what_is_no_machine_code_shows_nothing(self):
        self.assertFalse(upstream_mistakes.computes_no_descriptor(b"no cubin"))


class DifferenceTest(unittest.TestCase):

    def check(self, actual, errors):
        expected = {
            "hex": struct.pack("<2f", 1, 2).hex(),
            "values": struct.pack("<2d", 1, 0).hex(),
            "errors": struct.pack("<2d", *errors).hex()
        }
        return run_upstream.difference("x", "fp32", expected, struct.pack("<2f", *actual))

    def test_values_within_the_error_agree(self):
        self.assertIsNone(self.check((1.125, 2), (0.25, float("nan"))))
        self.assertIn("x[0]", self.check((1.5, 2), (0.25, float("nan"))))

    def test_where_nothing_is_stored_the_bits_stay(self):
        self.assertIn("x[1]: expected 0x40000000, got 0x0", self.check((1, 0), (0.25, float("nan"))))


class JudgeTest(unittest.TestCase):
    """What follows a first run: `runs` says what a run gives, by its options and whether a mistake is fixed."""

    def judge(self, runs):
        is_fixed = []

        def run_one(folder, name, device, options, log):
            return runs(options, bool(is_fixed))

        @contextlib.contextmanager
        def fixed():
            is_fixed.append(True)
            yield
            is_fixed.pop()

        with mock.patch.object(run_upstream, "run_one", run_one), \
             mock.patch.object(run_upstream, "MISTAKES", {"forgets": fixed}):
            return run_upstream.judge(pathlib.Path(), "k1", "cuda", 4, "")

    def test_a_difference_that_a_fixed_mistake_removes(self):
        self.assertEqual(self.judge(lambda options, is_fixed: ("agrees", "") if is_fixed else ("differs", "x[0]")),
                         ("mistake", "forgets"))

    def test_any_other_difference(self):
        self.assertEqual(self.judge(lambda options, is_fixed: ("differs", "x[0]")), ("differs", "x[0]"))

    def test_a_pass_that_fails_on_pipelining(self):
        failed = "RuntimeError: PassManager::run failed"

        def runs(outcome):
            return lambda options, is_fixed: outcome if options.get("num_stages") == 1 else ("refused", failed)

        self.assertEqual(self.judge(runs(("agrees", ""))), ("unstaged", failed))
        self.assertEqual(self.judge(runs(("differs", "x[0]"))), ("differs", "x[0]"))
        self.assertEqual(self.judge(runs(("mistake", "no descriptor"))), ("mistake", "no descriptor"))
        self.assertEqual(self.judge(runs(("refused", "again"))), ("refused", failed))

    def test_a_difference_of_language_is_not_tried_again(self):
        self.assertEqual(self.judge(lambda options, is_fixed: ("refused", "no " + ",".join(options))),
                         ("refused", "no num_warps"))


class RunTest(unittest.TestCase):
    """One run, of a kernel that stores nothing where 1 is expected."""

    def run_one(self, cubin):
        compiled = mock.Mock(asm={"cubin": cubin})
        kernel = {(1, 1, 1): lambda **arguments: compiled}
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            argument = {"tensor": {"dtype": "i32", "shape": [1], "storage": 0}}
            launch = {"grid": [1, 1, 1], "storages": [{"hex": "00000000"}], "arguments": {"x": argument}}
            (folder / "k.json").write_text(json.dumps(launch))
            (folder / "k.check.json").write_text(json.dumps({"x": {"hex": "01000000"}}))
            with mock.patch.object(run_upstream, "load_kernel", lambda path: kernel):
                return run_upstream.run_one(folder, "k", "cpu", {}, "")

    def test_a_difference(self):
        self.assertEqual(self.run_one(b"no cubin"), ("differs", "x[0]: expected 0x1, got 0x0 (1 of 1 elements)"))

    def test_a_difference_of_wrong_machine_code(self):
        with upstream_mistakes.own_cache():
            cubin, _ = machine_code(of_16_columns, num_stages=1)
        self.assertEqual(self.run_one(cubin), ("mistake", upstream_mistakes.COMPUTES_NO_DESCRIPTOR))


class OutcomesTest(unittest.TestCase):
    kernels = {
        "agrees": "tl.store(x, 1)",
        "refuses": "tl.no_such_function(x)",
        "dies": "tl.store(x, 3)\nimport os\nos.abort()",
        "agrees_too": "tl.store(x, 2)",
    }

    def test_a_death_loses_only_its_kernel(self):
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            for kernel, statement in self.kernels.items():
                (folder / f"{kernel}.py").write_text("import triton\n"
                                                     "import triton.language as tl\n"
                                                     "@triton.jit\n"
                                                     f"def kernel(x):\n    {statement}\n")
                (folder / f"{kernel}.check.json").write_text("{}")
                (folder / f"{kernel}.json").write_text(
                    json.dumps({
                        "grid": [1, 1, 1],
                        "storages": [{
                            "hex": "00000000"
                        }],
                        "arguments": {
                            "x": {
                                "tensor": {
                                    "dtype": "i32",
                                    "shape": [1],
                                    "storage": 0
                                }
                            }
                        }
                    }))
            script = pathlib.Path(run_upstream.__file__)
            ran = subprocess.run([sys.executable, script, folder, "--compile", "sm_90", "--jobs", "1"],
                                 env=os.environ | {"TRITON_CACHE_DIR": str(folder / "cache")}, capture_output=True,
                                 text=True)
        self.assertIn("dies died: exit code -6", ran.stdout)
        self.assertRegex(ran.stdout, "refused 1 times, as refuses: .*no_such_function")
        self.assertIn("2 compile", ran.stdout)
        self.assertEqual(ran.returncode, 1)  # too many do not compile


if __name__ == "__main__":
    unittest.main()
