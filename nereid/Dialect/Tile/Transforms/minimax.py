#!/usr/bin/env python3
"""Derives the polynomial coefficients of ExpandMath*.cpp.

Each entry of TABLE is a function g on an interval, a weight and a list of
exponents; the result is the polynomial in these powers with the least maximum
of |weight * (g - p)|, found with Remez's exchange in 60-digit arithmetic.
Coefficients are then rounded to the target format one at a time, lowest power
first, refitting the rest after each: the error of a rounded coefficient is
taken up by the others.

  minimax.py            every table, as C++
  minimax.py NAME...    only these

Needs mpmath. Functions are written so that no cancellation happens near 0.
"""
import sys

from mpmath import mp, mpf
import mpmath as m

mp.dps = 60


def nodes(lo, hi, n):
    return [(lo + hi) / 2 + (hi - lo) / 2 * m.cos(m.pi * i / (n - 1))
            for i in range(n)][::-1]


def least_squares(rows, rhs, n):
    a = m.matrix(n, n)
    b = m.matrix(n, 1)
    for r in range(n):
        b[r] = m.fdot((row[r], v) for row, v in zip(rows, rhs))
        for c in range(n):
            a[r, c] = m.fdot((row[r], row[c]) for row in rows)
    return list(m.lu_solve(a, b))


def alternation(error, count):
    """Where the error is extreme between sign changes: `count` of these
    places, or fewer if there are no more."""
    runs = []
    for i, e in enumerate(error):
        if runs and (e > 0) == (error[runs[-1]] > 0):
            if abs(e) > abs(error[runs[-1]]):
                runs[-1] = i
        else:
            runs.append(i)
    while len(runs) > count:
        runs.pop(0 if abs(error[runs[0]]) < abs(error[runs[-1]]) else -1)
    return runs


def remez(samples, powers):
    """Coefficients for g at samples [(x, g, w)], and the error."""
    n = len(powers)
    rows = [[x**p * w for p in powers] for x, g, w in samples]
    rhs = [g * w for x, g, w in samples]
    coefficients = least_squares(rows, rhs, n)
    best = None
    for _ in range(40):
        error = [v - m.fdot(row, coefficients) for row, v in zip(rows, rhs)]
        worst = max(abs(e) for e in error)
        if best is None or worst < best[1]:
            best = (coefficients, worst)
        index = alternation(error, n + 1)
        if len(index) < n + 1:
            break
        a = m.matrix(n + 1, n + 1)
        b = m.matrix(n + 1, 1)
        for r, i in enumerate(index):
            for c in range(n):
                a[r, c] = rows[i][c]
            a[r, n] = (-1)**r
            b[r] = rhs[i]
        solution = m.lu_solve(a, b)
        if worst <= abs(solution[n]) * mpf("1.0001"):
            break
        coefficients = list(solution[:n])
    return best


def round_to(x, bits):
    if x == 0:
        return x
    mantissa, exponent = m.frexp(x)
    return m.ldexp(m.nint(m.ldexp(mantissa, bits)), exponent - bits)


def fit(g, lo, hi, powers, weight, bits, first_bits, points=600):
    samples = [(x, g(x), weight(x)) for x in nodes(mpf(lo), mpf(hi), points)]
    fixed, left = [], list(powers)
    error = None
    while left:
        coefficients, error = remez(samples, left)
        c = round_to(coefficients[0], bits if fixed else first_bits)
        fixed.append(c)
        p = left.pop(0)
        samples = [(x, v - c * x**p, w) for x, v, w in samples]
    final = max(abs(v * w) for x, v, w in samples)
    return fixed, final


def hex_float(x):
    return float(x).hex().replace("0000000p", "p") if x else "0.0"


def report(name, g, lo, hi, powers, weight, bits, first_bits):
    """first_bits above bits: the lowest coefficient is printed in two parts."""
    fixed, error = fit(g, lo, hi, powers, weight, bits, first_bits)
    if first_bits > bits:
        high = round_to(fixed[0], bits)
        fixed[:1] = [high, round_to(fixed[0] - high, bits)]
    body = ", ".join(hex_float(c) for c in fixed)
    print(f"// {name}: error 2^{float(m.log(error, 2)):.1f} of the weighted "
          f"function on [{float(lo):.6g}, {float(hi):.6g}], powers {powers[0]}..{powers[-1]}")
    print(f"static constexpr double {name}[] = {{{body}}};", flush=True)


one = lambda x: mpf(1)


def series(f, x, terms):
    return m.nsum(lambda k: f(int(k)), [0, terms])


def exp_q(x):  # (e^x - 1 - x) / x^2
    return m.hyp1f1(1, 3, x) / 2


def exp2_q(x):  # (2^x - 1) / x
    t = x * m.log(2)
    return m.hyp1f1(1, 2, t) * m.log(2)


def log_q(f):  # (log(1+f) - f) / f^2
    if abs(f) < mpf("1e-12"):
        return mpf(-1) / 2 + f / 3 - f * f / 4
    return (m.log1p(f) - f) / (f * f)


def even(g, x2):
    """g(sqrt(x2)), for tables in the square of the argument."""
    return g(m.sqrt(x2))


def cut(g, limit, at_zero):
    return lambda x: at_zero if abs(x) < limit else g(x)


tiny = mpf("1e-15")
sin_q = lambda z: cut(lambda x: (m.sin(x) - x) / x**3, tiny, mpf(-1) / 6)(m.sqrt(z))
cos_q = lambda z: cut(lambda x: (m.cos(x) - 1 + x * x / 2) / x**4, tiny,
                      mpf(1) / 24)(m.sqrt(z))
atan_q = lambda z: cut(lambda x: (m.atan(x) - x) / x**3, tiny, mpf(-1) / 3)(m.sqrt(z))
asin_q = lambda z: cut(lambda x: (m.asin(x) - x) / x**3, tiny, mpf(1) / 6)(m.sqrt(z))
tanh_q = lambda z: cut(lambda x: (m.tanh(x) - x) / x**3, tiny, mpf(-1) / 3)(m.sqrt(z))
sinh_q = lambda z: cut(lambda x: (m.sinh(x) - x) / x**3, tiny, mpf(1) / 6)(m.sqrt(z))
log_s_q = lambda z: cut(
    lambda s: (2 * m.atanh(s) - 2 * s) / s**3, tiny, mpf(2) / 3)(m.sqrt(z))
tan_q = lambda z: cut(lambda x: (m.tan(x) - x) / x**3, tiny, mpf(1) / 3)(m.sqrt(z))
ln2h = m.log(2) / 2

TABLE = {}


def table(name, g, lo, hi, powers, weight=one, bits=24, first_bits=None):
    TABLE[name] = (g, lo, hi, powers, weight, bits, first_bits or bits)


def both(name, g, lo, hi, terms32, terms64, weight):
    table(name + "32", g, lo, hi, range(terms32), weight, 24)
    table(name + "64", g, lo, hi, range(terms64), weight, 53)


def log_weight(f):
    return f * f / abs(m.log1p(f)) if f else mpf(0)


quarter = (m.pi / 4 * mpf("1.004"))**2
log_range = (m.sqrt(0.5) - 1, m.sqrt(2) - 1)

# An exactly symmetric interval would make Remez's system singular. Weights turn
# the error of the inner function into a relative error of the
# whole.
both("exp", exp_q, -ln2h * 1.001, ln2h * 1.0011, 5, 10, lambda x: x * x)
both("exp2_", exp2_q, mpf("-0.5001"), mpf("0.50011"), 6, 12, lambda x: x)
table("log32", log_q, *log_range, range(9), log_weight)
table("log2_32", lambda f: log_q(f) / m.log(2), *log_range, range(9),
      lambda f: log_weight(f) * m.log(2))
table("log10_32", lambda f: log_q(f) / m.log(10), *log_range, range(9),
      lambda f: log_weight(f) * m.log(10))
table("log64", log_s_q, mpf(0), (3 - 2 * m.sqrt(2))**2, range(7),
      lambda z: z, 53)
both("sin", sin_q, mpf(0), quarter, 3, 6, lambda z: z)
both("cos", cos_q, mpf(0), quarter, 3, 6, lambda z: z * z)
table("atan32", atan_q, mpf(0), mpf(1), range(8), lambda z: z)
table("atan64", atan_q, mpf(0), (m.sqrt(2) - 1)**2, range(11), lambda z: z, 53)
both("asin", asin_q, mpf(0), mpf("0.25"), 5, 12, lambda z: z)
both("sinh", sinh_q, mpf(0), mpf(1), 4, 8, lambda z: z)

# erf: (erf x / x - 1) in x^2; 8 (1 - erfc(x)^(1/8)) / x with the weight of its
# effect on erf; (1 + 2x) erfcx in t = (x - 4) / (x + 4).
erf_q = lambda z: cut(lambda x: m.erf(x) / x - 1, tiny,
                      2 / m.sqrt(m.pi) - 1)(m.sqrt(z))


def erfcx(t):
    x = 4 * (1 + t) / (1 - t)
    return (1 + 2 * x) * m.exp(x * x) * m.erfc(x)


table("erf32", erf_q, mpf(0), mpf("0.8464"), range(6))
table("erf64", erf_q, mpf(0), mpf(1), range(12), one, 53)
table("eighth_erf32", cut(lambda x: -8 * m.expm1(m.log(m.erfc(x)) / 8) / x,
                          tiny, 2 / m.sqrt(m.pi)),
      mpf(0), mpf("3.93"), range(8),
      cut(lambda x: x * m.erfc(x)**(mpf(7) / 8) / m.erf(x), tiny,
          m.sqrt(m.pi) / 2), 24, 48)
# Of GPUs (TileGPUToLLVM/Math.cpp): errors relative to erf.
table("smallErf", erf_q, mpf(0), mpf("0.9409"), range(6),
      lambda z: 1 / (1 + erf_q(z)))
table("largeErf", lambda x: m.log(m.erfc(x), 2), mpf("0.97"), mpf(4),
      range(6), lambda x: m.erfc(x) * m.log(2) / m.erf(x))
table("erfcx32", erfcx, mpf(-1), mpf("6.7") / mpf("14.7"), range(12),
      lambda t: 1 / erfcx(t), 24, 48)
table("erfcx64", erfcx, mpf(-1), mpf("23.3") / mpf("31.3"), range(24),
      lambda t: 1 / erfcx(t), 53, 106)
# pow: 2 log2(e) (atanh s - s) / s^3 in s^2; (atanh s - s - s^3 / 3) / s^5.
table("pow32", lambda z: log_s_q(z) / m.log(2), mpf(0),
      (3 - 2 * m.sqrt(2))**2, range(4), lambda z: z, 53)
table("pow64", lambda z: cut(lambda s: (m.atanh(s) - s - s**3 / 3) / s**5,
                             mpf("1e-9"), mpf(1) / 5)(m.sqrt(z)),
      mpf(0), (3 - 2 * m.sqrt(2))**2, range(7), lambda z: z * z, 53)

if __name__ == "__main__":
    for name in sys.argv[1:] or TABLE:
        report(name, *TABLE[name])
