"""Philox4x32 in NumPy: what tl.rand must return, bit for bit.

Salmon, Moraes, Dror, Shaw: Parallel random numbers: as easy as 1, 2, 3 (2011).
"""

import numpy as np

MASK = np.uint64(0xFFFFFFFF)


def philox(seed, counter, rounds=10):
    """Four words for each element of `counter` (word 0; the others are 0)."""
    c = [np.asarray(counter).astype(np.uint32).astype(np.uint64)] + [np.zeros(np.shape(counter), np.uint64)] * 3
    key = [np.uint64(seed & 0xFFFFFFFF), np.uint64((seed >> 32) & 0xFFFFFFFF)]
    for _ in range(rounds):
        high_b, low_b = _mul(0xCD9E8D57, c[2])
        high_a, low_a = _mul(0xD2511F53, c[0])
        c = [high_b ^ c[1] ^ key[0], low_b, high_a ^ c[3] ^ key[1], low_a]
        key = [(key[0] + np.uint64(0x9E3779B9)) & MASK, (key[1] + np.uint64(0xBB67AE85)) & MASK]
    return [word.astype(np.uint32) for word in c]


def rand(seed, counter, rounds=10):
    """Uniform float32 in [0, 1)."""
    x = philox(seed, counter, rounds)[0].view(np.int32)
    x = np.where(x < 0, -x - 1, x)
    return x.astype(np.float32) * np.float32(4.6566127342e-10)


def _mul(constant, word):
    product = np.uint64(constant) * word
    return product >> np.uint64(32), product & MASK
