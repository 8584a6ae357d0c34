"""What of one argument a kernel is compiled for, by upstream's names: for those who make a signature themselves."""
from triton._utils import canonicalize_dtype
from triton.language.core import constexpr


def native_specialize_impl(_backend, arg, is_const=False, specialize_value=True, align=True):
    """(type, key): "D" for multiples of 16, the value of a constexpr."""
    from triton.runtime.jit import ConstexprFunction, JITFunction
    from triton.tools.tensor_descriptor import TensorDescriptor
    aligned = lambda number: "D" if specialize_value and align and number % 16 == 0 else "" if specialize_value else None  # noqa: E731
    if arg is None:
        return "constexpr", None
    if isinstance(arg, bool):
        return "u1", None
    if isinstance(arg, int):
        if arg == 1 and specialize_value:
            return "constexpr", 1
        return "i32" if -2**31 <= arg < 2**31 else "u64" if 2**63 <= arg < 2**64 else "i64", aligned(arg)
    if isinstance(arg, float):
        return "fp32", None
    if hasattr(arg, "data_ptr"):
        return ("*k" if is_const else "*") + canonicalize_dtype(arg.dtype), aligned(arg.data_ptr())
    if isinstance(arg, (JITFunction, ConstexprFunction)):
        return "constexpr", arg.cache_key
    if isinstance(arg, constexpr):
        return "constexpr", arg
    if isinstance(arg, tuple):
        parts = [native_specialize_impl(_backend, item) for item in arg]
        again = (lambda items: type(arg)(*items)) if hasattr(arg, "_fields") else tuple
        return again([ty for ty, _ in parts]), again([key for _, key in parts])
    if isinstance(arg, TensorDescriptor):
        return f"tensordesc<{canonicalize_dtype(arg.base.dtype)}{list(arg.block_shape)}>", None
    raise TypeError(f"expected a number, a tensor, a tuple or a descriptor, got {type(arg).__name__}")


def mangle_type(arg, specialize=False):
    """The type alone."""
    return native_specialize_impl(None, arg, is_const=False, specialize_value=specialize, align=False)[0]
