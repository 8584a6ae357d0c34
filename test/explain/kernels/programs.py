"""The sum of an array, a part a program."""
import triton
import triton.language as tl


@triton.jit
def programs(x_ptr, out_ptr, part, BLOCK: tl.constexpr):  # programs: programs for
    total = tl.zeros([BLOCK], tl.float32)
    for first in range(0, part, BLOCK):
        total += tl.load(x_ptr + tl.program_id(0) * part + first + tl.arange(0, BLOCK))
    tl.atomic_add(out_ptr, tl.sum(total, axis=0))


@triton.jit
def programs_fixed(x_ptr, out_ptr, part, BLOCK: tl.constexpr):
    total = tl.zeros([BLOCK], tl.float32)
    for first in range(0, part, BLOCK):
        total += tl.load(x_ptr + tl.program_id(0) * part + first + tl.arange(0, BLOCK))
    tl.atomic_add(out_ptr, tl.sum(total, axis=0))
