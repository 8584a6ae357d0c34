"""What is said of mistakes in a kernel's source, and of what is only doubtful."""
import warnings

import pytest
import triton
import triton.language as tl
from triton.compiler.errors import CompilationError, CompileTimeAssertionFailure


def compile(kernel, signature=None, constexprs=None):
    return triton.compile(triton.compiler.ASTSource(fn=kernel, signature=signature or {}, constexprs=constexprs or {}))


@triton.jit
def leaf():
    unknown  # noqa: F821


@triton.jit
def middle():
    # One line down.
    leaf()


def test_an_error_has_the_errors_of_the_called_functions_as_causes():

    @triton.jit
    def top():
        middle()

    with pytest.raises(CompilationError) as raised:
        compile(top)
    error, places = raised.value, []
    while error is not None:
        places.append(str(error).splitlines()[-1].strip())
        error = error.__cause__
    assert places == ["in top, at 2:4: middle()", "in middle, at 3:4: leaf()", "in leaf, at 2:4: unknown  # noqa: F821"]
    assert str(raised.value).startswith(__file__) and raised.value.error_message == "the name 'unknown' is not defined"


def test_an_error_of_the_kernel_itself_has_no_cause():

    @triton.jit
    def kernel():
        tl.static_assert(1 == 2)

    with pytest.raises(CompileTimeAssertionFailure) as raised:
        compile(kernel)
    assert raised.value.__cause__ is None and "in kernel, at 2:4:" in str(raised.value)


@triton.jit
def imprecise():
    tl.dot(tl.zeros((32, 64), tl.float8e5), tl.zeros((64, 32), tl.float8e5), max_num_imprecise_acc=128)


@triton.jit
def of_another_chip():
    tl.full((4, ), 0, tl.float8e5b16)


@pytest.mark.parametrize("kernel, words", [(imprecise, "max_num_imprecise_acc (128) must be <= K (64)"),
                                           (of_another_chip, "type fp8e5b16 not supported in this architecture")])
def test_causes_in_upstreams_words(kernel, words):
    with pytest.raises(CompilationError) as raised:
        compile(kernel)
    assert isinstance(raised.value.__cause__, ValueError) and str(raised.value.__cause__) == words


def test_words_of_upstream_follow_the_message():

    @triton.jit(do_not_specialize=["N"])
    def kernel(N: tl.constexpr):
        pass

    with pytest.raises(CompilationError, match="upstream: N marked as constexpr and listed in do_not_specialize"):
        compile(kernel, constexprs={"N": 5})


def test_what_is_doubtful_is_a_warning_at_the_kernels_line():

    @triton.jit
    def kernel(n):
        block: tl.constexpr = n * 2
        tl.where(tl.full((4, ), 1, tl.int32), block, 0)

    line = kernel.starting_line_number
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        compile(kernel, {"n": "i32"})
    assert [(w.category, w.filename, w.lineno) for w in heard] == [(UserWarning, __file__, line + 2), (UserWarning, __file__, line + 3)]
    assert "known only at run time; hint: drop the annotation" in str(heard[0].message)
    assert "the condition is int32[4]; it is compared with zero" in str(heard[1].message)
