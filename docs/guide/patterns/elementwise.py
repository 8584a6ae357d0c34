"""Element by element: one pass over memory for as many operations as fit between load and store."""
import triton
import triton.language as tl


@triton.jit
def add_gelu(y_ptr, x_ptr, bias_ptr, n, columns, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    # The last program's block reaches beyond the array. The mask keeps it inside.
    mask = i < n
    x = tl.load(x_ptr + i, mask=mask).to(tl.float32)
    # A vector that is repeated for each row: the same address for many elements.
    x += tl.load(bias_ptr + i % columns, mask=mask).to(tl.float32)
    y = 0.5 * x * (1 + tl.erf(x * 0.7071067811865476))
    # The store rounds to the type of y's elements.
    tl.store(y_ptr + i, y, mask=mask)
