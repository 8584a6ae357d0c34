"""Softmax of rows of any length, in two passes instead of three: the maximum and the sum grow together."""
import triton
import triton.language as tl


@triton.jit
def online_softmax(y_ptr, x_ptr, columns, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    largest = -float("inf")
    total = 0.0
    for start in range(0, columns, BLOCK):
        i = start + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + row * columns + i, mask=i < columns, other=-float("inf")).to(tl.float32)
        higher = tl.maximum(largest, tl.max(x, axis=0))
        # What was summed so far was relative to the old maximum: one factor corrects all of it.
        total = total * tl.exp(largest - higher) + tl.sum(tl.exp(x - higher), axis=0)
        largest = higher
    for start in range(0, columns, BLOCK):
        i = start + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + row * columns + i, mask=i < columns).to(tl.float32)
        tl.store(y_ptr + row * columns + i, tl.exp(x - largest) / total, mask=i < columns)


@triton.jit
def cross_entropy(loss_ptr, logits_ptr, label_ptr, columns, BLOCK: tl.constexpr):
    """-log softmax(logits)[label] of a row. The softmax itself is never written."""
    row = tl.program_id(0)
    largest = -float("inf")
    total = 0.0
    for start in range(0, columns, BLOCK):
        i = start + tl.arange(0, BLOCK)
        x = tl.load(logits_ptr + row * columns + i, mask=i < columns, other=-float("inf")).to(tl.float32)
        higher = tl.maximum(largest, tl.max(x, axis=0))
        total = total * tl.exp(largest - higher) + tl.sum(tl.exp(x - higher), axis=0)
        largest = higher
    label = tl.load(label_ptr + row)
    chosen = tl.load(logits_ptr + row * columns + label).to(tl.float32)
    tl.store(loss_ptr + row, tl.log(total) + largest - chosen)
