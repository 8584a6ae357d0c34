"""Launches kernels through test/harness/Bridge.cpp, on memory of the caller.

    bridge = Bridge("build")
    launch = bridge.prepare("k.py", "kernel", grid=(4,), device="cpu",
                            arguments={"x_ptr": Tensor(addr, "fp32", (4,), (1,)), "n": 4})
    nanoseconds = launch.run(10)
"""

import ctypes
import os
from dataclasses import dataclass

NONE, BOOL, INT, FLOAT, TENSOR, DTYPE, STRING, DEVICE_TENSOR = range(8)
MAX_RANK = 8


class _Argument(ctypes.Structure):
    _fields_ = [
        ("name", ctypes.c_char_p),
        ("kind", ctypes.c_int32),
        ("rank", ctypes.c_int32),
        ("integer", ctypes.c_int64),
        ("real", ctypes.c_double),
        ("data", ctypes.c_void_p),
        ("text", ctypes.c_char_p),
        ("shape", ctypes.c_int64 * MAX_RANK),
        ("strides", ctypes.c_int64 * MAX_RANK),
    ]


@dataclass(frozen=True)
class Tensor:
    """Memory of the caller; strides count elements."""

    address: int
    dtype: str
    shape: tuple
    strides: tuple
    on_device: bool = False  # memory of the launch's device, used in place


@dataclass(frozen=True)
class DType:
    """An element type passed as an argument, such as ACC_TYPE=tl.float32."""

    name: str


class Error(Exception):
    """What the runtime threw, rendered."""


def row_major(shape):
    strides, step = [], 1
    for size in reversed(shape):
        strides.append(step)
        step *= max(size, 1)
    return tuple(reversed(strides))


class Launch:
    def __init__(self, library, handle):
        self._library, self._handle = library, handle

    def run(self, repetitions=1):
        """Nanoseconds of all repetitions together."""
        elapsed = self._library.nereidBridgeRun(self._handle, repetitions)
        if elapsed < 0:
            raise Error(self._library.nereidBridgeError().decode())
        return elapsed

    def use_stream(self, handle):
        if self._library.nereidBridgeUseStream(self._handle, handle) < 0:
            raise Error(self._library.nereidBridgeError().decode())

    def check(self, devices, reachable=None):
        """Whether the results on `devices` are within the reference executor's
        bounds, and the report. `reachable`: tensors that no argument is."""
        reachable = reachable or {}
        packed = (_Argument * max(len(reachable), 1))()
        for slot, (name, value) in zip(packed, reachable.items()):
            _pack(slot, name, value)
        state = self._library.nereidBridgeCheck(self._handle, ",".join(devices).encode(), packed, len(reachable))
        text = self._library.nereidBridgeError().decode()
        if state < 0:
            raise Error(text)
        return state == 1, text

    def __del__(self):
        if self._handle:
            self._library.nereidBridgeFree(self._handle)
            self._handle = None


class Bridge:
    def __init__(self, build_dir):
        path = library_path(build_dir)
        if not os.path.exists(path):
            raise FileNotFoundError(f"{path} is not built (target NereidBridge)")
        library = ctypes.CDLL(path)
        library.nereidBridgePrepare.restype = ctypes.c_void_p
        library.nereidBridgePrepare.argtypes = [
            ctypes.c_char_p, ctypes.c_char_p, ctypes.c_char_p,
            ctypes.POINTER(ctypes.c_int64), ctypes.c_int32,
            ctypes.POINTER(_Argument), ctypes.c_int32,
        ]
        library.nereidBridgeRun.restype = ctypes.c_int64
        library.nereidBridgeRun.argtypes = [ctypes.c_void_p, ctypes.c_int32]
        library.nereidBridgeUseStream.argtypes = [ctypes.c_void_p, ctypes.c_void_p]
        library.nereidBridgeCheck.argtypes = [
            ctypes.c_void_p, ctypes.c_char_p, ctypes.POINTER(_Argument), ctypes.c_int32]
        library.nereidBridgeFree.argtypes = [ctypes.c_void_p]
        library.nereidBridgeError.restype = ctypes.c_char_p
        library.nereidBridgeSetThreads.argtypes = [ctypes.c_int32]
        self._library = library

    def set_threads(self, count):
        self._library.nereidBridgeSetThreads(count)

    def prepare(self, file, kernel, grid, arguments, device="cpu"):
        """Compiles; the memory of tensors must outlive the result."""
        packed = (_Argument * len(arguments))()
        for slot, (name, value) in zip(packed, arguments.items()):
            _pack(slot, name, value)
        sizes = (ctypes.c_int64 * len(grid))(*grid)
        handle = self._library.nereidBridgePrepare(
            os.fspath(file).encode(), kernel.encode(), device.encode(),
            sizes, len(grid), packed, len(arguments))
        if not handle:
            raise Error(self._library.nereidBridgeError().decode())
        return Launch(self._library, handle)


def library_path(build_dir):
    return os.path.join(build_dir, "lib", "libNereidBridge.so")


def _pack(slot, name, value):
    slot.name = name.encode()
    if value is None:
        slot.kind = NONE
    elif isinstance(value, bool):
        slot.kind, slot.integer = BOOL, value
    elif isinstance(value, int):
        slot.kind, slot.integer = INT, value
    elif isinstance(value, float):
        slot.kind, slot.real = FLOAT, value
    elif isinstance(value, str):
        slot.kind, slot.text = STRING, value.encode()
    elif isinstance(value, DType):
        slot.kind, slot.text = DTYPE, value.name.encode()
    elif isinstance(value, Tensor):
        slot.kind = DEVICE_TENSOR if value.on_device else TENSOR
        slot.text, slot.rank = value.dtype.encode(), len(value.shape)
        slot.data = value.address
        slot.shape[:len(value.shape)] = value.shape
        slot.strides[:len(value.strides)] = value.strides
    else:
        raise TypeError(f"argument {name}: {type(value).__name__}")
