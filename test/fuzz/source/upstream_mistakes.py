"""Mistakes of upstream Triton 3.6, and of the ptxas 12.8 in it, that random kernels meet.

A kernel whose results differ is run again with one of MISTAKES fixed: if it then agrees, the difference is upstream's.
COMPUTES_NO_DESCRIPTOR shows in the machine code itself. README.md has for each a kernel that shows it.
"""
import ast
import contextlib
import pathlib
import re
import sys
import tempfile

sys.path.append(str(pathlib.Path(__file__).resolve().parents[2] / "gpu"))
import check_sass
import sass


@contextlib.contextmanager
def loops_carry_what_they_assign():
    """`CodeGenerator._find_carries` generates the body of a loop once on trial, and takes a variable as carried if its
    value is then another one. Two variables that hold one value in front of the loop and change places are not."""
    from triton.compiler import code_generator
    generator = code_generator.CodeGenerator
    original = generator._find_carries

    def find_carries(self, node, liveins, ignore=frozenset()):
        names, handles, types = original(self, node, liveins, ignore)
        assigned = {
            name.id
            for statement in node.body for name in ast.walk(statement)
            if isinstance(name, ast.Name) and isinstance(name.ctx, ast.Store)
        }
        for name, value in liveins.items():
            if name in assigned - {*names, *ignore} and code_generator._is_triton_value(value):
                names.append(name)
                types.append(value.type)
                handles.extend(code_generator.flatten_values_to_ir([value]))
        return names, handles, types

    generator._find_carries = find_carries
    try:
        yield
    finally:
        generator._find_carries = original


@contextlib.contextmanager
def loops_stay_rolled():
    """ptxas unrolls loops around products and then takes an expression of one product's result for the same expression
    of the next one's (docs/TileGPUToLLVM.md). Here every block that may begin a loop asks it not to."""
    from triton.backends.nvidia.compiler import CUDABackend
    original = CUDABackend.make_ptx

    def make_ptx(self, *arguments):
        text = original(self, *arguments)
        return re.sub(r"^(\$L__BB\w+:.*)$", r'\1\n\t.pragma "nounroll";', text, flags=re.MULTILINE)

    CUDABackend.make_ptx = make_ptx
    try:
        yield
    finally:
        CUDABackend.make_ptx = original


def computes_no_descriptor(cubin):
    """Whether a product's descriptor is computed from a register that nothing has written: the product
    then reads its right operand from anywhere in shared memory."""
    from triton import knobs
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder, "kernel.cubin")
        path.write_bytes(cubin)
        try:
            text = check_sass.disassemble(knobs.nvidia.nvdisasm.path, path)
            return any(check_sass.never_written(function) for function in sass.parse(text))
        except sass.Unreadable:
            return False


@contextlib.contextmanager
def own_cache():
    """What is compiled here is neither taken from the cache on disk nor left in it."""
    from triton import knobs
    with tempfile.TemporaryDirectory() as folder, knobs.cache.scope():
        knobs.cache.dir = folder
        yield


MISTAKES = {
    "a loop forgets a variable that takes another one's equal value": loops_carry_what_they_assign,
    "ptxas loses a product's result where it unrolls a loop": loops_stay_rolled,
}
COMPUTES_NO_DESCRIPTOR = "ptxas computes a product's descriptor from a register without a value"
