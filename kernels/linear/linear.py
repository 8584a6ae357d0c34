"""Products of any strides with what follows them: y = activation(scale * (a @ b) + bias) + residual.

All of it is accumulated in float32 (int8: in int32). Where the product alone gives a device too few programs, K is cut
into splits, whose results parts_kernel adds in the order of the splits.
"""
import triton
import triton.language as tl

LOG2E: tl.constexpr = 1.4426950408889634
DENSITY_AT_0: tl.constexpr = 0.3989422804014327  # of the standard normal distribution
TANH_SLOPE: tl.constexpr = 1.5957691216057308  # 2 * sqrt(2 / pi): tanh(u) = 2 * sigmoid(2 * u) - 1
TANH_CUBE: tl.constexpr = 0.044715
GIVEN: tl.constexpr = ("relu", "gelu", "gelu_tanh", "silu")


@triton.jit
def mass_beyond(z):
    """The standard normal distribution's mass beyond |z|, erfc(|z| / sqrt(2)) / 2: two to a polynomial that fits its
    logarithm up to 6 within 3e-7, and falls to minus infinity with it. A quarter of erf's operations, and no difference of
    two near values, so that negative z keep their digits."""
    a = tl.abs(z)
    p = -1.4911995e-08 * a + 4.8970065e-07
    p = p * a - 6.857546e-06
    p = p * a + 5.1486208e-05
    p = p * a - 1.8955157e-04
    p = p * a - 1.9704757e-04
    p = p * a + 7.202389e-03
    p = p * a - 5.2625123e-02
    p = p * a - 4.5915714e-01
    p = p * a - 1.1511116
    return tl.exp2(p * a - 1.0)


@triton.jit
def mass_below(z):
    beyond = mass_beyond(z)
    return tl.where(z > 0.0, 1.0 - beyond, beyond)


@triton.jit
def activate(z, ACTIVATION: tl.constexpr):
    if ACTIVATION == "relu":
        z = tl.maximum(z, 0.0)
    elif ACTIVATION == "gelu":
        z = z * mass_below(z)
    elif ACTIVATION == "gelu_tanh":
        z = z * tl.sigmoid(TANH_SLOPE * z * (1.0 + TANH_CUBE * z * z))
    elif ACTIVATION == "silu":
        z = z * tl.sigmoid(z)
    return z


@triton.jit
def sigmoid_and_slope(u):
    """sigmoid(u) and its derivative, which is no difference of near values where the first is near 1."""
    e = tl.exp(-tl.abs(u))
    r = 1.0 / (1.0 + e)
    return tl.where(u > 0.0, r, e * r), e * r * r


@triton.jit
def derivative(z, ACTIVATION: tl.constexpr):
    if ACTIVATION == "relu":
        slope = tl.where(z > 0.0, 1.0, 0.0)
    elif ACTIVATION == "gelu":
        slope = mass_below(z) + z * DENSITY_AT_0 * tl.exp2(-0.5 * LOG2E * z * z)
    elif ACTIVATION == "gelu_tanh":
        s, step = sigmoid_and_slope(TANH_SLOPE * z * (1.0 + TANH_CUBE * z * z))
        slope = s + z * step * TANH_SLOPE * (1.0 + 3.0 * TANH_CUBE * z * z)
    elif ACTIVATION == "silu":
        s, step = sigmoid_and_slope(z)
        slope = s + z * step
    return slope


@triton.jit
def activate_given(z, activation):
    """By a bit of the launch's (Product.h), in a kernel that is compiled ahead of time."""
    for i in tl.static_range(4):
        if (activation & (1 << i)) != 0:
            z = activate(z, GIVEN[i])
    return z


@triton.jit
def slope_given(z, activation):
    for i in tl.static_range(4):
        if (activation & (1 << i)) != 0:
            z = derivative(z, GIVEN[i])
    return z


@triton.jit
def finish(total, y_ptr, bias_ptr, residual_ptr, before_ptr, of_ptr, batch, rows, cols, inside, M, N, r_batch, r_row,
           r_col, scale, activation, ACTIVATION: tl.constexpr, PLAIN: tl.constexpr):
    """Stores a block of y [batch, M, N]. before_ptr keeps the values in front of the activation; with of_ptr, the
    product is multiplied by the activation's derivative at what that holds, instead of activated."""
    base = tl.to_tensor(batch).to(tl.int64) * M * N
    at = rows[:, None] * N + cols[None, :]
    if not PLAIN:
        total = total.to(tl.float32) * scale
        if bias_ptr is not None:
            total += tl.load(bias_ptr + cols, mask=cols < N, other=0.0).to(tl.float32)[None, :]
        if before_ptr is not None:
            tl.store(before_ptr + base + at, total, mask=inside)
        if of_ptr is not None:
            total *= derivative(tl.load(of_ptr + base + at, mask=inside, other=0.0).to(tl.float32), ACTIVATION)
        elif ACTIVATION == "given":
            total = activate_given(total, activation)
        else:
            total = activate(total, ACTIVATION)
        if residual_ptr is not None:
            r_ptrs = residual_ptr + tl.to_tensor(batch).to(tl.int64) * r_batch + rows[:, None] * r_row + cols[None, :] * r_col
            total += tl.load(r_ptrs, mask=inside, other=0.0).to(tl.float32)
    tl.store(y_ptr + base + at, total, mask=inside)


@triton.jit
def linear_kernel(y_ptr, a_ptr, b_ptr, bias_ptr, residual_ptr, before_ptr, of_ptr, M, N, K, a_batch, a_row, a_col,
                  b_batch, b_row, b_col, r_batch, r_row, r_col, scale, share, activation, BLOCK_M: tl.constexpr,
                  BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr, GROUP: tl.constexpr, WRAP: tl.constexpr,
                  EVEN: tl.constexpr, WIDE: tl.constexpr, PARTS: tl.constexpr, ACTIVATION: tl.constexpr,
                  PLAIN: tl.constexpr, PRECISION: tl.constexpr):
    """One block of y [batch, M, N]. Programs go down GROUP blocks of rows before they take the next columns, so that
    those which run together share operands in a GPU's last cache.

    WRAP: rows and columns beyond the end read those at the beginning, and no mask is needed (GPUs). EVEN: K is a
    multiple of BLOCK_K. WIDE: offsets within a batch need 64 bits. PARTS: program (_, s) multiplies from s * share on,
    and y is [splits, batch, M, N]. ACTIVATION: a name, or "given": a bit of `activation`.
    """
    blocks_m = tl.cdiv(M, BLOCK_M)
    blocks_n = tl.cdiv(N, BLOCK_N)
    program = tl.program_id(0) % (blocks_m * blocks_n)
    batch = tl.program_id(0) // (blocks_m * blocks_n)
    group = program // (GROUP * blocks_n)
    # At least 1, which a constant M does not show: so no column is negative, and loads of columns run ahead.
    height = max(min(blocks_m - group * GROUP, GROUP), 1)
    within = program % (GROUP * blocks_n)
    rows = (group * GROUP + within % height) * BLOCK_M + tl.arange(0, BLOCK_M)
    cols = within // height * BLOCK_N + tl.arange(0, BLOCK_N)
    ks = tl.arange(0, BLOCK_K)
    a_rows = rows
    b_cols = cols
    if WRAP:
        a_rows = rows % M
        b_cols = cols % N
    a_step = BLOCK_K * a_col
    b_step = BLOCK_K * b_row
    if WIDE:
        rows = rows.to(tl.int64)
        cols = cols.to(tl.int64)
        a_rows = a_rows.to(tl.int64)
        b_cols = b_cols.to(tl.int64)
        ks = ks.to(tl.int64)
        a_step = tl.full((), BLOCK_K, tl.int64) * a_col
        b_step = tl.full((), BLOCK_K, tl.int64) * b_row
    a_ptrs = a_ptr + batch.to(tl.int64) * a_batch + a_rows[:, None] * a_row + ks[None, :] * a_col
    b_ptrs = b_ptr + batch.to(tl.int64) * b_batch + ks[:, None] * b_row + b_cols[None, :] * b_col
    count = K
    if PARTS:
        split = tl.program_id(1)
        first = split.to(tl.int64) * share
        a_ptrs += first * a_col
        b_ptrs += first * b_row
        count = min(share, K - split * share)
    inside = (rows[:, None] < M) & (cols[None, :] < N)
    if a_ptr.dtype.element_ty == tl.int8:
        total = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.int32)
    else:
        total = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
    # Sums of products of fp8 may have 14 bits within an instruction: those of a block are added up outside.
    SHORT: tl.constexpr = BLOCK_K if a_ptr.dtype.element_ty.is_fp8() else None
    for k in range(0, count, BLOCK_K):
        if WRAP and EVEN:
            a = tl.load(a_ptrs)
            b = tl.load(b_ptrs)
        elif WRAP:
            a = tl.load(a_ptrs, mask=ks[None, :] < count - k, other=0)
            b = tl.load(b_ptrs, mask=ks[:, None] < count - k, other=0)
        elif EVEN:
            a = tl.load(a_ptrs, mask=rows[:, None] < M, other=0)
            b = tl.load(b_ptrs, mask=cols[None, :] < N, other=0)
        else:
            a = tl.load(a_ptrs, mask=(rows[:, None] < M) & (ks[None, :] < count - k), other=0)
            b = tl.load(b_ptrs, mask=(ks[:, None] < count - k) & (cols[None, :] < N), other=0)
        total = tl.dot(a, b, total, input_precision=PRECISION, max_num_imprecise_acc=SHORT)
        a_ptrs += a_step
        b_ptrs += b_step
    if PARTS:
        # A split's results lie after those of all batches in front of it.
        y_ptr += tl.program_id(1).to(tl.int64) * (tl.num_programs(0) // (blocks_m * blocks_n)) * M * N
    finish(total, y_ptr, bias_ptr, residual_ptr, before_ptr, of_ptr, batch, rows, cols, inside, M, N, r_batch, r_row,
           r_col, scale, activation, ACTIVATION, PLAIN)


@triton.jit
def halves(tile):
    """The left and the right half of a tile's columns."""
    rows: tl.constexpr = tile.shape[0]
    cols: tl.constexpr = tile.shape[1] // 2
    return tl.split(tl.permute(tl.reshape(tile, (rows, 2, cols)), (0, 2, 1)))


@triton.jit
def in_columns(tile, PIECES: tl.constexpr):
    """A tile cut into PIECES of neighbouring columns, a power of two."""
    pieces = (tile, )
    for i in tl.static_range(PIECES.bit_length() - 1):
        finer = ()
        for piece in pieces:
            left, right = halves(piece)
            finer = finer + (left, right)
        pieces = finer
    return pieces


@triton.jit
def roles_kernel(y_ptr, a_ptr, b_ptr, bias_ptr, residual_ptr, before_ptr, of_ptr, M, N, K, batches, splits, share, a_batch,
                 a_row, a_col, b_batch, b_row, b_col, r_batch, r_row, r_col, scale, BLOCK_M: tl.constexpr,
                 BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr, GROUP: tl.constexpr, WIDE: tl.constexpr,
                 PARTS: tl.constexpr, ACTIVATION: tl.constexpr, PLAIN: tl.constexpr, PIECES: tl.constexpr,
                 UNIT: tl.constexpr = 1, N_UNIT: tl.constexpr = 1, A_ALONG_M: tl.constexpr = False,
                 B_ALONG_N: tl.constexpr = False):
    """linear_kernel for GPUs that copy boxes of tensors by an engine: each program goes through the blocks of y [splits,
    batches, M, N] by the number of programs, and warps of its own copy the next block's operands while the others still
    store. PARTS: split s multiplies from s * share on, which is a multiple of BLOCK_K; else there is one.
    PIECES: columns of a block that are stored beside the first products of the next block, a piece each; K has that many
    blocks at least. With several, y has 16 bits, and nothing but a scale and a bias follows the product.
    UNIT: what strides of a and b are given in, but for those that are 1: of neighbours along M where A_ALONG_M, along N
    where B_ALONG_N, else along K. N_UNIT: what N is given in. They show multiples of 16 bytes that are none of 16 elements.
    """
    N *= N_UNIT
    A_ROW: tl.constexpr = 1 if A_ALONG_M else UNIT
    A_COL: tl.constexpr = UNIT if A_ALONG_M else 1
    B_ROW: tl.constexpr = UNIT if B_ALONG_N else 1
    B_COL: tl.constexpr = 1 if B_ALONG_N else UNIT
    blocks_m = tl.cdiv(M, BLOCK_M)
    blocks_n = tl.cdiv(N, BLOCK_N)
    for block in range(tl.program_id(0), blocks_m * blocks_n * batches * splits, tl.num_programs(0)):
        program = block % (blocks_m * blocks_n)
        part = block // (blocks_m * blocks_n)
        batch = part
        first = 0
        last = K
        if PARTS:
            batch = part % batches
            first = tl.maximum(part // batches * share, 0)  # no index is negative, as the engine wants it
            last = tl.minimum(first + share, K)
        group = program // (GROUP * blocks_n)
        # At least 1, which a constant M does not show: so no column is negative, and loads of columns run ahead.
        height = max(min(blocks_m - group * GROUP, GROUP), 1)
        within = program % (GROUP * blocks_n)
        rows = (group * GROUP + within % height) * BLOCK_M + tl.arange(0, BLOCK_M)
        cols = within // height * BLOCK_N + tl.arange(0, BLOCK_N)
        ks = tl.arange(0, BLOCK_K)
        start = first + ks
        # Masks stay of 32 bits.
        far_rows = rows
        far_cols = cols
        far_ks = start
        a_step = BLOCK_K * a_col * A_COL
        b_step = BLOCK_K * b_row * B_ROW
        if WIDE:
            far_rows = rows.to(tl.int64)
            far_cols = cols.to(tl.int64)
            far_ks = start.to(tl.int64)
            a_step = tl.full((), BLOCK_K, tl.int64) * a_col * A_COL
            b_step = tl.full((), BLOCK_K, tl.int64) * b_row * B_ROW
        a_ptrs = a_ptr + batch.to(tl.int64) * a_batch * UNIT
        a_ptrs = a_ptrs + far_rows[:, None] * a_row * A_ROW + far_ks[None, :] * a_col * A_COL
        b_ptrs = b_ptr + batch.to(tl.int64) * b_batch * UNIT
        b_ptrs = b_ptrs + far_ks[:, None] * b_row * B_ROW + far_cols[None, :] * b_col * B_COL
        IN: tl.constexpr = a_ptr.dtype.element_ty
        SHORT: tl.constexpr = min(BLOCK_K, 128) if IN.is_fp8() else None
        total = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.int32 if IN == tl.int8 else tl.float32)
        tl.assume(last - first > (PIECES - 1) * BLOCK_K)
        for k in tl.range(first, last, BLOCK_K, warp_specialize=True):
            a = tl.load(a_ptrs, mask=(rows[:, None] < M) & (ks[None, :] < K - k), other=0.0)
            b = tl.load(b_ptrs, mask=(ks[:, None] < K - k) & (cols[None, :] < N), other=0.0)
            total = tl.dot(a, b, total, max_num_imprecise_acc=SHORT)
            a_ptrs += a_step
            b_ptrs += b_step
        if PIECES == 1:
            inside = (rows[:, None] < M) & (cols[None, :] < N)
            finish(total, y_ptr, bias_ptr, residual_ptr, before_ptr, of_ptr, part, far_rows, far_cols, inside, M, N, r_batch,
                   r_row, r_col, scale, 0, ACTIVATION, PLAIN)
        else:
            if not PLAIN:
                total = total * scale
                if bias_ptr is not None:
                    total += tl.load(bias_ptr + cols, mask=cols < N, other=0.0).to(tl.float32)[None, :]
            pieces = in_columns(total.to(y_ptr.dtype.element_ty), PIECES)
            base = y_ptr + tl.to_tensor(part).to(tl.int64) * M * N
            for i in tl.static_range(PIECES):
                of_piece = within // height * BLOCK_N + i * (BLOCK_N // PIECES) + tl.arange(0, BLOCK_N // PIECES)
                inside = (rows[:, None] < M) & (of_piece[None, :] < N)
                tl.store(base + far_rows[:, None] * N + of_piece[None, :], pieces[i], mask=inside)


@triton.jit
def no_sums(ROWS: tl.constexpr, SHAPE: tl.constexpr):
    totals = ()
    for _ in tl.static_range(ROWS):
        totals = totals + (tl.zeros(SHAPE, dtype=tl.float32), )
    return totals


@triton.jit
def add_each(totals, a_ptrs, a_row, exists, b, AXIS: tl.constexpr, ROWS: tl.constexpr):
    """Adds each row of a times b, summed along AXIS, to the row's sums: b is read once, and the sums stay in registers."""
    sums = ()
    for r in tl.static_range(ROWS):
        a_ptr = a_ptrs + tl.full((), r, tl.int64) * a_row
        a = tl.load(a_ptr) if exists is None else tl.load(a_ptr, mask=exists, other=0.0)
        sums = sums + (totals[r] + tl.sum(a.to(tl.float32) * b.to(tl.float32), axis=AXIS), )
    return sums


@triton.jit
def few_rows_kernel(y_ptr, a_ptr, b_ptr, bias_ptr, residual_ptr, before_ptr, of_ptr, M, N, K, a_row, a_col, b_col, r_row,
                    r_col, scale, ROWS: tl.constexpr, BLOCK_N: tl.constexpr, PARTS: tl.constexpr, LANES: tl.constexpr,
                    EVEN: tl.constexpr, ACTIVATION: tl.constexpr, PLAIN: tl.constexpr):
    """BLOCK_N columns of y [ROWS, N] on a host, where columns of b lie in a row of memory, as a weight's do: no block is
    transposed. A row and column have LANES sums, added up at the end."""
    cols = tl.program_id(0).to(tl.int64) * BLOCK_N + tl.arange(0, BLOCK_N)
    ks = (tl.arange(0, PARTS)[:, None] * LANES + tl.arange(0, LANES)[None, :])[None, :, :]
    a_ptrs = a_ptr + ks.to(tl.int64) * a_col
    b_ptrs = b_ptr + cols[:, None, None] * b_col + ks
    b_exists = (cols < N)[:, None, None]
    totals = no_sums(ROWS, (BLOCK_N, LANES))
    for k in range(0, K, PARTS * LANES):
        exists = None if EVEN else ks < K - k
        b = tl.load(b_ptrs, mask=b_exists if EVEN else exists & b_exists, other=0.0)
        totals = add_each(totals, a_ptrs, a_row, exists, b, 1, ROWS)
        a_ptrs += tl.full((), PARTS * LANES, tl.int64) * a_col
        b_ptrs += PARTS * LANES
    for r in tl.static_range(ROWS):
        rows = tl.arange(0, 1).to(tl.int64) + r
        finish(tl.sum(totals[r], axis=1)[None, :], y_ptr, bias_ptr, residual_ptr, before_ptr, of_ptr, 0, rows, cols,
               (cols < N)[None, :], M, N, 0, r_row, r_col, scale, 0, ACTIVATION, PLAIN)


@triton.jit
def weight_rows_kernel(y_ptr, a_ptr, b_ptr, bias_ptr, residual_ptr, before_ptr, of_ptr, M, N, K, a_row, a_col, b_col,
                       r_row, r_col, scale, ROWS: tl.constexpr, BLOCK_N: tl.constexpr, PARTS: tl.constexpr,
                       LANES: tl.constexpr, WIDTH: tl.constexpr, EARLY: tl.constexpr, ACTIVATION: tl.constexpr,
                       PLAIN: tl.constexpr):
    """The same on a GPU, for M <= ROWS rows: a warp takes BLOCK_N columns of b, PARTS times WIDTH elements of each
    a lane, so that lanes add up once, at the end, and nothing goes through shared memory.

    EARLY: the launch may begin before what it multiplies is there, and reads the weight meanwhile.
    """
    if EARLY:
        tl.extra.cuda.gdc_launch_dependents()
    cols = tl.program_id(0) * BLOCK_N + tl.arange(0, BLOCK_N)
    rows = tl.arange(0, ROWS)
    part = tl.arange(0, PARTS)[:, None, None] * LANES + tl.arange(0, LANES)[None, :, None]
    ks = (part * WIDTH + tl.arange(0, WIDTH)[None, None, :])[None, :, :, :]
    b_exists = (cols < N)[:, None, None, None]
    a_exists = (rows < M)[:, None, None, None]
    b_ptrs = b_ptr + cols[:, None, None, None].to(tl.int64) * b_col + ks
    a_ptrs = a_ptr + rows[:, None, None, None].to(tl.int64) * a_row + ks.to(tl.int64) * a_col
    BLOCK_K: tl.constexpr = PARTS * LANES * WIDTH
    a_step = tl.full((), BLOCK_K, tl.int64) * a_col
    b = tl.load(b_ptrs, mask=b_exists & (ks < K), other=0.0)
    if bias_ptr is not None:
        bias = tl.load(bias_ptr + cols, mask=cols < N, other=0.0)
    if EARLY:
        tl.extra.cuda.gdc_wait()
    total = tl.zeros((ROWS, BLOCK_N, LANES), dtype=tl.float32)
    for k in range(0, K, BLOCK_K):
        a = tl.load(a_ptrs, mask=a_exists & (ks < K - k), other=0.0)
        products = a.to(tl.float32)[:, None, :, :, :] * b.to(tl.float32)[None, :, :, :, :]
        total += tl.sum(tl.sum(products, axis=4), axis=2)
        a_ptrs += a_step
        b_ptrs += BLOCK_K
        b = tl.load(b_ptrs, mask=b_exists & (ks < K - k - BLOCK_K), other=0.0)
    rows64 = rows.to(tl.int64)
    inside = (rows[:, None] < M) & (cols[None, :] < N)
    y = tl.sum(total, axis=2)
    if not PLAIN:
        y *= scale
        if bias_ptr is not None:
            y += bias.to(tl.float32)[None, :]
    finish(y, y_ptr, None, residual_ptr, before_ptr, of_ptr, 0, rows64, cols.to(tl.int64), inside, M, N, 0, r_row, r_col, 1.0,
           0, ACTIVATION, PLAIN)


@triton.jit
def parts_of(x_ptrs, exists, ks, K, PARTS: tl.constexpr, EVEN: tl.constexpr, other=0.0):
    """x [..., LANES, WIDTH] PARTS times, one after the other along K: a tuple, whose parts are in registers. EVEN: all of it
    exists."""
    STEP: tl.constexpr = ks.shape[0] * ks.shape[1]
    parts = ()
    for i in tl.static_range(PARTS):
        if EVEN:
            parts = parts + (tl.load(x_ptrs + i * STEP), )
        else:
            parts = parts + (tl.load(x_ptrs + i * STEP, mask=exists & (ks < K - i * STEP), other=other), )
    return parts


@triton.jit
def add_products(total, a, b):
    """total + a part of a [ROWS, LANES, WIDTH] times one of b [BLOCK_N, LANES, WIDTH]: of one row a sum for each element."""
    products = a.to(tl.float32)[:, None, :, :] * b.to(tl.float32)[None, :, :, :]
    return total + (products if a.shape[0] == 1 else tl.sum(products, axis=3)[:, :, :, None])


@triton.jit
def finish_rows(total, scale, y_ptr, bias_ptr, bias, rows, cols, M, N, ACTIVATION: tl.constexpr):
    """y = activation(scale * total + bias), lanes added up."""
    y = tl.sum(tl.sum(total, axis=3), axis=2)
    if scale is not None:
        y *= scale
    if bias_ptr is not None:
        y += bias.to(tl.float32)[None, :]
    y = activate(y, ACTIVATION)
    inside = (rows[:, None] < M) & (cols[None, :] < N)
    tl.store(y_ptr + rows[:, None].to(tl.int64) * N + cols[None, :], y, mask=inside)


@triton.jit
def begin_rows(b_ptr, bias_ptr, N, K, b_col, ROWS: tl.constexpr, BLOCK_N: tl.constexpr, PARTS: tl.constexpr,
               LANES: tl.constexpr, WIDTH: tl.constexpr, EVEN: tl.constexpr, EARLY: tl.constexpr):
    """What waits for no launch before: rows, columns, places in a part of K, the weights of the columns, and their bias."""
    if EARLY == 1:
        tl.extra.cuda.gdc_launch_dependents()
    cols = tl.program_id(0) * BLOCK_N + tl.arange(0, BLOCK_N)
    rows = tl.arange(0, ROWS)
    ks = tl.arange(0, LANES)[:, None] * WIDTH + tl.arange(0, WIDTH)[None, :]
    b = parts_of(b_ptr + cols[:, None, None].to(tl.int64) * b_col + ks, (cols < N)[:, None, None], ks, K, PARTS, EVEN)
    bias = tl.load(bias_ptr + cols, mask=cols < N, other=0.0) if bias_ptr is not None else 0.0
    return rows, cols, ks, b, bias


@triton.jit
def whole_rows_kernel(y_ptr, a_ptr, b_ptr, bias_ptr, M, N, K, a_row, b_col, scale, ROWS: tl.constexpr,
                      BLOCK_N: tl.constexpr, PARTS: tl.constexpr, LANES: tl.constexpr, WIDTH: tl.constexpr,
                      EVEN: tl.constexpr, EARLY: tl.constexpr, ACTIVATION: tl.constexpr):
    """weight_rows_kernel where a program has all of K in registers, in parts: half the instructions and registers. The rows of
    a have neighbours beside each other."""
    rows, cols, ks, b, bias = begin_rows(b_ptr, bias_ptr, N, K, b_col, ROWS, BLOCK_N, PARTS, LANES, WIDTH, EVEN, EARLY)
    if EARLY:
        tl.extra.cuda.gdc_wait()
    a_ptrs = a_ptr + rows[:, None, None].to(tl.int64) * a_row + ks[None, :, :]
    a = parts_of(a_ptrs, (rows < M)[:, None, None], ks, K, PARTS, EVEN)
    total = tl.zeros((ROWS, BLOCK_N, LANES, WIDTH if ROWS == 1 else 1), dtype=tl.float32)
    for i in tl.static_range(PARTS):
        total = add_products(total, a[i], b[i])
    finish_rows(total, scale, y_ptr, bias_ptr, bias, rows, cols, M, N, ACTIVATION)


@triton.jit
def row_of(x_ptr, index_ptr, count, x_row, ks, K, PARTS: tl.constexpr, EVEN: tl.constexpr):
    """The first element of a row, and its parts; with index_ptr, of the row of a table of `count` that it chooses, or NaN."""
    row = tl.load(index_ptr).to(tl.int64) if index_ptr is not None else tl.full((), 0, tl.int64)
    exists = (row >= 0) & (row < count)
    x_ptr += row * x_row
    parts = parts_of(x_ptr + ks, exists, ks, K, PARTS, EVEN and index_ptr is None, float("nan"))
    return tl.load(x_ptr, mask=exists, other=float("nan")), parts


@triton.jit
def add_pairs(sum, squares, other_sum, other_squares):
    return sum + other_sum, squares + other_squares


@triton.jit
def norm_row_kernel(y_ptr, sum_ptr, x_ptr, x_index_ptr, x_count, x_row, residual_ptr, residual_index_ptr, residual_count,
                    residual_row, norm_w_ptr, norm_b_ptr, b_ptr, bias_ptr, N, K, b_col, eps, BLOCK_N: tl.constexpr,
                    PARTS: tl.constexpr, LANES: tl.constexpr, WIDTH: tl.constexpr, EVEN: tl.constexpr, EARLY: tl.constexpr,
                    ACTIVATION: tl.constexpr):
    """y = activation(layer norm(x + residual) @ b + bias) of one row: each program has the norm, and the first one stores the
    sum. EARLY = 2 lets the next launch begin when those in front have ended. One pass has mean and variance of the row less its
    first element, whose square over K is at most the variance: their difference loses K roundings of fp32 at most."""
    STEP: tl.constexpr = LANES * WIDTH
    rows, cols, ks, b, bias = begin_rows(b_ptr, bias_ptr, N, K, b_col, 1, BLOCK_N, PARTS, LANES, WIDTH, EVEN, EARLY)
    if norm_w_ptr is not None:
        norm_w = parts_of(norm_w_ptr + ks, True, ks, K, PARTS, EVEN)
    if norm_b_ptr is not None:
        norm_b = parts_of(norm_b_ptr + ks, True, ks, K, PARTS, EVEN)
    if EARLY:
        tl.extra.cuda.gdc_wait()
    if EARLY == 2:
        tl.extra.cuda.gdc_launch_dependents()
    x_first, x = row_of(x_ptr, x_index_ptr, x_count, x_row, ks, K, PARTS, EVEN)
    residual_first, residual = row_of(residual_ptr, residual_index_ptr, residual_count, residual_row, ks, K, PARTS, EVEN)
    shift = x_first.to(tl.float32) + residual_first.to(tl.float32)
    kept = ()
    added = tl.zeros((LANES, WIDTH), dtype=tl.float32)
    squares = added
    for i in tl.static_range(PARTS):
        kept = kept + ((x[i].to(tl.float32) + residual[i].to(tl.float32)).to(sum_ptr.dtype.element_ty), )
        moved = kept[i].to(tl.float32) - shift
        if not EVEN:
            moved = tl.where(ks < K - i * STEP, moved, 0.0)
        added += moved
        squares += moved * moved
    mean, square = tl.reduce((tl.sum(added, axis=1) / K, tl.sum(squares, axis=1) / K), 0, add_pairs)
    rstd = tl.rsqrt(tl.maximum(square - mean * mean, 0.0) + eps)
    total = tl.zeros((1, BLOCK_N, LANES, WIDTH), dtype=tl.float32)
    for i in tl.static_range(PARTS):
        a = (kept[i].to(tl.float32) - shift - mean) * rstd
        if not EVEN:
            a = tl.where(ks < K - i * STEP, a, 0.0)
        if norm_w_ptr is not None:
            a *= norm_w[i].to(tl.float32)
        if norm_b_ptr is not None:
            a += norm_b[i].to(tl.float32)
        total = add_products(total, a.to(y_ptr.dtype.element_ty)[None, :, :], b[i])
        tl.store(sum_ptr + ks + i * STEP, kept[i], mask=(tl.program_id(0) == 0) & (ks < K - i * STEP))
    finish_rows(total, None, y_ptr, bias_ptr, bias, rows, cols, 1, N, ACTIVATION)


@triton.jit
def combined_rows_kernel(y_ptr, parts_ptr, lse_ptr, b_ptr, bias_ptr, M, N, K, splits, b_col, SPLITS: tl.constexpr,
                         D: tl.constexpr, ROWS: tl.constexpr, BLOCK_N: tl.constexpr, PARTS: tl.constexpr,
                         LANES: tl.constexpr, WIDTH: tl.constexpr, EVEN: tl.constexpr, EARLY: tl.constexpr):
    """y = o @ b + bias, where o [M, K] is what decoding.py's combine_kernel makes of the parts [M, heads, splits, D] and
    their sums: each program combines them itself. WIDTH divides D."""
    lanes = tl.arange(0, LANES)
    rows, cols, ks, b, bias = begin_rows(b_ptr, bias_ptr, N, K, b_col, ROWS, BLOCK_N, PARTS, LANES, WIDTH, EVEN, EARLY)
    if EARLY:
        tl.extra.cuda.gdc_wait()
    total = tl.zeros((ROWS, BLOCK_N, LANES, WIDTH if ROWS == 1 else 1), dtype=tl.float32)
    for i in tl.static_range(PARTS):
        # Of the WIDTH elements that a lane has side by side, which are of one head.
        first = (lanes[None, :] + i * LANES) * WIDTH
        row = rows[:, None].to(tl.int64)
        exists = (row < M) & (first < K)
        at = (row * (K // D) + first // D) * splits
        o_ptrs = parts_ptr + (at * D + first % D)[:, :, None] + tl.arange(0, WIDTH)[None, None, :]
        largest = tl.full((ROWS, LANES), float("-inf"), dtype=tl.float32)
        for s in tl.static_range(SPLITS):
            largest = tl.maximum(largest, tl.load(lse_ptr + at + s, mask=exists & (s < splits), other=float("-inf")))
        largest = tl.where(largest == float("-inf"), 0.0, largest)
        weights = tl.zeros((ROWS, LANES), dtype=tl.float32)
        o = tl.zeros((ROWS, LANES, WIDTH), dtype=tl.float32)
        for s in tl.static_range(SPLITS):
            there = exists & (s < splits)
            weight = tl.exp2(tl.load(lse_ptr + at + s, mask=there, other=float("-inf")) - largest)
            weights += weight
            o += weight[:, :, None] * tl.load(o_ptrs + s * D, mask=there[:, :, None], other=0.0)
        o = o / tl.where(weights == 0.0, 1.0, weights)[:, :, None]
        total = add_products(total, o.to(y_ptr.dtype.element_ty), b[i])
    finish_rows(total, None, y_ptr, bias_ptr, bias, rows, cols, M, N, "none")


@triton.jit
def parts_kernel(y_ptr, parts_ptr, bias_ptr, residual_ptr, before_ptr, of_ptr, M, N, r_batch, r_row, r_col, scale,
                 parts, part_stride, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, WIDE: tl.constexpr,
                 ACTIVATION: tl.constexpr, PLAIN: tl.constexpr):
    """y [batch, M, N] from parts [parts, batch, M, N]."""
    blocks_m = tl.cdiv(M, BLOCK_M)
    blocks_n = tl.cdiv(N, BLOCK_N)
    program = tl.program_id(0) % (blocks_m * blocks_n)
    batch = tl.program_id(0) // (blocks_m * blocks_n)
    rows = program // blocks_n * BLOCK_M + tl.arange(0, BLOCK_M)
    cols = program % blocks_n * BLOCK_N + tl.arange(0, BLOCK_N)
    if WIDE:
        rows = rows.to(tl.int64)
        cols = cols.to(tl.int64)
    inside = (rows[:, None] < M) & (cols[None, :] < N)
    from_ptrs = parts_ptr + batch.to(tl.int64) * M * N + (rows[:, None] * N + cols[None, :])
    total = tl.load(from_ptrs, mask=inside, other=0)
    for part in range(1, parts):
        from_ptrs += part_stride
        total += tl.load(from_ptrs, mask=inside, other=0)
    finish(total, y_ptr, bias_ptr, residual_ptr, before_ptr, of_ptr, batch, rows, cols, inside, M, N, r_batch, r_row,
           r_col, scale, 0, ACTIVATION, PLAIN)


@triton.jit
def activation_kernel(y_ptr, z_ptr, n, BLOCK: tl.constexpr, ACTIVATION: tl.constexpr):
    """y = activation(z)."""
    start = tl.program_id(0).to(tl.int64) * BLOCK
    at = tl.arange(0, BLOCK)
    inside = at < n - start
    z = tl.load(z_ptr + start + at, mask=inside, other=0.0).to(tl.float32)
    tl.store(y_ptr + start + at, activate(z, ACTIVATION), mask=inside)


@triton.jit
def derivative_kernel(dz_ptr, dy_ptr, z_ptr, n, BLOCK: tl.constexpr, ACTIVATION: tl.constexpr):
    """dz = dy * activation'(z)."""
    start = tl.program_id(0).to(tl.int64) * BLOCK
    at = tl.arange(0, BLOCK)
    inside = at < n - start
    dy = tl.load(dy_ptr + start + at, mask=inside, other=0.0).to(tl.float32)
    z = tl.load(z_ptr + start + at, mask=inside, other=0.0).to(tl.float32)
    tl.store(dz_ptr + start + at, dy * derivative(z, ACTIVATION), mask=inside)


@triton.jit
def given_parts_kernel(y_ptr, parts_ptr, bias_ptr, residual_ptr, before_ptr, M, N, r_batch, r_row, r_col, scale, parts,
                       part_stride, has_bias, has_residual, has_before, activation, BLOCK_M: tl.constexpr,
                       BLOCK_N: tl.constexpr, PLAIN: tl.constexpr):
    """As parts_kernel; numbers of the launch say what follows the sum, so that few forms are compiled ahead of time.
    What there is not has any address."""
    blocks_m = tl.cdiv(M, BLOCK_M)
    blocks_n = tl.cdiv(N, BLOCK_N)
    program = tl.program_id(0) % (blocks_m * blocks_n)
    batch = (tl.program_id(0) // (blocks_m * blocks_n)).to(tl.int64)
    rows = (program // blocks_n * BLOCK_M).to(tl.int64) + tl.arange(0, BLOCK_M)
    cols = (program % blocks_n * BLOCK_N).to(tl.int64) + tl.arange(0, BLOCK_N)
    inside = (rows[:, None] < M) & (cols[None, :] < N)
    at = batch * M * N + (rows[:, None] * N + cols[None, :])
    from_ptrs = parts_ptr + at
    total = tl.load(from_ptrs, mask=inside, other=0)
    for part in range(1, parts):
        from_ptrs += part_stride
        total += tl.load(from_ptrs, mask=inside, other=0)
    if not PLAIN:
        total = total.to(tl.float32) * scale
        bias = tl.load(bias_ptr + cols, mask=(cols < N) & (has_bias != 0), other=0.0)
        total += bias[None, :]
        tl.store(before_ptr + at, total, mask=inside & (has_before != 0))
        total = activate_given(total, activation)
        r_ptrs = residual_ptr + batch * r_batch + (rows[:, None] * r_row + cols[None, :] * r_col)
        total += tl.load(r_ptrs, mask=inside & (has_residual != 0), other=0.0)
    tl.store(y_ptr + at, total, mask=inside)


@triton.jit
def columns_kernel(sums_ptr, dz_ptr, dy_ptr, z_ptr, M, N, dy_row, dy_col, activation, BLOCK_M: tl.constexpr,
                   BLOCK_N: tl.constexpr, ACTIVATION: tl.constexpr):
    """dz = dy * activation'(z) and the sums of its columns; without z, dz is dy. Program (c, p) adds the blocks of rows
    p, p + programs, ... into row p of sums."""
    cols = tl.program_id(0) * BLOCK_N + tl.arange(0, BLOCK_N)
    rows = tl.arange(0, BLOCK_M)
    sums = tl.zeros((BLOCK_N,), dtype=tl.float32)
    for start in range(tl.program_id(1) * BLOCK_M, M, tl.num_programs(1) * BLOCK_M):
        first = start.to(tl.int64)
        inside = (rows[:, None] < M - start) & (cols[None, :] < N)
        dy_ptrs = dy_ptr + first * dy_row + (rows[:, None] * dy_row + cols[None, :].to(tl.int64) * dy_col)
        dz = tl.load(dy_ptrs, mask=inside, other=0.0).to(tl.float32)
        if z_ptr is not None:
            at = first * N + (rows[:, None] * N + cols[None, :])
            z = tl.load(z_ptr + at, mask=inside, other=0.0).to(tl.float32)
            if ACTIVATION == "given":
                dz *= slope_given(z, activation)
            else:
                dz *= derivative(z, ACTIVATION)
            tl.store(dz_ptr + at, dz, mask=inside)
        if sums_ptr is not None:
            sums += tl.sum(dz, axis=0)
    if sums_ptr is not None:
        tl.store(sums_ptr + tl.program_id(1) * N + cols, sums, mask=cols < N)


@triton.jit
def outer_kernel(y_ptr, a_ptr, b_ptr, bias_ptr, residual_ptr, before_ptr, of_ptr, M, N, a_row, a_col, b_row, b_col, r_row,
                 r_col, scale, K: tl.constexpr, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, ACTIVATION: tl.constexpr,
                 PLAIN: tl.constexpr):
    """A block of y [M, N] on a host, of so small a K that y's memory is the limit: nothing is packed."""
    blocks = tl.cdiv(N, BLOCK_N)
    rows = (tl.program_id(0) // blocks).to(tl.int64) * BLOCK_M + tl.arange(0, BLOCK_M)
    cols = (tl.program_id(0) % blocks).to(tl.int64) * BLOCK_N + tl.arange(0, BLOCK_N)
    total = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
    for k in tl.static_range(K):
        a = tl.load(a_ptr + rows * a_row + k * a_col, mask=rows < M, other=0.0)
        b = tl.load(b_ptr + k * b_row + cols * b_col, mask=cols < N, other=0.0)
        total += a.to(tl.float32)[:, None] * b.to(tl.float32)[None, :]
    inside = (rows[:, None] < M) & (cols[None, :] < N)
    finish(total, y_ptr, bias_ptr, residual_ptr, before_ptr, of_ptr, 0, rows, cols, inside, M, N, 0, r_row, r_col, scale, 0,
           ACTIVATION, PLAIN)


@triton.jit
def rows_of_lines_kernel(y_ptr, a_ptr, b_ptr, bias_ptr, residual_ptr, before_ptr, of_ptr, M, N, K, a_row, a_col, b_row, r_row,
                         r_col, scale, ROWS: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr, EVEN: tl.constexpr,
                         ACTIVATION: tl.constexpr, PLAIN: tl.constexpr):
    """BLOCK_N columns of y [ROWS, N] on a host, where rows of b lie in a row of memory: each is a sum of these."""
    cols = tl.program_id(0).to(tl.int64) * BLOCK_N + tl.arange(0, BLOCK_N)
    ks = tl.arange(0, BLOCK_K).to(tl.int64)[:, None]
    a_ptrs = a_ptr + ks * a_col
    b_ptrs = b_ptr + ks * b_row + cols[None, :]
    totals = no_sums(ROWS, (BLOCK_N, ))
    for k in range(0, K, BLOCK_K):
        exists = None if EVEN else ks < K - k
        b = tl.load(b_ptrs, mask=(cols < N)[None, :] if EVEN else exists & (cols < N)[None, :], other=0.0)
        totals = add_each(totals, a_ptrs, a_row, exists, b, 0, ROWS)
        a_ptrs += tl.full((), BLOCK_K, tl.int64) * a_col
        b_ptrs += tl.full((), BLOCK_K, tl.int64) * b_row
    for r in tl.static_range(ROWS):
        rows = tl.arange(0, 1).to(tl.int64) + r
        finish(totals[r][None, :], y_ptr, bias_ptr, residual_ptr, before_ptr, of_ptr, 0, rows, cols, (cols < N)[None, :], M, N, 0,
               r_row, r_col, scale, 0, ACTIVATION, PLAIN)
