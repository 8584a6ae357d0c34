"""AdamW over all tensors of a model, and the norm of their gradients.

Tensors are given as a table [tensors, FIELDS] of addresses and sizes: parameter, gradient, m, v, master weights, elements,
and the row of `factors` that is theirs. Chunk c is BLOCK elements of tensor chunks[c, 0] from element chunks[c, 1] on.

A step whose scale is not finite, as that of a norm which is not, changes nothing.
"""
import triton
import triton.language as tl

FIELDS: tl.constexpr = 7


@triton.jit
def address(row_ptr, field: tl.constexpr, element: tl.constexpr, start, ALIGNED: tl.constexpr):
    ptr = tl.load(row_ptr + field).to(tl.pointer_type(element))
    return (tl.multiple_of(ptr, 16) if ALIGNED else ptr) + start


@triton.jit
def is_finite(scale_ptr):
    scale = tl.load(scale_ptr)
    return scale - scale == 0.0


@triton.jit
def advance(state_ptr, factors_ptr):
    rate = tl.load(state_ptr)
    power1 = tl.load(state_ptr + 3) * tl.load(state_ptr + 1)
    power2 = tl.load(state_ptr + 4) * tl.load(state_ptr + 2)
    tl.store(state_ptr + 3, power1)
    tl.store(state_ptr + 4, power2)
    tl.store(factors_ptr, rate.to(tl.float32))
    tl.store(factors_ptr + 1, (rate / (1.0 - power1)).to(tl.float32))
    tl.store(factors_ptr + 2, (1.0 / tl.sqrt(1.0 - power2)).to(tl.float32))


@triton.jit
def advance_kernel(state_ptr, factors_ptr, clocks_ptr, scale_ptr):
    """state [clocks, 5]: the learning rate, both betas and their powers, float64; factors [clocks, 3]: what one step
    multiplies with. Of the clocks that are named, or of the first."""
    clock = 0
    if clocks_ptr is not None:
        clock = tl.load(clocks_ptr + tl.program_id(0))
    state_ptr += clock * 5
    factors_ptr += clock * 3
    if scale_ptr is not None:
        if is_finite(scale_ptr):
            advance(state_ptr, factors_ptr)
    else:
        advance(state_ptr, factors_ptr)


@triton.jit
def update(p_ptr, g_ptr, m_ptr, v_ptr, w_ptr, at, mask, decay, factors_ptr, scale_ptr, beta1, left1, beta2, left2, eps):
    rate = tl.load(factors_ptr)
    step = tl.load(factors_ptr + 1)
    root = tl.load(factors_ptr + 2)
    g = tl.load(g_ptr + at, mask=mask).to(tl.float32)
    if scale_ptr is not None:
        g *= tl.load(scale_ptr)
    m = tl.load(m_ptr + at, mask=mask)
    v = tl.load(v_ptr + at, mask=mask)
    p = tl.load(p_ptr + at, mask=mask)
    w = p.to(tl.float32)
    if w_ptr is not None:
        # A parameter that is not its master rounded was changed by somebody else, and is what counts.
        master = tl.load(w_ptr + at, mask=mask)
        w = tl.where(master.to(p.dtype).to(tl.float32) == w, master, w)
    m = m * beta1 + g * left1
    v = v * beta2 + g * g * left2
    w = w * (1.0 - rate * decay) - step * m / (tl.sqrt(v) * root + eps)
    tl.store(m_ptr + at, m, mask=mask)
    tl.store(v_ptr + at, v, mask=mask)
    if w_ptr is not None:
        tl.store(w_ptr + at, w, mask=mask)
    tl.store(p_ptr + at, w, mask=mask)


@triton.jit
def step_of_chunk(table_ptr, decays_ptr, chunks_ptr, factors_ptr, scale_ptr, beta1, left1, beta2, left2, eps,
                  P: tl.constexpr, G: tl.constexpr, MASTER: tl.constexpr, ALIGNED: tl.constexpr, BLOCK: tl.constexpr):
    chunk = tl.program_id(0).to(tl.int64)
    tensor = tl.load(chunks_ptr + 2 * chunk)
    start = tl.multiple_of(tl.load(chunks_ptr + 2 * chunk + 1), BLOCK)
    row_ptr = table_ptr + tensor * FIELDS
    n = tl.load(row_ptr + 5)
    factors_ptr += tl.load(row_ptr + 6) * 3
    decay = tl.load(decays_ptr + tensor)
    p_ptr = address(row_ptr, 0, P, start, ALIGNED)
    g_ptr = address(row_ptr, 1, G, start, ALIGNED)
    m_ptr = address(row_ptr, 2, tl.float32, start, ALIGNED)
    v_ptr = address(row_ptr, 3, tl.float32, start, ALIGNED)
    w_ptr = address(row_ptr, 4, tl.float32, start, ALIGNED) if MASTER else None
    at = tl.arange(0, BLOCK)
    if n - start >= BLOCK:
        update(p_ptr, g_ptr, m_ptr, v_ptr, w_ptr, at, None, decay, factors_ptr, scale_ptr, beta1, left1, beta2, left2, eps)
    else:
        update(p_ptr, g_ptr, m_ptr, v_ptr, w_ptr, at, at < n - start, decay, factors_ptr, scale_ptr, beta1, left1, beta2, left2,
               eps)


@triton.jit
def adamw_kernel(table_ptr, decays_ptr, chunks_ptr, factors_ptr, scale_ptr, beta1, left1, beta2, left2, eps,
                 P: tl.constexpr, G: tl.constexpr, MASTER: tl.constexpr, ALIGNED: tl.constexpr, BLOCK: tl.constexpr):
    """One step of every tensor. Whole chunks are not masked, so that they are read in wide pieces."""
    if scale_ptr is not None:
        if is_finite(scale_ptr):
            step_of_chunk(table_ptr, decays_ptr, chunks_ptr, factors_ptr, scale_ptr, beta1, left1, beta2, left2, eps, P,
                          G, MASTER, ALIGNED, BLOCK)
    else:
        step_of_chunk(table_ptr, decays_ptr, chunks_ptr, factors_ptr, scale_ptr, beta1, left1, beta2, left2, eps, P, G, MASTER,
                      ALIGNED, BLOCK)


@triton.jit
def adamw_tensor_kernel(p_ptr, g_ptr, m_ptr, v_ptr, w_ptr, n, decay, factors_ptr, scale_ptr, beta1, left1, beta2, left2, eps,
                        BLOCK: tl.constexpr):
    """One step of one tensor, for processors: a launch costs little there, and of arguments the compiler knows that they are
    different arrays, so that all is one pass; addresses from a table have to be read before anything is written."""
    at = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    if scale_ptr is not None:
        if is_finite(scale_ptr):
            update(p_ptr, g_ptr, m_ptr, v_ptr, w_ptr, at, at < n, decay, factors_ptr, scale_ptr, beta1, left1, beta2, left2,
                   eps)
    else:
        update(p_ptr, g_ptr, m_ptr, v_ptr, w_ptr, at, at < n, decay, factors_ptr, scale_ptr, beta1, left1, beta2, left2, eps)


@triton.jit
def squares_kernel(parts_ptr, table_ptr, chunks_ptr, G: tl.constexpr, ALIGNED: tl.constexpr, BLOCK: tl.constexpr):
    """parts[c]: the sum of squares of chunk c of the gradients. Squares are exact in float64, and a sum of them rounds far below
    fp32: the norm is the same however gradients are cut into tensors and chunks."""
    chunk = tl.program_id(0).to(tl.int64)
    row_ptr = table_ptr + tl.load(chunks_ptr + 2 * chunk) * FIELDS
    start = tl.multiple_of(tl.load(chunks_ptr + 2 * chunk + 1), BLOCK)
    g_ptr = address(row_ptr, 1, G, start, ALIGNED)
    left = tl.load(row_ptr + 5) - start
    at = tl.arange(0, BLOCK)
    g = tl.load(g_ptr + at, mask=at < left, other=0.0).to(tl.float64)
    tl.store(parts_ptr + chunk, tl.sum(g * g, axis=0))


@triton.jit
def norm_kernel(norm_ptr, scale_ptr, squares_ptr, parts_ptr, count, most, BLOCK: tl.constexpr):
    """The norm, what gradients are multiplied with so that it is at most `most`, NaN of a norm that is not finite, and the sum
    of the parts."""
    at = tl.arange(0, BLOCK)
    total = tl.zeros((BLOCK, ), dtype=tl.float64)
    for start in range(0, count, BLOCK):
        total += tl.load(parts_ptr + start + at, mask=at < count - start, other=0.0)
    squares = tl.sum(total, axis=0)
    norm = tl.sqrt(squares).to(tl.float32)
    tl.store(norm_ptr, norm)
    if squares_ptr is not None:
        tl.store(squares_ptr, squares)
    if scale_ptr is not None:
        tl.store(scale_ptr, tl.where(norm - norm == 0.0, tl.minimum(most / (norm + 1e-6), 1.0), float("nan")))
