"""Products of matrices: tiles with a fused epilogue, a split sum, and programs that stay."""
import triton
import triton.language as tl


@triton.jit
def product_tile(a_ptr, b_ptr, m, n, first, last, M, N, K, BLOCK_K: tl.constexpr):
    """The sum of a[m, k] * b[k, n] over k from `first` to `last`, a multiple of BLOCK_K apart or K."""
    total = tl.zeros([m.shape[0], n.shape[0]], tl.float32)
    for start in range(first, last, BLOCK_K):
        k = start + tl.arange(0, BLOCK_K)
        a = tl.load(a_ptr + m[:, None] * K + k[None, :], mask=(m[:, None] < M) & (k[None, :] < K), other=0.0)
        b = tl.load(b_ptr + k[:, None] * N + n[None, :], mask=(k[:, None] < K) & (n[None, :] < N), other=0.0)
        # The third operand is what is added to: float32, whatever a and b are.
        total = tl.dot(a, b, total)
    return total


@triton.jit
def linear_relu(c_ptr, a_ptr, b_ptr, bias_ptr, M, N, K, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr,
                BLOCK_K: tl.constexpr):
    m = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)
    n = tl.program_id(1) * BLOCK_N + tl.arange(0, BLOCK_N)
    total = product_tile(a_ptr, b_ptr, m, n, 0, K, M, N, K, BLOCK_K)
    # The epilogue: what follows the product, while the tile is still on the chip.
    total += tl.load(bias_ptr + n, mask=n < N, other=0.0)[None, :]
    total = tl.maximum(total, 0.0)
    tl.store(c_ptr + m[:, None] * N + n[None, :], total, mask=(m[:, None] < M) & (n[None, :] < N))


@triton.jit
def split_k(c_ptr, a_ptr, b_ptr, M, N, K, part, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr,
            BLOCK_K: tl.constexpr):
    """c += a @ b, where few tiles with long sums would leave most of the machine idle. `part` elements of k, a
    multiple of BLOCK_K, for each program of the third dimension."""
    m = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)
    n = tl.program_id(1) * BLOCK_N + tl.arange(0, BLOCK_N)
    first = tl.program_id(2) * part
    total = product_tile(a_ptr, b_ptr, m, n, first, min(first + part, K), M, N, K, BLOCK_K)
    # Several programs add to the same tile, in any order: c has to be zero before,
    # and its last bits differ from run to run.
    tl.atomic_add(c_ptr + m[:, None] * N + n[None, :], total, mask=(m[:, None] < M) & (n[None, :] < N))


@triton.jit
def persistent(c_ptr, a_ptr, b_ptr, M, N, K, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr):
    """As many programs as the machine runs at once; each takes one tile after the other."""
    across = tl.cdiv(N, BLOCK_N)
    for tile in range(tl.program_id(0), tl.cdiv(M, BLOCK_M) * across, tl.num_programs(0)):
        m = tile // across * BLOCK_M + tl.arange(0, BLOCK_M)
        n = tile % across * BLOCK_N + tl.arange(0, BLOCK_N)
        total = product_tile(a_ptr, b_ptr, m, n, 0, K, M, N, K, BLOCK_K)
        tl.store(c_ptr + m[:, None] * N + n[None, :], total, mask=(m[:, None] < M) & (n[None, :] < N))
