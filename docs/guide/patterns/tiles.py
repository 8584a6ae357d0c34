"""Tiles of matrices whose rows and columns lie anywhere: a program index and a stride for each dimension."""
import triton
import triton.language as tl


@triton.jit
def add_tiles(c_ptr, a_ptr, b_ptr, M, N, stride_cm, stride_cn, stride_am, stride_an, stride_bm, stride_bn,
              BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr):
    m = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)
    n = tl.program_id(1) * BLOCK_N + tl.arange(0, BLOCK_N)
    # [:, None] makes a column of a vector, [None, :] a row; together they are a tile.
    mask = (m[:, None] < M) & (n[None, :] < N)
    a = tl.load(a_ptr + m[:, None] * stride_am + n[None, :] * stride_an, mask=mask)
    b = tl.load(b_ptr + m[:, None] * stride_bm + n[None, :] * stride_bn, mask=mask)
    tl.store(c_ptr + m[:, None] * stride_cm + n[None, :] * stride_cn, a + b, mask=mask)


@triton.jit
def transpose(y_ptr, x_ptr, M, N, BLOCK: tl.constexpr):
    m = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    n = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + m[:, None] * N + n[None, :], mask=(m[:, None] < M) & (n[None, :] < N))
    # tl.trans turns the tile on the chip. Both the load and the store then have
    # neighbours in their last dimension, which is what memory likes.
    tl.store(y_ptr + n[:, None] * M + m[None, :], tl.trans(x), mask=(n[:, None] < N) & (m[None, :] < M))
