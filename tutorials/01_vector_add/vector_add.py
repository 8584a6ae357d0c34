# A kernel says what ONE program does. A launch runs many of them, all with the
# same arguments; the only thing that differs is tl.program_id.
import triton
import triton.language as tl


@triton.jit
def add_kernel(x_ptr, y_ptr, z_ptr, n, BLOCK: tl.constexpr):
    # Program 0 takes elements 0 .. BLOCK-1, program 1 the next BLOCK, and so on.
    # `offsets` is not one number but a block of BLOCK numbers: every line below
    # works on whole blocks, and the compiler turns them into SIMD loops.
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)

    # n is rarely a multiple of BLOCK. Lanes where the mask is false load nothing
    # and store nothing; without it the last program would run past the arrays.
    mask = offsets < n

    # Pointers are numbers too: x_ptr + offsets is a block of BLOCK addresses.
    x = tl.load(x_ptr + offsets, mask=mask)
    y = tl.load(y_ptr + offsets, mask=mask)
    tl.store(z_ptr + offsets, x + y, mask=mask)
