"""What a rung of the compile ladder is: a public kernel and its cases."""

from dataclasses import dataclass, field
from typing import Callable

import numpy as np

from memory import Array, In, InOut, Out  # noqa: F401  (re-exported to the rungs)
from numbers_model import EXACT, EXACT80, NAIVE, NAIVE64, NAIVE_TF32, spacing

RUNGS = {}


def cdiv(a, b):
    return -(-a // b)


def next_power_of_2(n):
    return 1 << max(n - 1, 0).bit_length()


@dataclass
class Rung:
    number: int
    corpus: str
    file: str
    kernel: str
    cases: Callable  # rng -> iterable of Case


@dataclass
class Case:
    label: str
    grid: tuple
    arguments: dict  # parameter name -> Array, number, bool, str, None, bridge.DType
    reference: Callable  # Numbers -> {name: values}, for float outputs
    integers: dict = field(default_factory=dict)  # name -> expected integers, exact
    written: dict = field(default_factory=dict)  # name -> bool array; default: all of it
    unchecked: dict = field(default_factory=dict)  # name -> bool array: may be written, any value
    extra: dict = field(default_factory=dict)  # arrays that no parameter names
    # name -> the size of the terms that leave the result as a remainder: where
    # they cancel, a rounding of a term is left (a fused multiply-add leaves it
    # even where the plain sum would be exactly zero).
    terms: dict = field(default_factory=dict)
    compute: str = "fp32"  # the type the kernel computes in
    devices: tuple = ("cpu", "interp")

    def arrays(self):
        found = {k: v for k, v in self.arguments.items() if isinstance(v, Array)}
        return {**self.extra, **found}


class Pointers(Array):
    """A uint64 array of the addresses, for the kernel, of arrays placed before it."""

    def __init__(self, arrays):
        super().__init__((len(arrays),), "u64")
        self._arrays = arrays

    def initial(self):
        return np.array([array.kernel_address for array in self._arrays], np.uint64)


def rung(number, corpus, file, kernel):
    def register(cases):
        RUNGS[number] = Rung(number, corpus, file, kernel, cases)
        return cases

    return register


@dataclass
class Verdict:
    error: float = 0.0  # the largest absolute error
    ratio: float = 0.0  # the largest error over its bound
    message: str = ""  # empty: passed


def judge(case, device="cpu"):
    """Compares the arrays of a case that has run with what they must hold."""
    verdict = Verdict()
    wide = case.compute == "fp64"
    exact = case.reference(EXACT80 if wide else EXACT)
    models = NAIVE64 if wide else NAIVE_TF32 if device.startswith("cuda") else NAIVE
    naive = [case.reference(numbers) for numbers in models]
    arrays = case.arrays()
    for name, array in arrays.items():
        expected = exact.get(name, case.integers.get(name))
        compared = None if expected is None else _mask(case.written, name, array, True)
        allowed = compared
        if name in case.unchecked:
            free = np.broadcast_to(case.unchecked[name], array.shape)
            allowed = free if allowed is None else allowed | free
            compared = None if compared is None else compared & ~free
        stray = array.untouched_message(allowed)
        if stray:
            verdict.message = verdict.message or f"{name}: {stray}"
        if expected is None:
            continue
        if name in exact:
            bound = bound_of(expected, [n[name] for n in naive], array.dtype, case.compute, case.terms.get(name, 0.0))
            _compare_floats(verdict, name, array, expected, bound, compared)
        else:
            _compare_integers(verdict, name, array, expected, compared)
    return verdict


def bound_of(exact, naive, dtype, compute, terms):
    """Twice the error of a naive loop in the computing type (at least one
    rounding of the largest value), plus one rounding of the output type."""
    finite = np.isfinite(exact)
    largest = max(np.max(np.abs(exact), where=finite, initial=0.0), terms)
    naive_error = spacing(largest, compute) / 2
    for values in naive:
        usable = finite & np.isfinite(values)
        naive_error = max(naive_error, np.max(np.abs(values - exact), where=usable, initial=0.0))
    return 2 * naive_error + spacing(exact, dtype) / 2


def _compare_floats(verdict, name, array, exact, bound, compared):
    from memory import decode, encode

    got = decode(array.view, array.dtype)[compared]
    exact = np.broadcast_to(exact, array.shape)[compared]
    bound = np.broadcast_to(bound, array.shape)[compared]
    if not got.size:
        return
    with np.errstate(invalid="ignore", over="ignore"):
        # Beyond the output type's range, infinity is the right answer.
        rounded = decode(encode(exact, array.dtype), array.dtype)
        same = (got == rounded) | (np.isnan(got) & np.isnan(rounded))
        error = np.where(same, 0.0, np.abs(got - exact)).astype(np.float64)
        error = np.where(np.isnan(error), np.inf, error)
        ratio = (error / bound).astype(np.float64)
    worst = int(np.argmax(ratio))
    verdict.error = max(verdict.error, float(error.max()))
    verdict.ratio = max(verdict.ratio, float(ratio[worst]))
    if ratio[worst] > 1 and not verdict.message:
        where = tuple(int(axis[worst]) for axis in np.nonzero(compared))
        verdict.message = (f"{name}{list(where)}: got {got[worst]:.9g}, expected {exact[worst]:.9g}; "
                           f"error {error[worst]:.3g} is {ratio[worst]:.3g} x the bound "
                           f"({int((ratio > 1).sum())} of {got.size} elements)")


def _compare_integers(verdict, name, array, expected, compared):
    got = array.view[compared]
    expected = np.broadcast_to(expected, array.shape)[compared]
    wrong = np.flatnonzero(got != expected.astype(got.dtype))
    if wrong.size:
        verdict.ratio = np.inf
        verdict.message = verdict.message or (
            f"{name}: {wrong.size} of {got.size} integers differ; element {wrong[0]}: "
            f"got {got[wrong[0]]}, expected {expected[wrong[0]]}")


def _mask(masks, name, array, default):
    return np.broadcast_to(np.asarray(masks.get(name, default)), array.shape).copy()
