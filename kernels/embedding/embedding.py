"""Rows of a table by their index, and the sum of gradients back into the table, without atomics."""
import triton
import triton.language as tl


@triton.jit
def embedding_kernel(y_ptr, index_ptr, w_ptr, w_stride, V, N, BLOCK: tl.constexpr, EARLY: tl.constexpr = False):
    """y[t] = w[index[t]], NaN where the table has no such row. BLOCK columns a program; programs (t * blocks of columns).
    EARLY: the launch may begin before the indices are there."""
    blocks = tl.cdiv(N, BLOCK)
    t = (tl.program_id(0) // blocks).to(tl.int64)
    cols = tl.program_id(0) % blocks * BLOCK + tl.arange(0, BLOCK)
    if EARLY:
        tl.extra.cuda.gdc_launch_dependents()
        tl.extra.cuda.gdc_wait()
    index = tl.load(index_ptr + t).to(tl.int64)
    exists = (index >= 0) & (index < V)
    w = tl.load(w_ptr + index * w_stride + cols, mask=exists & (cols < N), other=float("nan"))
    tl.store(y_ptr + t * N + cols, w, mask=cols < N)


@triton.jit
def is_row(index, V, padding):
    return (index >= 0) & (index < V) & (index != padding)


@triton.jit
def same_rows(index, index_ptr, s, V, T, padding):
    """[token, other]: do the tokens s take the same row? What is no row is like nothing else."""
    other = tl.load(index_ptr + s, mask=s < T, other=-1)
    other = tl.where(is_row(other, V, padding), other, -2).to(tl.int32)
    return other[None, :] == index[:, None]


@triton.jit
def embedding_places_kernel(place_ptr, counts_ptr, index_ptr, V, T, CHUNK: tl.constexpr, BLOCK: tl.constexpr,
                            STEP: tl.constexpr, padding=-1):
    """The first step of a stable sort by counting: in each chunk of CHUNK tokens, place[t] says which one t is of those that
    take the same row v, and counts[chunk, v] (0 before) how many they are. BLOCK tokens a program, compared with their
    chunk STEP at a time. `padding` is no row."""
    first = tl.program_id(0) * BLOCK
    t = first + tl.arange(0, BLOCK)
    index = tl.load(index_ptr + t, mask=t < T, other=-1)
    exists = is_row(index, V, padding)
    index = tl.where(exists, index, -1).to(tl.int32)
    chunk = first // CHUNK
    slots = tl.arange(0, STEP)
    earlier = tl.zeros((BLOCK, STEP), dtype=tl.int32)
    later = tl.zeros((BLOCK, STEP), dtype=tl.int32)
    # The block lies in one step, in which alone it matters which of two tokens comes first.
    own = first // STEP * STEP
    for start in range(chunk * CHUNK, own, STEP):
        earlier += same_rows(index, index_ptr, start + slots, V, T, padding).to(tl.int32)
    same = same_rows(index, index_ptr, own + slots, V, T, padding)
    before = (own + slots)[None, :] < t[:, None]
    earlier += (same & before).to(tl.int32)
    later += (same & ~before).to(tl.int32)
    for start in range(own + STEP, tl.minimum(T, (chunk + 1) * CHUNK), STEP):
        later += same_rows(index, index_ptr, start + slots, V, T, padding).to(tl.int32)
    place = tl.sum(earlier, axis=1)
    tl.store(place_ptr + t, place, mask=t < T)
    count = place + tl.sum(later, axis=1)
    tl.store(counts_ptr + chunk.to(tl.int64) * V + index, count, mask=exists & (place == 0))


@triton.jit
def embedding_lists_kernel(begin_ptr, count_ptr, counts_ptr, taken_ptr, V, chunks, BLOCK: tl.constexpr, STEP: tl.constexpr):
    """For each row of the table a list of the tokens that took it: count[v] is their number, begin[v] where the list lies,
    and counts[chunk, v] becomes the number in earlier chunks. Lists are taken in the order in which programs come: where
    one lies may differ from run to run, its order may not. BLOCK rows a program, STEP chunks at a time."""
    v = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = v < V
    total = tl.zeros((BLOCK,), dtype=tl.int32)
    for first in range(0, chunks, STEP):
        chunk = first + tl.arange(0, STEP)
        at = counts_ptr + (chunk.to(tl.int64)[:, None] * V + v[None, :])
        exists = (chunk < chunks)[:, None] & inside[None, :]
        count = tl.load(at, mask=exists, other=0)
        tl.store(at, total[None, :] + tl.cumsum(count, axis=0) - count, mask=exists)
        total += tl.sum(count, axis=0)
    begin = tl.atomic_add(taken_ptr, tl.sum(total, axis=0)) + tl.cumsum(total, axis=0) - total
    tl.store(begin_ptr + v, begin, mask=inside)
    tl.store(count_ptr + v, total, mask=inside)


@triton.jit
def embedding_order_kernel(order_ptr, place_ptr, begin_ptr, counts_ptr, index_ptr, V, T, CHUNK: tl.constexpr,
                           BLOCK: tl.constexpr, padding=-1):
    """Writes each token into its row's list, BLOCK of one chunk a program."""
    first = tl.program_id(0) * BLOCK
    t = first + tl.arange(0, BLOCK)
    index = tl.load(index_ptr + t, mask=t < T, other=-1)
    exists = is_row(index, V, padding)
    earlier = tl.load(counts_ptr + (first // CHUNK).to(tl.int64) * V + index, mask=exists, other=0)
    at = tl.load(begin_ptr + index, mask=exists, other=0) + tl.load(place_ptr + t, mask=exists, other=0) + earlier
    tl.store(order_ptr + at, t, mask=exists)


@triton.jit
def embedding_backward_kernel(dw_ptr, before_ptr, dy_ptr, begin_ptr, count_ptr, order_ptr, dy_stride, V, N,
                              ROWS: tl.constexpr, BLOCK: tl.constexpr):
    """dw[s, v] = the sum of dy[t] over part s of v's list, in its order; before[v] is added to part 0. Programs (v * blocks of
    columns, parts)."""
    blocks = tl.cdiv(N, BLOCK)
    v = (tl.program_id(0) // blocks).to(tl.int64)
    cols = tl.program_id(0) % blocks * BLOCK + tl.arange(0, BLOCK)
    inside = cols < N
    total = tl.zeros((BLOCK,), dtype=tl.float32)
    if before_ptr is not None:
        total += tl.load(before_ptr + v * N + cols, mask=inside & (tl.program_id(1) == 0), other=0.0)
    count = tl.load(count_ptr + v)
    if count > 0:
        share = tl.cdiv(count, tl.num_programs(1))
        begin = tl.load(begin_ptr + v)
        first = tl.program_id(1) * share
        for i in range(first, tl.minimum(first + share, count), ROWS):
            rows = i + tl.arange(0, ROWS)
            exists = (rows < count) & (rows < first + share)
            t = tl.load(order_ptr + begin + rows, mask=exists, other=0).to(tl.int64)
            dy = tl.load(dy_ptr + t[:, None] * dy_stride + cols[None, :], mask=exists[:, None] & inside[None, :], other=0.0)
            total += tl.sum(dy.to(tl.float32), axis=0)
    tl.store(dw_ptr + (tl.program_id(1).to(tl.int64) * V + v) * N + cols, total, mask=inside)
