"""Patches of images as rows of a matrix, and the sum of such rows back into images. Each is the other's gradient."""
import triton
import triton.language as tl


@triton.jit
def unfolded(y_ptr, x_ptr, C, H, W, across, patches, x_batch, x_channel, x_row, x_col, pad_y, pad_x, KY, KX, STEP_Y, STEP_X,
             BLOCK_M: tl.constexpr, BLOCK: tl.constexpr):
    """y [batch, patches, (channel, KY, KX)], `across` patches beside each other. Programs (batch * blocks of
    patches * blocks of columns)."""
    N = C * (KY * KX)
    widths = tl.cdiv(N, BLOCK)
    heights = tl.cdiv(patches, BLOCK_M)
    block = tl.program_id(0) // widths
    cols = tl.program_id(0) % widths * BLOCK + tl.arange(0, BLOCK)
    patch = block % heights * BLOCK_M + tl.arange(0, BLOCK_M)
    batch = (block // heights).to(tl.int64)
    row = (patch // across * STEP_Y - pad_y)[:, None] + (cols // KX % KY)[None, :]
    col = (patch % across * STEP_X - pad_x)[:, None] + (cols % KX)[None, :]
    stored = (patch < patches)[:, None] & (cols < N)[None, :]
    inside = stored & (row >= 0) & (row < H) & (col >= 0) & (col < W)
    channel = (cols // (KY * KX)).to(tl.int64)
    x = tl.load(x_ptr + batch * x_batch + (channel * x_channel)[None, :] + row.to(tl.int64) * x_row
                + col.to(tl.int64) * x_col, mask=inside, other=0.0)
    tl.store(y_ptr + (batch * patches + patch)[:, None] * N + cols[None, :], x, mask=stored)


@triton.jit
def unfold_kernel(y_ptr, x_ptr, C, H, W, across, patches, x_batch, x_channel, x_row, x_col, pad_y, pad_x,
                  KY: tl.constexpr, KX: tl.constexpr, STEP_Y: tl.constexpr, STEP_X: tl.constexpr, BLOCK_M: tl.constexpr,
                  BLOCK: tl.constexpr):
    unfolded(y_ptr, x_ptr, C, H, W, across, patches, x_batch, x_channel, x_row, x_col, pad_y, pad_x, KY, KX, STEP_Y, STEP_X,
             BLOCK_M, BLOCK)


@triton.jit
def unfold_any_kernel(y_ptr, x_ptr, C, H, W, across, patches, x_batch, x_channel, x_row, x_col, pad_y, pad_x, KY, KX, STEP_Y,
                      STEP_X, BLOCK_M: tl.constexpr, BLOCK: tl.constexpr):
    """Of a patch whose sizes are arguments: compiled ahead of time."""
    unfolded(y_ptr, x_ptr, C, H, W, across, patches, x_batch, x_channel, x_row, x_col, pad_y, pad_x, KY, KX, STEP_Y, STEP_X,
             BLOCK_M, BLOCK)


@triton.jit
def folded(x_ptr, y_ptr, C, H, W, down, across, y_batch, y_row, y_col, pad_y, pad_x, KY, KX, STEP_Y, STEP_X,
           BLOCK_M: tl.constexpr, BLOCK: tl.constexpr):
    """x [batch, C, H, W]: each pixel is the sum over the patches that have it, from the last one on. Of the KY * KX elements
    of a patch, each STEP_Y-th and STEP_X-th may be the pixel. Programs (batch * blocks of lines of all
    channels * blocks of columns)."""
    lines = tl.full((), 1, tl.int64) * C * H
    widths = tl.cdiv(W, BLOCK)
    heights = tl.cdiv(lines, BLOCK_M)
    block = tl.program_id(0) // widths
    cols = tl.program_id(0) % widths * BLOCK + tl.arange(0, BLOCK)
    line = block % heights * BLOCK_M + tl.arange(0, BLOCK_M)
    batch = block // heights
    channel = line // H
    row = (line % H).to(tl.int32) + pad_y
    col = cols + pad_x
    exists = (line < lines)[:, None] & (cols < W)[None, :]
    wide = tl.float64 if y_ptr.dtype.element_ty == tl.float64 else tl.float32
    total = tl.zeros((BLOCK_M, BLOCK), dtype=wide)
    for i in range((KY + STEP_Y - 1) // STEP_Y):
        ky = row % STEP_Y + i * STEP_Y
        patch_y = row // STEP_Y - i
        has_row = (ky < KY) & (patch_y >= 0) & (patch_y < down)
        of_row = patch_y.to(tl.int64) * across * y_row + (channel * KY + ky) * KX * y_col
        for j in range((KX + STEP_X - 1) // STEP_X):
            kx = col % STEP_X + j * STEP_X
            patch_x = col // STEP_X - j
            has_col = (kx < KX) & (patch_x >= 0) & (patch_x < across)
            of_col = patch_x.to(tl.int64) * y_row + kx.to(tl.int64) * y_col
            total += tl.load(y_ptr + batch * y_batch + of_row[:, None] + of_col[None, :],
                             mask=exists & has_row[:, None] & has_col[None, :], other=0.0).to(wide)
    tl.store(x_ptr + (batch * lines + line)[:, None] * W + cols[None, :], total, mask=exists)


@triton.jit
def fold_kernel(x_ptr, y_ptr, C, H, W, down, across, y_batch, y_row, y_col, pad_y, pad_x, KY: tl.constexpr,
                KX: tl.constexpr, STEP_Y: tl.constexpr, STEP_X: tl.constexpr, BLOCK_M: tl.constexpr, BLOCK: tl.constexpr):
    folded(x_ptr, y_ptr, C, H, W, down, across, y_batch, y_row, y_col, pad_y, pad_x, KY, KX, STEP_Y, STEP_X, BLOCK_M, BLOCK)


@triton.jit
def fold_any_kernel(x_ptr, y_ptr, C, H, W, down, across, y_batch, y_row, y_col, pad_y, pad_x, KY, KX, STEP_Y, STEP_X,
                    BLOCK_M: tl.constexpr, BLOCK: tl.constexpr):
    folded(x_ptr, y_ptr, C, H, W, down, across, y_batch, y_row, y_col, pad_y, pad_x, KY, KX, STEP_Y, STEP_X, BLOCK_M, BLOCK)
