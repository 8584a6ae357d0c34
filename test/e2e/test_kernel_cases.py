#!/usr/bin/env python3
"""The cases of kernels/<op>/cases.txt say what their users ask for, and mistakes in them are reported with their line."""

import ast
import string
import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "harness"))
import kernel_cases  # noqa: E402

# By kernel: what test/e2e/ProjectKernelsTest.cpp and the benchmarks ask of a case.
SIZES = {"add_kernel": {"n"}, "softmax_kernel": {"rows", "columns"}, "softmax_rows_kernel": {"rows", "columns", "ROWS"},
         "layer_norm_kernel": {"rows", "columns"}, "layer_norm_rows_kernel": {"rows", "columns", "ROWS"},
         "fused_bias_layer_norm_kernel": {"rows", "columns"}, "layer_norm_backward_kernel": {"rows", "columns"},
         "matmul_kernel": {"M", "N", "K", "m", "n", "k"}}
OF_TESTS = {"add_kernel": {"block"}, "layer_norm_backward_kernel": {"programs", "AHEAD"}}


class Files(unittest.TestCase):
    def test_every_kernel_folder_has_cases(self):
        # Those of expression/ are made, and compiled for every target (ahead.txt).
        folders = {path.name for path in kernel_cases.KERNELS.iterdir() if (path / f"{path.name}.py").exists()} - {"expression"}
        self.assertEqual(sorted(folders), kernel_cases.ops())

    def test_every_kernel_is_assembled_and_tested(self):
        for op in kernel_cases.ops():
            tree = ast.parse((kernel_cases.KERNELS / op / f"{op}.py").read_text())
            kernels = {node.name for node in tree.body if isinstance(node, ast.FunctionDef) and node.name.endswith("_kernel")}
            self.assertEqual(kernels, {case.kernel for case in kernel_cases.cases(op, "assemble")}, op)
            every = {case.kernel for case in kernel_cases.read(kernel_cases.KERNELS / op / "cases.txt")}
            self.assertEqual(kernels, every, op)

    def test_cases_have_what_their_users_ask_for(self):
        for op in kernel_cases.ops():
            for case in kernel_cases.read(kernel_cases.KERNELS / op / "cases.txt"):
                wanted = {"type"}
                if case.users & {"test", "gpu", "cpu"}:
                    wanted |= SIZES[case.kernel]
                if "test" in case.users:
                    wanted |= {"warps"} | OF_TESTS.get(case.kernel, set())
                if "assemble" in case.users:
                    wanted |= {"warps"} | {name for _, name, _, _ in string.Formatter().parse(case._signature) if name}
                self.assertLessEqual(wanted, case.values.keys(), f"{op}: {case.kernel} {case.values}")


class Mistakes(unittest.TestCase):
    def error_of(self, text):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "cases.txt"
            path.write_text(text)
            with self.assertRaises(ValueError) as caught:
                kernel_cases.read(path)
            return str(caught.exception)

    def test_users(self):
        self.assertIn("cases.txt:2: users are assemble, cpu, gpu, test", self.error_of("# cases\nadd_kernel all n=1\n"))

    def test_no_users(self):
        self.assertIn("expected KERNEL USERS NAME=VALUE", self.error_of("add_kernel\n"))

    def test_values(self):
        self.assertIn("got 'add_kernel test n'", self.error_of("add_kernel test n\n"))


if __name__ == "__main__":
    unittest.main()
