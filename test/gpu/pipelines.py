#!/usr/bin/env python3
"""Hand-written kernels of the copy engine on a GPU: what the simulated GPU assumes, asked of a real one.

    test/gpu/pipelines.py [--repeat N]

nereid/Sim/test/pipeline.ptx and products.ptx with 2 to 5 slots, and one or two groups that consume; where pieces of a box go under each swizzle; which
arguments cuTensorMapEncodeTiled refuses. PipelineTest and BulkTest (nereid/Sim) expect the same of the simulator. Needs a GPU
of compute capability 9.0; nothing but the driver is used.

Exit status: 0; 1 with a line for each difference; 77 without such a GPU.
"""

import ctypes
import struct
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
ROWS, COLUMNS, BOX_ROWS, BOX_COLUMNS, SLOT = 37, 44, 16, 32, 2048
U32, F16, F32 = 2, 6, 7  # CUtensorMapDataType

SHOW = """
.version 8.0
.target sm_90a
.address_size 64
.extern .shared .align 1024 .b8 memory[];
.visible .entry show(.param .align 64 .b8 map[128], .param .u64 out, .param .u32 bytes, .param .u32 x, .param .u32 y)
{
	.reg .pred %p<2>;
	.reg .b32 %r<8>;
	.reg .b64 %rd<4>;
	mov.b64 %rd0, map;
	cvta.param.u64 %rd0, %rd0;
	ld.param.u64 %rd1, [out];
	ld.param.u32 %r0, [bytes];
	ld.param.u32 %r5, [x];
	ld.param.u32 %r6, [y];
	mov.u32 %r1, memory;
	mbarrier.init.shared::cta.b64 [%r1+16384], 1;
	fence.proxy.async.shared::cta;
	mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r1+16384], %r0;
	add.u32 %r2, %r1, 16384;
	cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%r1], [%rd0, {%r5, %r6}], [%r2];
WAIT:
	mbarrier.try_wait.parity.shared::cta.b64 %p0, [%r2], 0;
	@!%p0 bra WAIT;
	add.u32 %r3, %r1, %r0;
NEXT:
	ld.shared.b32 %r4, [%r1];
	st.global.b32 [%rd1], %r4;
	add.u32 %r1, %r1, 4;
	add.u64 %rd1, %rd1, 4;
	setp.lt.u32 %p1, %r1, %r3;
	@%p1 bra NEXT;
	ret;
}
"""


def skip(reason):
    print(f"skipped: {reason}")
    sys.exit(77)


class Device:
    """The first GPU, through the driver's own functions."""

    def __init__(self):
        try:
            self.cuda = ctypes.CDLL("libcuda.so.1")
        except OSError:
            skip("no NVIDIA driver")
        count, device, context = ctypes.c_int(), ctypes.c_int(), ctypes.c_void_p()
        if self.cuda.cuInit(0) or self.cuda.cuDeviceGetCount(ctypes.byref(count)) or not count.value:
            skip("no GPU")
        self("cuDeviceGet", ctypes.byref(device), 0)
        major = ctypes.c_int()
        self("cuDeviceGetAttribute", ctypes.byref(major), 75, device)
        if major.value != 9:
            skip("a GPU of compute capability 9.0 is needed")
        self("cuDevicePrimaryCtxRetain", ctypes.byref(context), device)
        self("cuCtxSetCurrent", context)

    def __call__(self, name, *arguments):
        result = getattr(self.cuda, name)(*arguments)
        if result:
            sys.exit(f"{name}: CUDA error {result}")

    def function(self, text, name):
        module, function = ctypes.c_void_p(), ctypes.c_void_p()
        self("cuModuleLoadData", ctypes.byref(module), ctypes.c_char_p(text.encode()))
        self("cuModuleGetFunction", ctypes.byref(function), module, name.encode())
        return function

    def buffer(self, data):
        address = ctypes.c_uint64()
        self("cuMemAlloc_v2", ctypes.byref(address), ctypes.c_size_t(len(data)))
        self("cuMemcpyHtoD_v2", address, data, ctypes.c_size_t(len(data)))
        return address

    def read(self, address, size):
        data = ctypes.create_string_buffer(size)
        self("cuMemcpyDtoH_v2", data, address, ctypes.c_size_t(size))
        return data.raw

    def launch(self, function, threads, shared, *parameters):
        pointers = (ctypes.c_void_p * len(parameters))(*[ctypes.addressof(parameter) for parameter in parameters])
        self("cuLaunchKernel", function, 1, 1, 1, threads, 1, 1, shared, None, pointers, None)
        self("cuCtxSynchronize")

    def encode(self, kind, address, sizes, strides, box, steps=None, interleave=0, swizzle=0, promotion=0, fill=0, rank=None):
        """(result, map)"""
        storage = ctypes.create_string_buffer(192)
        at = -(-ctypes.addressof(storage) // 64) * 64
        made = (ctypes.c_char * 128).from_address(at)
        made.storage = storage
        rank = len(sizes) if rank is None else rank
        result = self.cuda.cuTensorMapEncodeTiled(
            made, kind, rank, ctypes.c_void_p(address), (ctypes.c_uint64 * 6)(*sizes), (ctypes.c_uint64 * 6)(*strides),
            (ctypes.c_uint32 * 6)(*box), (ctypes.c_uint32 * 6)(*(steps or [1] * 6)), interleave, swizzle, promotion, fill)
        return result, made


def text_of(file, names):
    text = (ROOT / "nereid/Sim/test" / file).read_text()
    for name, value in names.items():
        text = text.replace("{" + name + "}", str(value))
    return text


def pipeline(device, stages, groups):
    """Whether y = 2 x + 1."""
    names = {"STAGES": stages, "GROUPS": groups, "THREADS": 128 * (1 + groups), "RESULTS": stages * SLOT,
             "FULL": (stages + groups) * SLOT, "EMPTY": (stages + groups) * SLOT + 8, "GROUP_BYTES": SLOT // groups,
             "PER_THREAD": 4 // groups, "ROWS": BOX_ROWS // groups}
    text = text_of("pipeline.ptx", names)
    count = ROWS * COLUMNS
    source = device.buffer(struct.pack(f"{count}f", *range(count)))
    target = device.buffer(bytes(4 * count))
    result, from_map = device.encode(F32, source.value, [COLUMNS, ROWS], [4 * COLUMNS], [BOX_COLUMNS, BOX_ROWS], swizzle=3)
    result2, to_map = device.encode(F32, target.value, [COLUMNS, ROWS], [4 * COLUMNS], [BOX_COLUMNS, BOX_ROWS // groups])
    if result or result2:
        return False
    boxes = ctypes.c_uint32(2 * -(-ROWS // BOX_ROWS))
    device.launch(device.function(text, "pipeline"), 128 * (1 + groups), (stages + groups) * SLOT + 16 * stages,
                  from_map, to_map, boxes)
    got = struct.unpack(f"{count}f", device.read(target, 4 * count))
    return all(y == 2 * x + 1 for x, y in enumerate(got))


def products(device, stages):
    """Whether y = a b^T, of whole numbers."""
    rows, columns, depth, slot = 64, 8, 104, 3072
    a = [i * 7 % 11 - 5 for i in range(rows * depth)]
    b = [(i + 3) * 7 % 11 - 5 for i in range(columns * depth)]
    a_at, b_at = (device.buffer(struct.pack(f"{len(values)}e", *values)) for values in (a, b))
    y_at = device.buffer(bytes(4 * rows * columns))
    result, a_map = device.encode(F16, a_at.value, [depth, rows], [2 * depth], [16, rows], swizzle=1)
    result2, b_map = device.encode(F16, b_at.value, [depth, columns], [2 * depth], [16, columns], swizzle=1)
    if result or result2:
        return False
    text = text_of("products.ptx", {"STAGES": stages, "FULL": stages * slot, "EMPTY": stages * slot + 8})
    device.launch(device.function(text, "products"), 256, stages * (slot + 16), a_map, b_map, y_at, ctypes.c_uint32(-(-depth // 16)))
    got = struct.unpack(f"{rows * columns}f", device.read(y_at, 4 * rows * columns))
    want = [sum(a[r * depth + k] * b[c * depth + k] for k in range(depth)) for r in range(rows) for c in range(columns)]
    return list(got) == want


def shown(device, sizes, box, swizzle, x=0, y=0):
    """The words of shared memory after a load of one box."""
    count = sizes[0] * sizes[1]
    source = device.buffer(struct.pack(f"{count}I", *range(1, count + 1)))
    result, made = device.encode(U32, source.value, sizes, [4 * sizes[0]], box, swizzle=swizzle)
    if result:
        return None
    size = 4 * box[0] * box[1]
    out = device.buffer(bytes(size))
    device.launch(device.function(SHOW, "show"), 1, 16384 + 8, made, out, ctypes.c_uint32(size), ctypes.c_int32(x), ctypes.c_int32(y))
    return struct.unpack(f"{size // 4}I", device.read(out, size))


def swizzle_is_as_assumed(device, swizzle):
    pieces = 1 << swizzle
    words = 4 * pieces
    got = shown(device, [words, 16], [words, 16], swizzle)
    for row in range(16):
        for word in range(words):
            by = row // (8 // pieces) % pieces
            if got is None or got[row * words + (word // 4 ^ by) * 4 + word % 4] != 1 + row * words + word:
                return False
    return True


def outside_is_as_assumed(device, x, y):
    got = shown(device, [12, 5], [8, 4], 0, x, y)
    want = [1 + r * 12 + c if 0 <= r < 5 and 0 <= c < 12 else 0 for r in range(y, y + 4) for c in range(x, x + 8)]
    return got is not None and list(got) == want


def refusals():
    """(what, whether it is refused, arguments of encode beyond those of a right map)"""
    return [
        ("as it is", False, {}), ("a type of 16", True, {"kind": 16}), ("no dimension", True, {"rank": 0}),
        ("6 dimensions", True, {"rank": 6}), ("an address of 8", True, {"offset": 8}), ("a size of 0", True, {"sizes": [100, 0]}),
        ("a size above 2^32", True, {"sizes": [(1 << 32) + 1, 30]}), ("a stride of 250", True, {"strides": [250]}),
        ("a stride of 2^40", True, {"strides": [1 << 40]}), ("a box of 257", True, {"box": [64, 257]}),
        ("a box of 0", True, {"box": [0, 8]}), ("a box of 120 bytes", True, {"box": [60, 8]}),
        ("a box wider than its swizzle", True, {"box": [72, 8]}), ("a box narrower than its swizzle", False, {"box": [32, 8]}),
        ("a stride of 9 elements", True, {"steps": [1, 9, 1, 1, 1, 1]}), ("a stride of 3 elements", False, {"steps": [1, 3, 1, 1, 1, 1]}),
        ("an interleave of 3", True, {"interleave": 3}), ("a swizzle of 7", True, {"swizzle": 7}),
        ("a promotion of 4", True, {"promotion": 4}), ("a fill of 2", True, {"fill": 2}),
    ]


def main():
    device, wrong = Device(), []
    repeat = int(sys.argv[sys.argv.index("--repeat") + 1]) if "--repeat" in sys.argv else 20
    for stages in range(2, 6):
        for groups in (1, 2):
            if not all(pipeline(device, stages, groups) for _ in range(repeat)):
                wrong.append(f"pipeline of {stages} slots, {groups} groups: a wrong result")
        if not all(products(device, stages) for _ in range(repeat)):
            wrong.append(f"products of {stages} slots: a wrong result")
    wrong += [f"swizzle {swizzle}: other places" for swizzle in (1, 2, 3) if not swizzle_is_as_assumed(device, swizzle)]
    wrong += [f"a box at {x}, {y}: other words" for x, y in ((-4, -2), (8, 3), (-8, 0), (0, 5), (100, 100), (0, -2000000000)) if not outside_is_as_assumed(device, x, y)]
    address = device.buffer(bytes(1 << 16)).value
    for what, is_refused, changes in refusals():
        arguments = {"kind": F16, "sizes": [100, 30], "strides": [256], "box": [64, 8], "swizzle": 3, **changes}
        arguments["address"] = address + arguments.pop("offset", 0)
        result, _ = device.encode(**arguments)
        if result != is_refused:  # CUDA_ERROR_INVALID_VALUE is 1
            wrong.append(f"cuTensorMapEncodeTiled, {what}: {result}, expected {int(is_refused)}")
    print("\n".join(wrong) or "the GPU does what the simulator does")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
