"""Sums of rows that are looked up: rows of D numbers, 2 * D apart."""
import triton
import triton.language as tl


@triton.jit
def misaligned(table_ptr, out_ptr, rows, D: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    row = (i * 509) % rows
    at = row[:, None] * (2 * D) + tl.arange(0, D)[None, :]
    x = tl.load(table_ptr + 1 + at)  # misaligned: sectors a request
    tl.store(out_ptr + i, tl.sum(x, axis=1))


@triton.jit
def misaligned_fixed(table_ptr, out_ptr, rows, D: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    row = (i * 509) % rows
    at = row[:, None] * (2 * D) + tl.arange(0, D)[None, :]
    x = tl.load(table_ptr + at)
    tl.store(out_ptr + i, tl.sum(x, axis=1))
