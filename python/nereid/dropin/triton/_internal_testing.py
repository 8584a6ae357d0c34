"""What upstream's own tests, and those of kernel libraries, import from here: arrays of every dtype, and questions about the device."""
import contextlib
import os

import numpy as np

import triton
import triton.language as tl
from triton import knobs
from triton.runtime.jit import TensorWrapper, reinterpret

int_dtypes = ["int8", "int16", "int32", "int64"]
uint_dtypes = ["uint8", "uint16", "uint32", "uint64"]
integral_dtypes = int_dtypes + uint_dtypes
float_dtypes = ["float16", "float32", "float64"]
float_dtypes_with_bfloat16 = float_dtypes + ["bfloat16"]
dtypes = integral_dtypes + float_dtypes
dtypes_with_bfloat16 = dtypes + ["bfloat16"]
torch_float8_dtypes = ["float8_e4m3fn", "float8_e5m2"]
torch_dtypes = ["bool"] + int_dtypes + ["uint8"] + float_dtypes + ["bfloat16"]
tma_dtypes = sorted(set(dtypes_with_bfloat16) - {"int64", "uint64", "float64"})


def _target():
    return triton.runtime.driver.active.get_current_target()


def get_arch():
    """"90" of an H100."""
    return str(_target().arch)


def is_interpreter():
    return knobs.runtime.interpret


def is_cuda():
    return _target().backend == "cuda"


def is_compile_warmup():
    return False


def is_ampere_or_newer():
    return is_cuda() and _target().arch >= 80


def is_hopper_or_newer():
    return is_cuda() and _target().arch >= 90


def is_hopper():
    return is_cuda() and _target().arch // 10 == 9


def is_blackwell():
    return is_cuda() and _target().arch // 10 == 10


def is_sm12x():
    return is_cuda() and _target().arch // 10 == 12


def __getattr__(name):
    # Devices that Nereid does not have; tests of several generations ask for different ones.
    if name.startswith("is_"):
        return lambda *_: False
    raise AttributeError(f"module 'triton._internal_testing' has no attribute {name!r}")


def numpy_random(shape, dtype_str, rs=None, low=None, high=None):
    """Numbers of a dtype: integers of the whole range but 0, or from `low` to `high`; floats of a normal distribution. bfloat16 comes as
    float32 that is exact in it, 8-bit floats as their bits, finite ones."""
    shape = (shape, ) if isinstance(shape, int) else shape
    rs = np.random.RandomState(seed=17) if rs is None else rs
    if dtype_str in integral_dtypes:
        info = np.iinfo(dtype_str)
        low = info.min if low is None else max(low, info.min)
        high = info.max if high is None else min(high, info.max)
        x = rs.randint(low, high, shape, dtype=getattr(np, dtype_str))
        x[x == 0] = 1
        return x
    if "float8" in dtype_str:
        return rs.randint(20, 40, shape, dtype=np.int8)
    if dtype_str in float_dtypes:
        return rs.normal(0, 1, shape).astype(dtype_str)
    if dtype_str == "bfloat16":
        return (rs.normal(0, 1, shape).astype("float32").view("uint32") & np.uint32(0xffff0000)).view("float32")
    if dtype_str in ("bool", "int1", "bool_"):
        return rs.normal(0, 1, shape) > 0.0
    raise RuntimeError(f"numpy_random: expected the name of a dtype, got {dtype_str!r}")


def to_triton(x, device, dst_type=None):
    """An array of NumPy as what kernels take: a tensor, or one under another dtype where torch has none."""
    import torch
    name = x.dtype.name
    if name in uint_dtypes:
        return reinterpret(torch.tensor(x.astype(name[1:]), device=device), getattr(tl, name))
    if dst_type and "float8" in dst_type:
        return reinterpret(torch.tensor(x, device=device), getattr(tl, dst_type))
    tensor = torch.tensor(x, device=device)
    return tensor.bfloat16() if name == "float32" and dst_type == "bfloat16" else tensor


_OTHER_NAMES = {"bool": "int1", "float8_e4m3fn": "float8e4nv", "float8_e5m2": "float8e5"}


def str_to_triton_dtype(x):
    return getattr(tl, _OTHER_NAMES.get(x, x))


def torch_dtype_name(dtype):
    """"float32" of torch's or the language's dtype."""
    if isinstance(dtype, tl.dtype):
        return dtype.codegen_name()
    return str(dtype).rsplit(".", 1)[-1]


def to_numpy(x):
    import torch
    if isinstance(x, TensorWrapper):
        return x.base.cpu().numpy().astype(getattr(np, torch_dtype_name(x.dtype)))
    if isinstance(x, torch.Tensor):
        return x.cpu().float().numpy() if x.dtype is torch.bfloat16 else x.cpu().numpy()
    raise ValueError(f"to_numpy: expected a tensor, got {type(x).__name__}")


def unwrap_tensor(t):
    return t.base if isinstance(t, TensorWrapper) else t


def supports_tma(byval_only=False):
    return is_interpreter() or is_hopper_or_newer()


def tma_skip_msg(byval_only=False):
    return "expected a GPU from 9.0 on"


def default_alloc_fn(size, align, _stream):
    import torch
    return torch.empty(size, dtype=torch.int8, device=triton.runtime.driver.active.get_active_torch_device())


def _fresh_knobs_impl(skipped_attr=None):
    """(fresh, reset): settings as at the start, and as before."""
    groups = [group for name, group in vars(knobs).items() if isinstance(group, knobs.base_knobs) and name not in (skipped_attr or ())]
    scopes = contextlib.ExitStack()
    environment, propagates = dict(os.environ), knobs.propagate_env

    def fresh():
        knobs.propagate_env = True
        for group in groups:
            scopes.enter_context(group.scope())
        for group in groups:
            for setting in group._settings().values():
                os.environ.pop(setting.key, None)
            group.reset()
        return knobs

    def reset():
        scopes.close()
        knobs.propagate_env = propagates
        os.environ.clear()
        os.environ.update(environment)

    return fresh, reset
