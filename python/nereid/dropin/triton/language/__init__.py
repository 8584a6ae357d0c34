"""The names of the language. Values of the host are in core; a function is its name until a kernel calls it."""
from .core import (PropagateNan, TRITON_MAX_TENSOR_NUMEL, bfloat16, const, constexpr, constexpr_type, dtype, float16,
                   float32, float64, float8e4b15, float8e4b8, float8e4nv, float8e5, float8e5b16, get_int_dtype, int1, int16,
                   int32, int64, int8, pi32_t, pointer_type, slice, tensor, tensor_descriptor, tensor_descriptor_base,
                   tuple, uint16, uint32, uint64, uint8, void)
from . import core
from .core import _aggregate, _fill  # noqa: F401

_fill(globals(), "triton.language")
del _fill
from . import math, standard, random, target_info, extra  # noqa: E402, F401

str_to_ty = None
