# Attention, o = softmax(scale * q @ k^T) @ v for each head, three times: as the chain of a product, a softmax and a
# product; with a softmax that needs no whole row; and as one kernel that keeps no scores at all.
# q, k, v and o are [heads, N, D], rows after each other.
import triton
import triton.language as tl


# ---- The unfused chain ----------------------------------------------------------------------------------------------
# scores and softmax write a matrix of N x N numbers a head each: 4096 tokens are 16 Mi numbers, whatever D is.

@triton.jit
def scores(s_ptr, q_ptr, k_ptr, N, scale, D: tl.constexpr, BLOCK: tl.constexpr):
    head = tl.program_id(2).to(tl.int64)  # 64 bits: heads * N * N soon exceeds 2^31
    m = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    n = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    d = tl.arange(0, D)
    q = tl.load(q_ptr + head * N * D + m[:, None] * D + d[None, :], mask=m[:, None] < N, other=0.0)
    k = tl.load(k_ptr + head * N * D + n[None, :] * D + d[:, None], mask=n[None, :] < N, other=0.0)
    s = tl.dot(q, k, input_precision="ieee") * scale
    row = head * N + m.to(tl.int64)
    tl.store(s_ptr + row[:, None] * N + n[None, :], s.to(q.dtype), mask=(m[:, None] < N) & (n[None, :] < N))


# Lesson 2's softmax, with a whole row as one block.
@triton.jit
def softmax(p_ptr, s_ptr, N, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    n = tl.arange(0, BLOCK)
    s = tl.load(s_ptr + row * N + n, mask=n < N, other=-float("inf")).to(tl.float32)
    e = tl.exp(s - tl.max(s, axis=0))
    tl.store(p_ptr + row * N + n, e / tl.sum(e, axis=0), mask=n < N)


@triton.jit
def weighted_sum(o_ptr, p_ptr, v_ptr, N, D: tl.constexpr, BLOCK: tl.constexpr):
    head = tl.program_id(1).to(tl.int64)
    m = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    d = tl.arange(0, D)
    row = head * N + m.to(tl.int64)
    o = tl.zeros((BLOCK, D), dtype=tl.float32)
    for start in range(0, N, BLOCK):
        n = start + tl.arange(0, BLOCK)
        p = tl.load(p_ptr + row[:, None] * N + n[None, :], mask=(m[:, None] < N) & (n[None, :] < N), other=0.0)
        v = tl.load(v_ptr + head * N * D + n[:, None] * D + d[None, :], mask=n[:, None] < N, other=0.0)
        o = tl.dot(p, v, o, input_precision="ieee")
    tl.store(o_ptr + row[:, None] * D + d[None, :], o, mask=m[:, None] < N)


# ---- Step 1: a softmax that needs no whole row ----------------------------------------------------------------------
# The row comes in blocks, and two numbers are kept: the largest element so far, and the sum of exp(x - largest) so far.
# When a block has a larger one, what was summed is in the wrong unit, and is corrected by one factor:
#
#     sum of exp(x - larger)  =  exp(largest - larger) * sum of exp(x - largest)
#
# Before the first block the largest is -inf and the sum 0; the factor is exp(-inf) = 0, and nothing special is needed.
@triton.jit
def online_softmax(p_ptr, s_ptr, N, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    largest = -float("inf")
    total = 0.0
    for start in range(0, N, BLOCK):
        n = start + tl.arange(0, BLOCK)
        s = tl.load(s_ptr + row * N + n, mask=n < N, other=-float("inf")).to(tl.float32)
        larger = tl.maximum(largest, tl.max(s, axis=0))
        total = total * tl.exp(largest - larger) + tl.sum(tl.exp(s - larger), axis=0)
        largest = larger
    for start in range(0, N, BLOCK):
        n = start + tl.arange(0, BLOCK)
        s = tl.load(s_ptr + row * N + n, mask=n < N).to(tl.float32)
        tl.store(p_ptr + row * N + n, tl.exp(s - largest) / total, mask=n < N)


# ---- Step 2: the products join the loop -----------------------------------------------------------------------------
# Step 1 still reads the row twice, because every p = exp(s - largest) / total waits for the total. The output does not
# want p, it wants the sum of p * v; and a sum can be corrected late. So the sum of exp(s - largest) * v goes along as a
# third thing that is kept, in the same unit as the total: corrected by the same factor, divided once at the end.
#
# A program has BLOCK_M queries of a head. Beside the block of scores it keeps per query `largest`, `total` and D numbers
# of `o`: nothing that grows with N, and nothing that goes to memory but the output.
@triton.jit
def flash_attention(o_ptr, q_ptr, k_ptr, v_ptr, N, scale, D: tl.constexpr, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr):
    head = tl.program_id(1).to(tl.int64)
    m = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)
    d = tl.arange(0, D)
    first = head * N * D
    # The queries stay on the chip for the whole loop.
    q = tl.load(q_ptr + first + m[:, None] * D + d[None, :], mask=m[:, None] < N, other=0.0)

    largest = tl.full((BLOCK_M,), -float("inf"), dtype=tl.float32)
    total = tl.zeros((BLOCK_M,), dtype=tl.float32)
    o = tl.zeros((BLOCK_M, D), dtype=tl.float32)
    for start in range(0, N, BLOCK_N):
        n = start + tl.arange(0, BLOCK_N)
        # Keys are read as columns: element [d, n] of the block is key n's number d.
        k = tl.load(k_ptr + first + n[None, :] * D + d[:, None], mask=n[None, :] < N, other=0.0)
        s = tl.dot(q, k, input_precision="ieee") * scale
        # Keys beyond the end must not count: exp(-inf) is 0. A key of zeroes would have the score 0, and count.
        s = tl.where(n[None, :] < N, s, -float("inf"))

        larger = tl.maximum(largest, tl.max(s, axis=1))
        p = tl.exp(s - larger[:, None])
        correction = tl.exp(largest - larger)
        total = total * correction + tl.sum(p, axis=1)
        v = tl.load(v_ptr + first + n[:, None] * D + d[None, :], mask=n[:, None] < N, other=0.0)
        # With 16-bit inputs p is rounded to 16 bits: then the product is one that a GPU has units for. The sum stays fp32.
        o = tl.dot(p.to(v.dtype), v, o * correction[:, None], input_precision="ieee")
        largest = larger
    tl.store(o_ptr + first + m[:, None] * D + d[None, :], o / total[:, None], mask=m[:, None] < N)
