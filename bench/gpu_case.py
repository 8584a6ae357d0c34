"""A case of bench/compare_gpu.py: what is computed, from which kernel files, and how both compilers run them."""

import ast
import contextlib
import functools
import io
import math
import sys
import types
from pathlib import Path

import torch
import torch.nn.functional as F

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / "test" / "harness")]
import bridge  # noqa: E402

DTYPES = {"fp32": torch.float32, "bf16": torch.bfloat16, "fp16": torch.float16}
NAMES = {**{dtype: name for name, dtype in DTYPES.items()}, torch.int32: "int32", torch.int8: "int8",
         torch.float8_e4m3fn: "fp8e4nv"}
DEVICE = "cuda"
WARPS = (1, 2, 4, 8, 16)


def random_tensor(*shape, dtype):
    return torch.randn(*shape, device=DEVICE).to(DTYPES[dtype])


def borrowed(value):
    value = value.tensor if isinstance(value, Descriptor) else value
    if not isinstance(value, torch.Tensor):
        return value
    return bridge.Tensor(value.data_ptr(), NAMES[value.dtype], tuple(value.shape), tuple(value.stride()),
                         on_device=value.is_cuda)


def described(value):
    if not isinstance(value, Descriptor):
        return value
    from triton.tools.tensor_descriptor import TensorDescriptor
    return TensorDescriptor(value.tensor, shape=[value.rows, value.columns], strides=[value.columns, 1],
                            block_shape=[value.block, value.columns])


def kernel_file(op):
    return ROOT / "kernels" / op / f"{op}.py"


def is_definition(node):
    """A tutorial runs its tests and benchmarks when imported; only this is wanted."""
    if isinstance(node, (ast.If, ast.Try)):
        return all(map(is_definition, node.body + node.orelse))
    if isinstance(node, ast.Assign):
        return all(isinstance(t, ast.Name) and (t.id.isupper() or t.id == "configs") for t in node.targets)
    return isinstance(node, (ast.Import, ast.ImportFrom, ast.FunctionDef, ast.ClassDef))


@functools.cache
def triton_module(path):
    module = types.ModuleType(path.stem)
    module.__file__ = str(path)
    for node in filter(is_definition, ast.parse(path.read_text()).body):
        with contextlib.redirect_stdout(io.StringIO()), contextlib.suppress(Exception):
            exec(compile(ast.Module([node], []), str(path), "exec"), module.__dict__)
    return module


def triton_kernel(path, name):
    kernel = getattr(triton_module(path), name)
    while type(kernel).__name__ != "JITFunction":
        kernel = kernel.fn  # without the tuner
    return kernel


class Launch:
    """One kernel of a file: Nereid's way to run it, and Triton's."""

    has_triton = True  # False where Triton's would be the same as another launch's

    def __init__(self, path, kernel, grid, arguments, **options):
        self.path, self.kernel, self.grid, self.arguments, self.options = Path(path), kernel, grid, arguments, options

    def changed(self, **options):
        """The same launch with further options."""
        return Launch(self.path, self.kernel, self.grid, self.arguments, **self.options, **options)

    def nereid(self, library, stream):
        arguments = {name: borrowed(value) for name, value in self.arguments.items()}
        launch = library.prepare(self.path, self.kernel, self.grid, {**arguments, **self.options}, "cuda:0")
        launch.use_stream(stream.cuda_stream)
        return launch.run

    def on_host(self, library):
        """Once, on the CPU."""
        arguments = {name: borrowed(value) for name, value in self.arguments.items()}
        library.prepare(self.path, self.kernel, self.grid, {**arguments, **self.options}, "cpu").run()

    def triton(self):
        kernel = triton_kernel(self.path, self.kernel)
        arguments = {name: described(value) for name, value in self.arguments.items()}
        return lambda: kernel[self.grid](**arguments, **self.options)


def on_warps(op, kernel, grid, arguments, warps=WARPS):
    """One launch of a kernel of kernels/, on each number of warps."""
    return {f"{w}w": [Launch(kernel_file(op), kernel, grid, arguments, num_warps=w)] for w in warps}


class Zero:
    """Between the kernels of a case: a tensor set to zero by PyTorch, for all contenders."""

    has_triton = True

    def __init__(self, tensor):
        self.tensor = tensor

    def nereid(self, library, stream):
        def run():
            with torch.cuda.stream(stream):
                self.tensor.zero_()
        return run

    def on_host(self, library):
        self.tensor.zero_()

    def triton(self):
        return self.tensor.zero_


class Case:
    """What is computed, and `variants`: the ways to do so, each a list of launches, by name. Contenders write the
    tensors `outputs`, or return what they compute. `eager`: PyTorch's way, or None where it has no single one."""

    def __init__(self, name, dtype, outputs, reference, eager, variants, traffic=0, operations=0, bound=0.02,
                 has_triton=True, has_compiled=True):
        self.name, self.dtype, self.outputs, self.reference, self.eager = name, dtype, outputs, reference, eager
        self.traffic, self.operations, self.bound, self.has_triton = traffic, operations, bound, has_triton
        self.has_compiled, self.variants = has_compiled, variants


def poison(tensor):
    """Bits that are NaN in floats and -1 in integers."""
    tensor.view(torch.uint8).fill_(255)


def differences(case):
    """The largest difference of an output from float64, by the largest value of it."""
    found = []
    for ours, exact in zip(case.outputs, case.reference()):
        scale = exact.abs().max().item() or 1.0
        off = (ours.double() - exact).abs().max().item()
        found.append(math.inf if math.isnan(off) else off / scale)
    return max(found)


def layer_norm_gradients(x, w, b, dy, eps=1e-5):
    """Mean and reciprocal deviation of each row, the gradients in float64, and PyTorch's own way to them."""
    mean, rstd = x.float().mean(-1), (x.float().var(-1, unbiased=False) + eps).rsqrt()

    def reference():
        leaves = [t.double().requires_grad_() for t in (x, w, b)]
        F.layer_norm(leaves[0], w.shape, leaves[1], leaves[2], eps).backward(dy.double())
        return [t.grad for t in leaves]

    def eager():
        return torch.ops.aten.native_layer_norm_backward(dy, x, w.shape, mean[:, None], rstd[:, None], w, b, [True] * 3)

    return mean, rstd, reference, eager


class Descriptor:
    """A tensor that upstream Triton wants described by its rows, and the language takes as a pointer."""

    def __init__(self, tensor, rows, columns, block):
        self.tensor, self.rows, self.columns, self.block = tensor, rows, columns, block
