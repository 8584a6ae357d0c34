#!/usr/bin/env python3
"""Tests of the recorder and the replayer. Parts that need PyTorch and Triton are skipped without them."""
import importlib.util
import json
import os
from pathlib import Path
import subprocess
import sys
import tempfile
import types
import unittest

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

try:
    import numpy as np
except ImportError:
    print("skipped: needs NumPy (scripts/test-venv)")
    sys.exit(77)

from record import cases, packing, plan, recorder, sources  # noqa: E402
from replay import batch, compare, launchfile, report  # noqa: E402

TOOL = Path(os.environ.get("NEREID_BUILD", HERE.parent.parent / "build")) / "bin/nereid"
HAS_UPSTREAM = all(importlib.util.find_spec(name) for name in ("torch", "triton"))


def tensor(name, storage, shape, offset=0, dtype="float32", size=4, **more):
    strides = [int(np.prod(shape[n + 1:])) for n in range(len(shape))]
    return dict(dict(kind="tensor", name=name, dtype=dtype, size=size, shape=list(shape), stride=strides, storage=storage,
                     offset=offset, constexpr=False), **more)


class FewCases(unittest.TestCase):
    def item(self, **params):
        return types.SimpleNamespace(callspec=types.SimpleNamespace(params=params), nodeid="f.py::test")

    def test_smallest_of_each_type_is_kept(self):
        items = [self.item(n=n, t=t) for n in (4096, 16, 256) for t in ("half", "float")]
        kept = cases.chosen(items, 2)
        self.assertEqual([(i.callspec.params["n"], i.callspec.params["t"]) for i in kept], [(16, "half"), (16, "float")])

    def test_parts_share_the_functions(self):
        names = [f"f.py::test_{n}" for n in range(5)]
        seen = []
        for part in range(2):
            items = [types.SimpleNamespace(nodeid=name) for name in names]
            cases.FewCases(1, part, 2).pytest_collection_modifyitems(None, items)
            seen += [i.nodeid for i in items]
        self.assertEqual(sorted(seen), names)


class WrittenOut(unittest.TestCase):
    def test_names_that_the_module_lacks(self):
        text = '"""def quoted(x): pass"""\nimport math\nfrom a import b as c\nX: int = 3\n(p, q) = 1, 2\nif X:\n    def f(): pass\n'
        self.assertEqual(sources.module_names(text), {"math", "c", "X", "p", "q", "f"})

    def test_definitions(self):
        self.assertEqual(sources.definition("N", 16), "N = 16")
        self.assertEqual(sources.definition("loads", json.loads), "from json import loads")
        self.assertEqual(sources.definition("what", object()), "")

    def test_values_of_the_enclosing_function(self):
        bias = 5

        def inner(x):
            return x + bias

        text = sources.written_out(inner, HERE)
        self.assertIn("\nbias = 5\n@triton.jit\ndef inner(x):\n    return", text)


class Clip(unittest.TestCase):
    def entry(self, lo, hi, size):
        return dict(lo=lo, hi=hi, bytes=size)

    def test_whole_allocation_while_it_fits(self):
        entries = [self.entry(64, 128, 1000)]
        self.assertEqual(recorder.clip(entries, 1000), (False, 936))

    def test_only_the_tensors_when_it_does_not(self):
        entries = [self.entry(64, 128, 1000)]
        self.assertEqual(recorder.clip(entries, 100), (True, 64))
        self.assertEqual(entries[0]["to"], 128)

    def test_nothing_when_they_do_not_fit(self):
        self.assertEqual(recorder.clip([self.entry(0, 500, 1000)], 100), (None, 500))


class Packing(unittest.TestCase):
    def row(self, kernel, images, size):
        return dict(suite="s", file="f.py", kernel=kernel, bytes=size, storages=[dict(before=n, after=None) for n in images])

    def test_every_kernel_before_second_launches(self):
        kernels = {("s", "f.py", "a"): [self.row("a", ["a1"], 8), self.row("a", ["a2"], 9)],
                   ("s", "f.py", "b"): [self.row("b", ["b1"], 100)]}
        size = dict(a1=1000, a2=1000, b1=1000)
        chosen, images = packing.choose(kernels, size, 2 * 1512)
        self.assertEqual([r["kernel"] for r in chosen], ["a", "b"])
        self.assertEqual(images, {"a1", "b1"})

    def test_shared_images_cost_once(self):
        kernels = {("s", "f.py", "a"): [self.row("a", ["x"], 8), self.row("a", ["x"], 8)]}
        chosen, _ = packing.choose(kernels, dict(x=1000), 1512)
        self.assertEqual(len(chosen), 2)


class Plan(unittest.TestCase):
    def test_a_program_that_fails_and_one_that_hangs(self):
        with tempfile.TemporaryDirectory() as folder:
            for name, text in (("bad.py", "raise SystemExit(3)"), ("slow.py", "import time; time.sleep(60)")):
                (Path(folder) / name).write_text(text)
            old, plan.Running = plan.Running, Bare
            try:
                rows = plan.run(folder, [dict(suite="s", root=folder, words=[f"{folder}/{n}"], timeout=t)
                                         for n, t in (("bad.py", 30), ("slow.py", 0.5))], 2, 30)
            finally:
                plan.Running = old
        self.assertEqual(sorted((Path(r["words"][0]).name, r["code"], r["late"]) for r in rows),
                         [("bad.py", 3, False), ("slow.py", -15, True)])


class Bare(plan.Running):
    """Runs the program itself, not under the recorder."""

    def __init__(self, out, number, job):
        self.number, self.job, self.began = number, job, plan.time.time()
        self.log = Path(out) / "logs" / f"{number:04d}.log"
        with open(self.log, "w") as log:
            self.process = subprocess.Popen([sys.executable, *job["words"]], stdout=log, start_new_session=True)


class Compare(unittest.TestCase):
    def status(self, got, want, before=None, again=None, dtype="float32", dot=False):
        data = [np.asarray(a, compare.TYPES[dtype][0]).tobytes() if a is not None else None
                for a in (got, want, np.zeros(len(want)) if before is None else before, again)]
        return compare.storage_status(*data, [(0, len(data[1]), dtype)], dot)[0]

    def test_equal(self):
        self.assertEqual(self.status([1, 2], [1, 2]), "ok")

    def test_rounding_and_beyond(self):
        self.assertEqual(self.status([1.00005, 2], [1, 2]), "ok")
        self.assertEqual(self.status([1.1, 2], [1, 2]), "wrong")

    def test_products_of_fp32_have_less_bits(self):
        self.assertEqual(self.status([1.005, 2], [1, 2]), "wrong")
        self.assertEqual(self.status([1.005, 2], [1, 2], dot=True), "ok")

    def test_integers_are_exact(self):
        self.assertEqual(self.status([1, 3], [1, 2], dtype="int32"), "wrong")

    def test_a_rounding_that_fell_the_other_way(self):
        want = np.arange(100)
        got = want.copy()
        got[7] += 1
        self.assertEqual(self.status(got, want, dtype="int8"), "ok-rounding")
        got[8:30] += 1
        self.assertEqual(self.status(got, want, dtype="int8"), "wrong")

    def test_nan_must_meet_nan(self):
        self.assertEqual(self.status([np.nan, 1], [np.nan, 1]), "ok")
        self.assertEqual(self.status([0, 1], [np.nan, 1]), "wrong")
        self.assertEqual(self.status([np.inf, 1], [np.inf, 1]), "ok")

    def test_upstream_that_differs_from_itself(self):
        self.assertEqual(self.status([5, 1], [1, 1], again=[9, 1]), "ok")
        self.assertEqual(self.status([99, 1], [1, 1], again=[9, 1]), "unstable")
        self.assertEqual(self.status([5, 1], [1, 1], again=[9, 1], dtype="int32"), "unstable")

    def test_what_was_not_written_does_not_widen_the_tolerance(self):
        self.assertEqual(self.status([1.1, 1e30], [1, 1e30], before=[0, 1e30]), "wrong")

    def test_cancellation_moves_with_the_inputs(self):
        data = [np.asarray(a, "f4").tobytes() for a in ([1e-6, 1], [3e-6, 1], [0, 0])]
        others = [np.asarray(a, "f4").tobytes() for a in ([2e-6, 1], [0.2e-6, 1])]
        views = [(0, 8, "float32")]
        tiny = [np.asarray(a, "f4").tobytes() for a in ([1.00001e-6, 1],)]
        want = [np.asarray([9e-6, 1], "f4").tobytes(), data[2]]
        self.assertEqual(compare.storage_status(data[0], *want, None, views, False)[0], "wrong")
        self.assertEqual(compare.storage_status(data[0], *want, None, views, False, tiny)[0], "wrong")
        self.assertEqual(compare.storage_status(data[0], *want, None, views, False, others)[0], "ok")

    def test_perturbed_inputs(self):
        data = np.array([1, 0, np.nan, -8], "f4").tobytes() + bytes(range(8))
        changed = compare.perturbed(data, [(0, 16, "float32"), (16, 8, "int32")], 0)
        before, after = (np.frombuffer(d[:16], "f4") for d in (data, changed))
        self.assertEqual(changed[16:], data[16:])
        self.assertNotEqual(before[0], after[0])
        self.assertLess(abs(after[3] + 8), 8 * 2.0**-21)
        self.assertEqual(after[1], 0)

    def test_bytes_of_no_tensor(self):
        got, want = bytes([0] * 8), bytes([0] * 7 + [1])
        views = [(0, 4, "float32"), (0, 4, "int32")]
        self.assertEqual(compare.storage_status(got, want, want, None, views, False)[0], "wrong")

    def test_narrow_floats(self):
        self.assertEqual(compare.numbers(np.array([0x3F80], np.uint16), "bf16")[0], 1.0)
        self.assertEqual(compare.numbers(np.array([0x38, 0x7F], np.uint8), "fp8e4nv")[0], 1.0)
        self.assertTrue(np.isnan(compare.numbers(np.array([0x7F], np.uint8), "fp8e4nv")[0]))
        self.assertEqual(compare.numbers(np.array([0x7C], np.uint8), "fp8e5")[0], np.inf)


class LaunchFile(unittest.TestCase):
    def row(self, args, storages):
        return dict(suite="s", file="f.py", kernel="k", line=1, grid=[2], options=dict(num_warps=4, maxnreg=None), args=args,
                    storages=storages)

    def describe(self, row, images):
        trace = types.SimpleNamespace(blob=lambda name: images[name])
        with tempfile.TemporaryDirectory() as folder:
            return launchfile.describe(trace, row, Path("/s/f.py"), Path(folder), "L0")

    def test_views_of_one_storage(self):
        storage = dict(number=0, lo=16, bytes=48, base_align=256, before="a")
        launch = self.describe(self.row([tensor("x", 0, [8], 16), tensor("y", 0, [4], 32)], [storage]), dict(a=bytes(48)))
        self.assertEqual([launch["arguments"][n]["tensor"]["offset"] for n in "xy"], [0, 16])
        self.assertEqual(launch["storages"][0]["skew"], 16)
        self.assertEqual(launch["options"], dict(num_warps=4))

    def test_values(self):
        def value(**arg):
            return launchfile.value_of(arg, {})
        self.assertEqual(value(kind="int", value=str(2**64 - 1)), {"int": str(2**64 - 1)})
        self.assertEqual(value(kind="float", value=(0.1).hex()), {"float": (0.1).hex()})
        self.assertEqual(value(kind="tuple", type="P", names=["a"], items=[dict(kind="bool", value=True)]),
                         {"tuple": [True], "names": ["a"], "type": "P"})
        with self.assertRaises(launchfile.Inexpressible):
            value(kind="other", type="Event", value="?")

    def test_pointer_tables(self):
        storages = [dict(number=0, lo=8, bytes=8, base_align=256, before="p", pointers=[[8, 1, 96]]),
                    dict(number=1, lo=64, bytes=64, base_align=256, before="x")]
        launch = self.describe(self.row([tensor("p", 0, [1], 8, "int64", 8)], storages), dict(p=bytes(8), x=bytes(64)))
        self.assertEqual(launch["storages"][0]["pointers"], [dict(at=0, storage=1, offset=32)])

    def test_negative_strides_reach_down(self):
        storage = dict(number=0, lo=0, bytes=32, base_align=256, before="a")
        row = self.row([tensor("x", 0, [8], 28, stride=[-1])], [storage])
        self.assertEqual(launchfile.typed_views(row)[0], [(0, 32, "float32")])
        self.assertEqual(self.describe(row, dict(a=bytes(32)))["arguments"]["x"]["tensor"]["shape"], [1])


class Batch(unittest.TestCase):
    """With a program in place of nereid: it writes what it is asked to and ends."""

    def run_batch(self, results, says, status):
        with tempfile.TemporaryDirectory() as folder:
            folder = Path(folder)
            program = folder / "program"
            program.write_text(f"#!{sys.executable}\nimport sys\nopen(sys.argv[-1], 'w').write({results!r})\n"
                               f"sys.stderr.write({says!r})\nsys.exit({status})\n")
            program.chmod(0o755)
            tool = batch.Tool(program, "cpu", 10, 1, folder / "cache")
            return tool.run([dict(id="a")], folder)["a"]

    def test_a_refusal(self):
        line = json.dumps(dict(id="a", status="failed", error="k.py:1:2: error: no")) + "\n"
        self.assertEqual(self.run_batch(line, "", 1)["status"], "failed")

    def test_a_fault_in_a_kernel_is_a_crash(self):
        line = json.dumps(dict(id="a", status="failed", error="segmentation fault at address 0x10 in kernel 'k'")) + "\n"
        self.assertEqual(self.run_batch(line, "", 1)["status"], "crash")

    def test_a_fault_that_ends_the_command_is_a_crash(self):
        self.assertEqual(self.run_batch("", "error: segmentation fault at address 0x10 in kernel 'k' on interp", 3)["status"], "crash")

    def test_a_command_that_says_nothing(self):
        self.assertEqual(self.run_batch("", "error: disk", 3), dict(status="tool-error", error="error: disk"))


class Report(unittest.TestCase):
    def test_rules_explain_rows(self):
        row = dict(suite="s", file="a/f.py", kernel="k", status="wrong", message="3 of 8 differ")
        rules = [dict(kernel="^other$", why="no"), dict(kernel="^k$", status="wrong", why="upstream's own mistake")]
        text = report.markdown([("cpu", [row, dict(row, status="ok", message="")])], rules)
        self.assertIn("| cpu | 1 | 2 | 2 | 1 | 50.00 |", text)
        self.assertIn("upstream's own mistake", text)

    def test_speeds(self):
        row = dict(suite="s", file="f.py", kernel="k", status="ok", fastest_ms=0.02, upstream_ms=0.01)
        self.assertIn("| 2.00 | `f.py:k` | 20.0 | 10.0 |", report.speeds([row]))


PROGRAM = '''
import torch, triton, triton.language as tl

@triton.jit
def scale_rows(x, y, table, n, factor, BLOCK: tl.constexpr, TYPE: tl.constexpr):
    i = tl.arange(0, BLOCK)
    row = tl.program_id(0)
    v = tl.load(x + row * n + i, mask=i < n, other=0.0).to(TYPE)
    tl.store(y + row * n + i, v * factor, mask=i < n)
    tl.atomic_add(table + row % 2, 1)

def made():
    @triton.jit
    def inner(x, BLOCK: tl.constexpr):
        i = tl.arange(0, BLOCK)
        tl.store(x + i, tl.load(x + i) + 5)
    return inner

x = torch.randn(64, device="cuda")
y, table = torch.empty(33, device="cuda"), torch.zeros(2, dtype=torch.int32, device="cuda")
scale_rows[(3,)](x[1:], y, table, 11, 0.5, BLOCK=16, TYPE=tl.float32)
scale_rows[(3,)](x[1:], y, table, 11, 0.5, BLOCK=16, TYPE=tl.float32)
scale_rows[(3,)](x.half(), y.half(), table, 11, 0.5, BLOCK=16, TYPE=tl.float32)
made()[(1,)](x, BLOCK=32)
'''


@unittest.skipUnless(HAS_UPSTREAM, "needs PyTorch and Triton (upstream's interpreter)")
class EndToEnd(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        root = Path(cls.folder.name)
        (root / "corpora/tiny").mkdir(parents=True)
        program = root / "corpora/tiny/program.py"
        program.write_text(PROGRAM)
        done = subprocess.run([sys.executable, HERE / "record", "run", root / "out", "tiny", root / "corpora/tiny", "--", program],
                              env={**os.environ, "RECORD_ON": "cpu"}, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        cls.packed = packing.pack(root / "out", root / "packed", 1 << 20)
        cls.root = root

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def rows(self):
        return [json.loads(line) for line in (self.root / "out/index.jsonl").read_text().splitlines()]

    def test_each_specialization_once(self):
        self.assertIn("2 kernels recorded, 2 packed with 3 launches", self.packed)
        first = next(r for r in self.rows() if r["kernel"] == "scale_rows" and r["args"][0]["dtype"] == "float32")
        self.assertEqual(first["args"][0]["offset"], 4)
        self.assertEqual(first["args"][6], dict(kind="dtype", value="fp32", name="TYPE", constexpr=True))
        self.assertIsNone(first["storages"][0]["after"])

    def test_a_kernel_in_a_function_is_written_out(self):
        row = next(r for r in self.rows() if r["kernel"] == "inner")
        text = (self.root / "out" / row["file"]).read_text()
        self.assertIn("\ndef inner(", text)

    def replay(self, *words):
        done = subprocess.run([sys.executable, HERE / "replay", "run", "--tool", TOOL, "--corpora", self.root / "corpora",
                               "--json", self.root / "out.json", *words, self.root / "packed"], capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        return {r["kernel"] + r["types"][0]: r for r in json.loads((self.root / "out.json").read_text())["rows"]}

    @unittest.skipUnless(TOOL.exists(), "needs the program nereid")
    def test_replay(self):
        for device in ("cpu", "interp"):
            rows = self.replay("--device", device)
            self.assertEqual({r["status"] for r in rows.values()}, {"ok"}, rows)

    @unittest.skipUnless(TOOL.exists(), "needs the program nereid")
    def test_a_difference_is_found(self):
        index = self.root / "out/index.jsonl"
        rows = self.rows()
        wrong = next(r for r in rows if r["kernel"] == "inner")
        wrong["storages"][0]["after"] = wrong["storages"][0]["before"]
        before = index.read_text()
        index.write_text("".join(json.dumps(r) + "\n" for r in rows))
        try:
            done = subprocess.run([sys.executable, HERE / "replay", "run", "--tool", TOOL, "--corpora", self.root / "corpora",
                                   "--only", "inner", "--json", self.root / "out.json", self.root / "out"], capture_output=True, text=True)
            self.assertEqual(done.returncode, 0, done.stderr)
        finally:
            index.write_text(before)
        [row] = json.loads((self.root / "out.json").read_text())["rows"]
        self.assertEqual(row["status"], "wrong", row)


if __name__ == "__main__":
    unittest.main(verbosity=1)
