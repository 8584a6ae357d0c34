# The same work twice: every element is read, multiplied and written once. What
# differs is which elements a program has, and with that which of them are
# accessed together.
import triton
import triton.language as tl


# Neighbouring lanes of the block are neighbouring elements of a row: 32 threads
# ask for 128 bytes in one piece, which are 4 sectors of memory.
@triton.jit
def scale_rows(y_ptr, x_ptr, factor, columns, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    i = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * columns + i, mask=i < columns)
    tl.store(y_ptr + row * columns + i, factor * x, mask=i < columns)


# Neighbouring lanes are a whole row apart: 32 threads ask for 4 bytes each of 32
# sectors, and throw the other 28 bytes of each away.
@triton.jit
def scale_columns(y_ptr, x_ptr, factor, rows, columns, BLOCK: tl.constexpr):
    column = tl.program_id(0)
    i = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i * columns + column, mask=i < rows)
    tl.store(y_ptr + i * columns + column, factor * x, mask=i < rows)
