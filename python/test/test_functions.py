"""What a kernel's names mean: globals, closures, functions of other files."""
import collections

import far_functions
import pytest
import torch
import triton
import triton.language as tl
from far_functions import scaled as far_scaled
from triton.language import store as put

SCALE = tl.constexpr(10)
PLAIN = 5
DTYPE = tl.float32


def result_of(kernel, *args, **kwargs):
    x = torch.zeros(1)
    kernel[(1, )](x, *args, **kwargs)
    return x.item()


@triton.jit
def two_scales(x):
    tl.store(x, far_scaled(1.0) + SCALE)


def test_equal_names_of_two_files_are_two_things():
    assert result_of(two_scales) == 110


@triton.jit
def by_module(x):
    put(x, far_functions.scaled(2.0).to(DTYPE) + far_functions.SCALE)


def test_functions_and_constants_by_their_module():
    assert result_of(by_module) == 300


def test_functions_inside_functions_have_their_closure():

    def make(value):
        amount = tl.constexpr(value)

        @triton.jit
        def kernel(x):
            tl.store(x, amount + far_scaled(1))

        return kernel

    first, second = make(1), make(2)
    assert (result_of(first), result_of(second), result_of(first)) == (101, 102, 101)


@triton.jit
def apply(x, F: tl.constexpr, value):
    tl.store(x, F(value))


@triton.jit
def square(x):
    return x * x


def test_functions_as_arguments():
    assert result_of(apply, square, 7) == 49
    assert result_of(apply, far_scaled, 7) == 700
    assert result_of(apply, square, 8) == 64


@triton.constexpr_function
def half(n):
    return n // 2


@triton.jit
def of_half(x, N: tl.constexpr):
    tl.store(x, half(N))


def test_constexpr_functions_are_for_both_sides():
    assert half(8) == 4 and half(tl.constexpr(9)) == 4
    assert result_of(of_half, N=14) == 7


Pair = collections.namedtuple("Pair", ["a", "b"])


@triton.jit
def of_pair(x, pair, K: tl.constexpr):
    tl.store(x, pair.a + pair.b * K[1])


def test_tuples_and_named_ones():
    assert result_of(of_pair, Pair(3, 4), (0, 10)) == 43


def test_a_function_argument_whose_text_changes():

    @triton.jit
    def number():
        return 3

    @triton.jit
    def put(x, f: tl.constexpr):
        tl.store(x, f())

    assert result_of(put, number) == 3
    number._unsafe_update_src(number.src.replace("3", "4"))
    assert result_of(put, number) == 4
    assert len(put.device_caches[0][0]) == 2


@triton.jit
def of_sizes(x, sizes, nothing):
    tl.static_assert(sizes is not None and nothing is None)
    tl.store(x + tl.arange(0, sizes[0]), tl.arange(0, sizes[0]) + sizes[1])


def test_constexpr_items_of_tuples_are_known_while_compiling():
    x = torch.zeros(8)
    for size in (4, 8):
        of_sizes[(1, )](x, (tl.constexpr(size), 10), None)
        assert x.tolist() == [10.0 + i for i in range(size)] + [0.0] * (8 - size)


@triton.jit
def reads_plain(x):
    tl.store(x, PLAIN)


def test_a_global_that_is_no_constexpr_is_an_error():
    with pytest.raises(triton.CompilationError, match="PLAIN") as caught:
        result_of(reads_plain)
    assert caught.value.filename.endswith("test_functions.py") and caught.value.lineno == reads_plain.starting_line_number + 2


@triton.jit
def reads_scale(x):
    tl.store(x, CHANGING)


CHANGING = tl.constexpr(1)


def test_a_constexpr_that_changes_is_an_error(monkeypatch):
    assert result_of(reads_scale) == 1
    monkeypatch.setitem(globals(), "CHANGING", tl.constexpr(2))
    with pytest.raises(RuntimeError, match="CHANGING has value"):
        result_of(reads_scale)
    monkeypatch.setitem(globals(), "CHANGING", tl.constexpr(1))
    assert result_of(reads_scale) == 1


@triton.jit
def calls_helper(x):
    tl.store(x, helper())


@triton.jit
def helper():
    return 1


def test_a_function_that_is_defined_anew_is_taken(monkeypatch):
    assert result_of(calls_helper) == 1

    @triton.jit
    def helper():
        return 2

    monkeypatch.setitem(globals(), "helper", helper)
    assert result_of(calls_helper) == 2


def test_an_error_in_a_function_of_another_file_names_that_file():

    @triton.jit
    def kernel(x):
        tl.store(x, far_functions.broken(x))

    with pytest.raises(triton.CompilationError, match="missing") as caught:
        result_of(kernel)
    assert caught.value.filename == far_functions.__file__
    assert caught.value.lineno == far_functions.broken.starting_line_number + 2


def test_equal_functions_have_equal_keys():
    assert square.cache_key == square.cache_key != two_scales.cache_key


@triton.aggregate
class Point:
    x: tl.tensor
    scale: tl.constexpr

    @triton.jit
    def scaled(self):
        return self.x * self.scale + far_functions.SCALE


@triton.jit
def of_point(x):
    point = Point(tl.full((), 4, tl.float32), 3)
    tl.store(x, point.scaled())


def test_aggregates():
    assert result_of(of_point) == 112


@triton.must_use_result("It is what the function is for.")
@triton.jit
def useful():
    return 1


@triton.jit
def drops(x):
    useful()
    tl.store(x, 1)


def test_results_that_must_be_used():
    with pytest.raises(triton.CompilationError, match="It is what the function is for"):
        result_of(drops)


@triton.jit
def of_language_constant(x, K: tl.constexpr = tl.core.CONSTEXPR_0):
    tl.store(x, K + tl.core.CONSTEXPR_0 + 5)


def test_constants_of_the_language():
    assert result_of(of_language_constant) == 5


@tl.constexpr
def half_of(n):
    return (n.value if isinstance(n, tl.constexpr) else n) // 2


def test_a_function_under_constexpr_is_for_numbers():

    @triton.jit
    def kernel(x, N: tl.constexpr):
        tl.store(x, tl.sum(tl.full((half_of(N), ), 1, tl.float32)))

    assert result_of(kernel, 8) == 4


@triton.constexpr_function
def asks_a_module():
    return torch.cuda.device_count()


@triton.constexpr_function
def asks_nothing(n):
    return n + SCALE


def test_keys_of_constexpr_functions():
    assert asks_nothing.cache_key == triton.constexpr_function(asks_nothing.fn).cache_key
    with pytest.raises(RuntimeError, match="asks_a_module: expected names of the language and of numbers in a constexpr_function, got the module 'torch"):
        asks_a_module.cache_key


def test_a_constexpr_of_a_closure_that_changes_is_an_error():

    def make(amount):

        @triton.jit
        def kernel(x):
            tl.store(x, amount)

        return kernel

    amount = tl.constexpr(4)
    kernel = make(amount)
    assert result_of(kernel) == 4
    amount.value = 5
    with pytest.raises(RuntimeError, match=r"amount has changed since we compiled this kernel, from constexpr\[4\] to constexpr\[5\]"):
        result_of(kernel)


def test_a_global_is_read_until_its_name_is_assigned():

    @triton.jit
    def kernel(x):
        before = SCALE
        SCALE = before + 1  # noqa: F841
        tl.store(x, before + SCALE)

    assert result_of(kernel) == 21
