"""Rows that are named by an array of indices: read from anywhere, added to anywhere."""
import triton
import triton.language as tl


@triton.jit
def gather_rows(y_ptr, table_ptr, index_ptr, columns, BLOCK: tl.constexpr):
    """y[i] = table[index[i]]: an embedding."""
    row = tl.program_id(0)
    index = tl.load(index_ptr + row)
    i = tl.arange(0, BLOCK)
    tl.store(y_ptr + row * columns + i, tl.load(table_ptr + index * columns + i, mask=i < columns), mask=i < columns)


@triton.jit
def scatter_add_rows(table_ptr, x_ptr, index_ptr, columns, BLOCK: tl.constexpr):
    """table[index[i]] += x[i]: an embedding's gradient. Two rows may have the same index, hence the atomics."""
    row = tl.program_id(0)
    index = tl.load(index_ptr + row)
    i = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * columns + i, mask=i < columns)
    tl.atomic_add(table_ptr + index * columns + i, x, mask=i < columns)


@triton.jit
def segment_sums(y_ptr, x_ptr, begin_ptr, BLOCK: tl.constexpr):
    """Segment s holds x[begin[s]] ... x[begin[s + 1] - 1]: rows of different lengths, one after the other."""
    segment = tl.program_id(0)
    end = tl.load(begin_ptr + segment + 1)
    total = tl.zeros([BLOCK], tl.float32)
    # The loop's bounds are values of this program.
    for start in range(tl.load(begin_ptr + segment), end, BLOCK):
        i = start + tl.arange(0, BLOCK)
        total += tl.load(x_ptr + i, mask=i < end, other=0.0)
    tl.store(y_ptr + segment, tl.sum(total, axis=0))
