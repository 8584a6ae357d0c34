"""Elements by their number along one dimension: picked, and added to where they belong."""
import triton
import triton.language as tl


@triton.jit
def gather_kernel(y_ptr, x_ptr, index_ptr, count, R, J, B, SHARED: tl.constexpr, BLOCK: tl.constexpr):
    """y[a, j, b] = x[a, index, b], x [A, R, B] and y [A, J, B] contiguous; the index at j (SHARED), or at [a, j, b]. What x
    lacks is NaN, or 0 of integers and fp8."""
    at = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    exists = at < count
    b = at % B
    line = at // B
    if SHARED:
        index = tl.load(index_ptr + line % J, mask=exists, other=0).to(tl.int64)
    else:
        index = tl.load(index_ptr + at, mask=exists, other=0).to(tl.int64)
    inside = exists & (index >= 0) & (index < R)
    x = tl.load(x_ptr + (line // J * R + index) * B + b, mask=inside, other=0)
    element = y_ptr.dtype.element_ty
    if element == tl.float64 or element == tl.float32 or element == tl.float16 or element == tl.bfloat16:
        x = tl.where(inside, x, float("nan"))
    tl.store(y_ptr + at, x, mask=exists)


@triton.jit
def scatter_add_kernel(y_ptr, x_ptr, index_ptr, lanes, R, J, B, SHARED: tl.constexpr, BLOCK: tl.constexpr):
    """y[a, index, b] += x[a, j, b], for j from 0 on: lane (a, b) alone adds to its line of y, so that the order is fixed."""
    lane = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    exists = lane < lanes
    a = lane // B
    b = lane % B
    for j in range(0, J):
        at = (a * J + j) * B + b
        if SHARED:
            index = tl.load(index_ptr + j + tl.zeros((BLOCK,), dtype=tl.int64), mask=exists, other=-1).to(tl.int64)
        else:
            index = tl.load(index_ptr + at, mask=exists, other=-1).to(tl.int64)
        inside = exists & (index >= 0) & (index < R)
        ptrs = y_ptr + (a * R + index) * B + b
        x = tl.load(x_ptr + at, mask=inside, other=0).to(y_ptr.dtype.element_ty)
        tl.store(ptrs, tl.load(ptrs, mask=inside, other=0) + x, mask=inside)
        # The next element of a line may be the same one, read by another thread.
        tl.debug_barrier()
