"""Parts of blocks, as kernels want them: for test/gpu/assemble.py and test/semantics/slices.py."""

import triton
import triton.language as tl


@triton.jit
def rotary(x_ptr, cos_ptr, sin_ptr, y_ptr, n_rows, ROWS: tl.constexpr, D: tl.constexpr):
    """A rotary embedding of rows of D elements, each loaded once: y = (a cos - b sin, b cos + a sin), a and b its halves."""
    rows = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    inside = (rows < n_rows)[:, None]
    x = tl.load(x_ptr + rows[:, None] * D + tl.arange(0, D)[None, :], mask=inside).to(tl.float32)
    half = rows[:, None] * (D // 2) + tl.arange(0, D // 2)[None, :]
    cos, sin = tl.load(cos_ptr + half, mask=inside), tl.load(sin_ptr + half, mask=inside)
    a = tl.extract_slice(x, [0, 0], [ROWS, D // 2])
    b = tl.extract_slice(x, [0, D // 2], [ROWS, D // 2])
    y = tl.cat(a * cos - b * sin, b * cos + a * sin, dim=1)
    tl.store(y_ptr + rows[:, None] * D + tl.arange(0, D)[None, :], y, mask=inside)


@triton.jit
def part(x_ptr, y_ptr, ROWS: tl.constexpr, COLUMNS: tl.constexpr, ROW: tl.constexpr, COLUMN: tl.constexpr,
         HEIGHT: tl.constexpr, WIDTH: tl.constexpr, ROW_STEP: tl.constexpr, COLUMN_STEP: tl.constexpr):
    """y = x[ROW::ROW_STEP, COLUMN::COLUMN_STEP][:HEIGHT, :WIDTH], as NumPy says it."""
    x = tl.load(x_ptr + tl.arange(0, ROWS)[:, None] * COLUMNS + tl.arange(0, COLUMNS)[None, :])
    y = tl.extract_slice(x, [ROW, COLUMN], [HEIGHT, WIDTH], [ROW_STEP, COLUMN_STEP])
    tl.store(y_ptr + tl.arange(0, HEIGHT)[:, None] * WIDTH + tl.arange(0, WIDTH)[None, :], y)
