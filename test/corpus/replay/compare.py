"""Compares memory after a launch with what upstream left in it.

Integers and bits are exact. An element of a floating tensor may differ by

    atol * m + rtol * |want| + 4 * |difference between two runs upstream|

where m is the largest finite magnitude that the launch left in that tensor. NaN must meet NaN, an infinity itself. A launch
that is beyond that runs again on inputs that differ in their last bits (perturbed): results cannot be asked to agree closer
than such inputs let them, so four times the change is added. That is what tells cancellation from a mistake. The
two numbers are a few roundings of the type that the kernel stores in, and of the type it computes in: for products
(tl.dot) of fp32 upstream rounds the operands to tf32, 10 bits.

    type    rtol   atol      with products
    fp64    1e-9   1e-11     the same
    fp32    1e-4   2e-6      1e-2, 3e-3
    fp16    8e-3   2e-3      the same: 8 units of precision
    bf16    4e-2   8e-3      the same: 10 units of precision
    fp8     0.26   0.02      the same: 2 units of precision
"""
import numpy as np

# torch or Triton name -> (NumPy type of the bits, kind)
TYPES = {
    "float64": ("f8", "fp64"), "float32": ("f4", "fp32"), "float16": ("f2", "fp16"), "bfloat16": ("u2", "bf16"),
    "float8_e4m3fn": ("u1", "fp8e4nv"), "float8_e5m2": ("u1", "fp8e5"), "fp8e4nv": ("u1", "fp8e4nv"), "fp8e5": ("u1", "fp8e5"),
    "fp64": ("f8", "fp64"), "fp32": ("f4", "fp32"), "fp16": ("f2", "fp16"), "bf16": ("u2", "bf16"),
    "complex64": ("f4", "fp32"), "complex128": ("f8", "fp64"),
    **{f"{sign}int{n}": (f"{sign or 'i'}{n // 8}", "int") for sign in ("", "u") for n in (8, 16, 32, 64)},
    **{f"{sign}{n}": (f"{sign}{n // 8}", "int") for sign in "iu" for n in (8, 16, 32, 64)},
    "bool": ("u1", "int"), "int1": ("u1", "int"), "i1": ("u1", "int"),
}
TOLERANCE = {"fp64": (1e-9, 1e-11), "fp32": (1e-4, 2e-6), "dot32": (1e-2, 3e-3), "fp16": (8e-3, 2e-3), "bf16": (4e-2, 8e-3),
             "fp8e4nv": (0.26, 0.02), "fp8e5": (0.26, 0.02)}
ORDER = ["ok", "ok-rounding", "unstable", "wrong"]


def fp8_values(exponent_bits, mantissa_bits, bias, finite_only):
    values = np.zeros(256)
    for bits in range(256):
        sign = -1.0 if bits & 128 else 1.0
        e, m = (bits >> mantissa_bits) & ((1 << exponent_bits) - 1), bits & ((1 << mantissa_bits) - 1)
        if e == 0:
            v = m * 2.0 ** (1 - bias - mantissa_bits)
        elif not finite_only and e == (1 << exponent_bits) - 1:
            v = np.inf if m == 0 else np.nan
        elif finite_only and (bits & 127) == 127:
            v = np.nan
        else:
            v = (1 + m / (1 << mantissa_bits)) * 2.0 ** (e - bias)
        values[bits] = sign * v
    return values


FP8 = {"fp8e4nv": fp8_values(4, 3, 7, True), "fp8e5": fp8_values(5, 2, 15, False)}


def numbers(bits, kind):
    """float64 of raw bits."""
    if kind == "bf16":
        return (bits.astype(np.uint32) << 16).view(np.float32).astype(np.float64)
    if kind in FP8:
        return FP8[kind][bits]
    with np.errstate(invalid="ignore"):  # signalling NaNs
        return bits.astype(np.float64)


def worse(a, b):
    return max(a, b, key=ORDER.index)


def storage_status(got, want, before, again, views, dot, others=()):
    """(status, detail) of one storage's bytes. views: [(first byte, bytes, dtype)]; others: after runs on perturbed inputs."""
    if got == want:
        return "ok", ""
    if not views:
        return "wrong", "memory behind a pointer differs"
    if len({dtype for _, _, dtype in views}) == 1:
        # Kernels may write anywhere in the allocation; its elements begin where the tensor's do.
        low, _, dtype = views[0]
        size = np.dtype(bits_of(dtype)).itemsize
        start = low % size
        views = [(start, (len(want) - start) // size * size, dtype)]
    status, details = "ok", []
    covered = np.zeros(len(want), bool)
    for low, size, dtype in sorted(set(views)):
        part = slice(low, low + size - size % np.dtype(bits_of(dtype)).itemsize)
        covered[part] = True
        arrays = [np.frombuffer(data[part], bits_of(dtype)) if data is not None else None
                  for data in (got, want, before, again)]
        result, detail = tensor_status(*arrays, TYPES[dtype][1], dot, [np.frombuffer(o[part], bits_of(dtype)) for o in others])
        status = worse(status, result)
        if detail:
            details.append(f"{dtype}: {detail}")
    outside = (np.frombuffer(got, np.uint8) != np.frombuffer(want, np.uint8)) & ~covered
    if outside.any():
        status = "wrong"
        details.append(f"{outside.sum()} bytes differ that belong to no tensor")
    return status, "; ".join(details)


def bits_of(dtype):
    if dtype not in TYPES:
        raise ValueError(f"expected a dtype of {', '.join(TYPES)}, got {dtype}")
    return TYPES[dtype][0]


def tensor_status(got, want, before, again, kind, dot, others=()):
    """(status, detail): bits against bits."""
    same = got == want
    if same.all():
        return "ok", ""
    return integer_status(got, want, again, same) if kind == "int" else float_status(got, want, before, again, kind, dot, others)


def perturbed(data, views, seed):
    """The bytes with every fp32 and fp64 of the views changed by up to four units of fp32's last place."""
    changed, draw = bytearray(data), np.random.default_rng(seed)
    for low, size, dtype in sorted(set(views)):
        if TYPES.get(dtype, ("", ""))[1] in ("fp32", "fp64"):
            item = np.dtype(bits_of(dtype))
            values = np.frombuffer(data[low:low + size - size % item.itemsize], item)
            factors = 1 + (2.0 * draw.integers(0, 2, values.size) - 1) * draw.uniform(1, 4, values.size) * 2.0**-24
            with np.errstate(all="ignore"):
                changed[low:low + values.nbytes] = (values * factors).astype(item).tobytes()
    return bytes(changed)


def integer_status(got, want, again, same):
    g, w = got.astype(np.float64), want.astype(np.float64)
    bad = ~same
    where = int(np.argmax(bad))
    detail = (f"{bad.sum()} of {bad.size} differ, by at most {np.abs(g - w).max():g}; first at {where}: got {got[where]}, "
              f"want {want[where]}")
    if again is not None and not np.array_equal(again, want):
        return "unstable", detail
    # A float that was quantised may round the other way.
    near = np.abs(g - w).max() <= 1 and bad.mean() <= 0.02
    return ("ok-rounding" if near else "wrong"), detail


def float_status(got, want, before, again, kind, dot, others):
    g, w = numbers(got, kind), numbers(want, kind)
    rtol, atol = TOLERANCE["dot32" if kind == "fp32" and dot else kind]
    with np.errstate(all="ignore"):
        changed = want != before
        finite = np.isfinite(w) & (changed if changed.any() else True)
        size = np.abs(w[finite]).max() if finite.any() else 0.0
        bound = atol * size + rtol * np.abs(w)
        unstable = False
        if again is not None:
            a = numbers(again, kind)
            spread = np.abs(a - w)
            spread[~np.isfinite(spread)] = 0
            unstable = bool((spread > 2 * bound).any() or (np.isnan(a) != np.isnan(w)).any())
            bound = bound + 4 * spread
        for other in others:
            change = np.abs(numbers(other, kind) - g)
            bound = bound + 4 * np.where(np.isfinite(change), change, 0)
        error = np.abs(g - w)
        bad = ~((error <= bound) | (np.isnan(g) & np.isnan(w)) | (g == w))
        if not bad.any():
            return "ok", ""
        where = int(np.argmax(bad))
        plain = bad & np.isfinite(error)
        worst = (error[plain] / np.maximum(bound[plain], 1e-300)).max() if plain.any() else float("inf")
        if (bad & ~np.isfinite(error)).any():
            worst = float("inf")
        detail = (f"{bad.sum()} of {bad.size} differ, up to {worst:.3g} times the tolerance; first at {where}: "
                  f"got {g[where]:g}, want {w[where]:g}, before {numbers(before[where:where + 1], kind)[0]:g}")
    if unstable:
        return "unstable", detail
    if bad.mean() <= 0.001 and worst <= 8:
        return "ok-rounding", detail
    return "wrong", detail
