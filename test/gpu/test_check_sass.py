#!/usr/bin/env python3
"""Tests of check_sass.py: on small listings, and on machine code that ptxas makes.

    test/gpu/test_check_sass.py [NEREID]        exit status 0, 1, or 77: no tools

Without NEREID, or without ptxas and nvdisasm, only the listings are tested.
"""

import re
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import check_sass
import sass

HERE = Path(__file__).resolve().parent
PLANTED = HERE / "planted"
REGISTERS = [f"R{i}" for i in range(112)]
PREDICATES = [f"P{i}" for i in range(4)]
UNIFORM = [f"UR{i}" for i in range(16)]
nereid = None


def listing(code):
    """As `nvdisasm -c -lrm narrow` prints it. `code` has a label (".L:") or
    "text | writes | reads" a line; registers as "R4" or "R4-R7"."""
    names = REGISTERS + PREDICATES + UNIFORM
    rows = ["".join(str(i).rjust(3)[d] if i >= 10 ** (2 - d) or d == 2 else "0" for i in range(len(REGISTERS))) for d in range(3)]
    width = len(REGISTERS)
    pad = " " * 120

    def table(registers, predicates, uniform, count="#"):
        return f"{pad}// |     {registers}  | {count} {predicates}  | {count} {uniform}  |"

    lines = ["\t.section\t.text.kernel,\"ax\",@progbits", pad + "// +---+---+",
             table("GPR".center(width), "PRED", "UGPR".center(len(UNIFORM)), " "),
             table(rows[0], " " * 4, " " * len(UNIFORM)), table(rows[1], " " * 4, "0" * 10 + "1" * 6),
             table(rows[2], "0123", "0123456789012345")]

    def expand(text):
        found = set()
        for part in text.split():
            first, _, last = part.partition("-")
            kind = first.rstrip("0123456789")
            found |= {f"{kind}{i}" for i in range(int(first[len(kind):]), int((last or first)[len(kind):]) + 1)}
        return found

    address = 0
    for line in filter(None, (line.strip() for line in code.splitlines())):
        if line.endswith(":"):
            lines.append((line + pad)[:120] + table("", "", "")[120:])
            continue
        text, writes, reads = ([part.strip() for part in line.split("|")] + ["", ""])[:3]
        writes, reads = expand(writes), expand(reads)
        mark = "".join("x" if n in writes & reads else "^" if n in writes else "v" if n in reads else " " for n in names)
        lines.append((f"        /*{address:04x}*/   {text} ;" + pad)[:120] + table(mark[:width], mark[width:width + 4], mark[width + 4:])[120:])
        address += 16
    return "\n".join(lines)


def problems(code):
    return check_sass.check_text(listing(code))[1]


PRODUCT = "HGMMA.64x64x16.F32.BF16 R24, R8, gdesc[UR8], R24, gsb0 | R24-R55 | R24-R55 R8-R11"
WAIT = "WARPGROUP.DEPBAR.LE gsb0, 0x0"
END = "STG.E [R0], R24 | | R0 R24-R55\nEXIT"  # all results are stored


class Listings(unittest.TestCase):
    def test_reads_marks_of_three_digits(self):
        function, = sass.parse(listing("@!P1 IADD3 R107, R4, R5, RZ | R107 | R4 R5 P1"))
        instruction, = function.instructions
        self.assertEqual((instruction.predicate, instruction.opcode), ("!P1", "IADD3"))
        self.assertEqual(instruction.writes, {"R107"})
        self.assertEqual(instruction.reads, {"R4", "R5", "P1"})

    def test_refuses_a_text_without_live_ranges(self):
        with self.assertRaises(sass.Unreadable):
            sass.parse("\t.section\t.text.kernel\n        /*0000*/  EXIT ;\n")
        with self.assertRaises(sass.Unreadable):
            sass.parse("nothing")

    def test_defined_in_front_of_the_loop_and_left_alone(self):
        self.assertEqual(problems(f"""
            LDSM.16.M88.4 R8, [R0] | R8-R11 | R0
            .L_x_0:
            {PRODUCT}
            {WAIT}
            @P0 BRA `(.L_x_0) | | P0
            {END}"""), [])

    def test_overwritten_in_the_loop(self):
        found = problems(f"""
            LDSM.16.M88.4 R8, [R0] | R8-R11 | R0
            .L_x_0:
            {PRODUCT}
            {WAIT}
            F2FP.BF16.F32.PACK_AB R10, R25, R24 | R10 | R24 R25
            @P0 BRA `(.L_x_0) | | P0
            {END}""")
        self.assertEqual(len(found), 1)
        self.assertIn("R10 is defined in several places", found[0])
        self.assertIn("F2FP", found[0])
        self.assertIn("LDSM", found[0])

    def test_overwritten_in_one_branch_of_the_loop(self):
        self.assertEqual(len(problems(f"""
            LDSM.16.M88.4 R8, [R0] | R8-R11 | R0
            .L_x_0:
            {PRODUCT}
            {WAIT}
            @P1 BRA `(.L_x_1) | | P1
            MOV R9, R30 | R9 | R30
            .L_x_1:
            @P0 BRA `(.L_x_0) | | P0
            {END}""")), 1)

    def test_defined_in_the_iteration(self):
        self.assertEqual(problems(f"""
            .L_x_0:
            F2FP.BF16.F32.PACK_AB R8, R61, R60 | R8 | R60 R61
            LDS.128 R8, [R0] | R8-R11 | R0
            {PRODUCT}
            {WAIT}
            @P0 BRA `(.L_x_0) | | P0
            {END}"""), [])

    def test_defined_under_a_predicate_and_its_opposite(self):
        body = """
            LDS.64 R8, [R0] | R8 R9 | R0
            @P1 MOV R10, R60 | R10 | R60 P1
            @P1 MOV R11, R60 | R11 | R60 P1
            {}
            @!P1 MOV R10, R61 | R10 | R61 P1
            @!P1 MOV R11, R61 | R11 | R61 P1
            """ + PRODUCT + "\n" + WAIT + "\n" + END
        self.assertEqual(problems(body.format("")), [])
        # Another P1 is another condition: neither may take place.
        self.assertEqual(len(problems(body.format("ISETP.NE.AND P1, PT, R4, R5, PT | P1 | R4 R5"))), 2)

    def test_never_written(self):
        found = problems(f"LDS.64 R8, [R0] | R8 R9 | R0\n{PRODUCT}\n{WAIT}\n{END}")
        self.assertEqual(len(found), 2)
        self.assertIn("never written", found[0])

    def test_written_in_flight(self):
        body = """
            LDS.128 R8, [R0] | R8-R11 | R0
            {}
            HGMMA.64x64x16.F32.BF16 R56, gdesc[UR4], R56, gsb0 | R56-R87 | R56-R87
            WARPGROUP.DEPBAR.LE gsb0, {}
            MOV R11, RZ | R11 |
            WARPGROUP.DEPBAR.LE gsb0, 0x0
            STG.E [R0], R24 | | R0 R24-R55
            STG.E [R0], R56 | | R0 R56-R87
            EXIT"""
        self.assertEqual(problems(body.format(PRODUCT, "0x1")), [])
        # Its group ends with the second product.
        found = problems(body.format(PRODUCT.replace(", gsb0", ""), "0x1"))
        self.assertEqual(len(found), 1)
        self.assertIn("written while the product reads it", found[0])

    def test_a_call_may_write_what_its_callee_writes(self):
        body = """
            LDSM.16.M88.4 R8, [R0] | R8-R11 | R0
            .L_x_0:
            """ + PRODUCT + "\n" + WAIT + """
            CALL.REL.NOINC `($slow)
            @P0 BRA `(.L_x_0) | | P0
            STG.E [R0], R24 | | R0 R24-R55
            EXIT
            $slow:
            {} | {} |
            RET.REL.NODEC R20 `(kernel) | | R20"""
        self.assertEqual(problems(body.format("MOV R90, RZ", "R90")), [])
        self.assertEqual(len(problems(body.format("MOV R9, RZ", "R9"))), 1)

    def test_threads_meet_where_the_barrier_says(self):
        self.assertEqual(problems(f"""
            BSSY B0, `(.L_x_1)
            @P1 BRA `(.L_x_0) | | P1
            BSYNC B0
            .L_x_0:
            MOV R8, RZ | R8 |
            BSYNC B0
            .L_x_1:
            LDS.128 R8, [R0] | R8-R11 | R0
            {PRODUCT}
            {WAIT}
            {END}"""), [])

    def test_a_computed_branch_cannot_be_judged(self):
        with self.assertRaises(sass.Unreadable):
            problems(f"LDS.128 R8, [R0] | R8-R11 | R0\n{PRODUCT}\n{WAIT}\nBRX R4 -0x10 | | R4\nEXIT")

    def test_a_left_operand_in_shared_memory_is_none_of_its_business(self):
        self.assertEqual(check_sass.check_text(listing("""
            HGMMA.64x64x16.F32.BF16 R56, gdesc[UR4], R56, gsb0 | R56-R87 | R56-R87
            STG.E [R0], R56 | | R0 R56-R87
            EXIT""")), (0, []))

    def test_a_descriptor_that_nothing_has_written(self):
        body = """
            LDS.128 R8, [R0] | R8-R11 | R0
            {}
            UIADD3 UR6, UR6, 0x20, URZ | UR6 | UR6
            UMOV UR7, 0x40000040 | UR7 |
            HGMMA.64x64x16.F32.BF16 R24, R8, gdesc[UR4], R24, gsb0 | R24-R55 | R24-R55 R8-R11 UR4-UR7
            """ + WAIT + "\n" + END
        # With the left operand in registers the first half, UR4 and UR5, is not used.
        self.assertEqual(problems(body.format("UMOV UR6, 0x100 | UR6 |")), [])
        found = problems(body.format(""))
        self.assertEqual(len(found), 1)
        self.assertIn("UIADD3 UR6, UR6, 0x20, URZ\n  a descriptor is computed from UR6, which nothing has written", found[0])

    def test_a_descriptor_that_a_loop_steps_on(self):
        self.assertEqual(problems(f"""
            UMOV UR8, 0x100 | UR8 |
            .L_x_0:
            HGMMA.64x64x16.F32.BF16 R24, gdesc[UR8], R24, gsb0 | R24-R55 | R24-R55 UR8
            {WAIT}
            UIADD3 UR8, UR8, 0x20, URZ | UR8 | UR8
            @P0 BRA `(.L_x_0) | | P0
            {END}"""), [])

    def test_a_result_that_the_next_product_overwrites(self):
        first = "HGMMA.64x8x16.F32 R24, gdesc[UR8], RZ, !UPT, gsb0 | R24-R27 |"
        body = first + "\n" + WAIT + "\nFADD R60, RZ, R24 | R60 | R24\n{}\n" + first + "\n" + WAIT + """
            STG.E.128 [R0], R24 | | R0 R24-R27
            EXIT"""
        self.assertEqual(problems(body.format("STG.E.128 [R0], R24 | | R0 R24-R27")), [])
        found = problems(body.format("STG.E.64 [R0], R24 | | R0 R24 R25"))
        self.assertEqual(len(found), 1)
        self.assertIn("results that nothing reads: R26 R27", found[0])

    def test_a_result_that_is_read_on_one_way_only(self):
        self.assertEqual(problems(f"""
            {PRODUCT.replace("R8, ", "gdesc[UR4], ").replace(" R8-R11", "")}
            {WAIT}
            @P0 BRA `(.L_x_0) | | P0
            STG.E [R0], R24 | | R0 R24-R55
            .L_x_0:
            EXIT"""), [])

    def test_a_result_that_the_ptx_does_not_read_either(self):
        code = listing(f"HGMMA.64x8x16.F32 R24, gdesc[UR8], RZ, !UPT, gsb0 | R24-R27 |\n{WAIT}\nSTG.E.64 [R0], R24 | | R0 R24 R25\nEXIT")
        ptx = """
            wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f1, %f2, %f3, %f4}, da, db, p, 1, 1, 0, 0;
            st.global.v2.f32 [%rd1], {%f1, %f2};
            add.f32 %f3, %f1, %f2;
            """
        self.assertEqual(check_sass.check_text(code, ptx), (0, []))
        _, found = check_sass.check_text(code, ptx + "add.f32 %f5, %f1, %f4;\n")
        self.assertEqual(len(found), 1)
        self.assertIn("results that nothing reads: R27", found[0])


def version(ptxas):
    text = subprocess.run([ptxas, "--version"], capture_output=True, text=True).stdout
    return tuple(map(int, re.search(r"release (\d+)\.(\d+)", text).groups()))


class MachineCode(unittest.TestCase):
    def setUp(self):
        self.ptxas, self.nvdisasm = check_sass.find_tool("ptxas"), check_sass.find_tool("nvdisasm")
        if not self.ptxas or not self.nvdisasm:
            self.skipTest("no ptxas or no nvdisasm")

    def check(self, ptx):
        with tempfile.TemporaryDirectory() as folder:
            return check_sass.check_file(ptx, self.ptxas, self.nvdisasm, folder)

    def test_finds_the_operand_that_ptxas_loses(self):
        if version(self.ptxas) >= (13, 3):
            self.skipTest("this ptxas keeps the operand")
        products, found = self.check(PLANTED / "left-operand-lost.ptx")
        self.assertEqual(products, 8)
        self.assertEqual(len(found), 16)  # registers of the first product
        self.assertIn("is defined in several places", found[0])

    def test_finds_the_result_that_ptxas_loses(self):
        if version(self.ptxas) >= (13, 3):
            self.skipTest("not known of this ptxas")
        _, found = self.check(PLANTED / "result-lost.ptx")
        self.assertEqual(len(found), 1)
        self.assertIn("results that nothing reads: R26 R27", found[0])

    def compiled(self, folder, kernel, signature, warps):
        ptx = Path(folder) / "kernel.ptx"
        subprocess.run([nereid, "compile", f"{HERE}/chained_products.py:{kernel}", "--signature", signature, "--num-warps",
                        str(warps), "--target", "sm_90a", "--emit", "ptx", "-o", str(ptx)], check=True)
        return ptx

    def test_results_of_unrolled_loops_are_right_now(self):
        if not nereid:
            self.skipTest("no nereid")
        for count in (2, 3, 4, 8):
            for warps in (4, 8):
                with self.subTest(count=count, warps=warps), tempfile.TemporaryDirectory() as folder:
                    _, found = self.check(self.compiled(folder, "of_few_iterations", f"*fp16:16,*fp16:16,*fp32:16,64,64,64,{count}", warps))
                    self.assertEqual(found, [])

    def test_the_same_kernel_is_right_now(self):
        if not nereid:
            self.skipTest("no nereid")
        for between in ("none", "mask", "scale", "call", "loop"):
            for warps, rows in ((4, 64), (8, 128)):
                with self.subTest(between=between, warps=warps), tempfile.TemporaryDirectory() as folder:
                    signature = f'*bf16:16,*bf16:16,*bf16:16,*fp32:16,i32,{rows},64,64,"{between}"'
                    products, found = self.check(self.compiled(folder, "left_in_front", signature, warps))
                    self.assertEqual(found, [])
                    # The second product's, computed in the iteration; without a branch the first one's too.
                    self.assertEqual(products, 8 if between == "none" else 4)


if __name__ == "__main__":
    if len(sys.argv) > 1 and not sys.argv[1].startswith("-"):
        nereid = sys.argv.pop(1)
    unittest.main()
