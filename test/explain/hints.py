"""Hints say nothing that the launch itself refutes, and of what depends on the data that it does.

REQUIRES: nereid
RUN: nereid explain %s:shifted x_ptr=zeros:f32[65552] y_ptr=zeros:f32[65536] n=65536 OFF=1 --grid 64 | FileCheck %s --check-prefix=SHIFTED --implicit-check-not=multiple_of
RUN: nereid explain %s:rows x_ptr=zeros:f32[64,1001] y_ptr=zeros:f32[64,1024] stride=1001 --grid 64 | FileCheck %s --check-prefix=ROWS --implicit-check-not=multiple_of
RUN: nereid explain %s:bounded x_ptr=zeros:i8[65535] y_ptr=zeros:i8[65535] n=65535 --grid 16 | FileCheck %s --check-prefix=BOUNDED --implicit-check-not=multiple_of
RUN: nereid explain %s:bins x_ptr=randint:0:256:i32[65536] y_ptr=zeros:i32[256] --grid 16 | FileCheck %s --check-prefix=BINS
RUN: nereid explain %s:counted x_ptr=randint:0:8:i32[65536] y_ptr=zeros:i32[8] --grid 64 | FileCheck %s --check-prefix=COUNTED
RUN: nereid explain %s:broadcast x_ptr=zeros:f32[64] y_ptr=zeros:f32[65536] --grid 64 | FileCheck %s --check-prefix=ONE
RUN: nereid explain %s:sums x_ptr=zeros:f32[100000,8] y_ptr=zeros:f32[100000] N=8 BLOCK=8 --grid 100000 | FileCheck %s --check-prefix=SMALL

SMALL: memory 3.2 MB read, 400 kB written at least{{.*}}; 3.2 MB and 400 kB moved
COUNTED: bound by atomics
ONE: load x_ptr 4 32 1 1 8.19 kB
"""
import triton
import triton.language as tl


@triton.jit
def shifted(x_ptr, y_ptr, n, OFF, BLOCK: tl.constexpr = 1024):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    # SHIFTED: hints.py:[[#@LINE+1]]: hint: load of x_ptr: 16 sectors a request, 4 would do: a thread takes its 16 bytes one by one: in this launch they begin 4 bytes past a multiple of 16
    x = tl.load(x_ptr + i + OFF)
    tl.store(y_ptr + i, x * 2)


@triton.jit
def rows(x_ptr, y_ptr, stride, BLOCK: tl.constexpr = 1024):
    i = tl.arange(0, BLOCK)
    # ROWS: hints.py:[[#@LINE+1]]: hint: load of x_ptr: {{.*}} a thread takes its 16 bytes one by one: in this launch rows begin at no multiples of 16 bytes. Pad their stride
    x = tl.load(x_ptr + tl.program_id(0) * stride + i, mask=i < 1000, other=0)
    tl.store(y_ptr + tl.program_id(0) * BLOCK + i, x)


@triton.jit
def bounded(x_ptr, y_ptr, n, BLOCK: tl.constexpr = 4096):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    # BOUNDED: hints.py:[[#@LINE+1]]: hint: load of x_ptr: 1 byte a thread where 16 are possible: {{.*}} A bound that is a multiple of 16 would do: pad the array to one
    x = tl.load(x_ptr + i, mask=i < n)
    tl.store(y_ptr + i, x, mask=i < n)


@triton.jit
def bins(x_ptr, y_ptr, BLOCK: tl.constexpr = 4096):
    x = tl.load(x_ptr + tl.program_id(0) * BLOCK + tl.arange(0, BLOCK))
    # BINS: hints.py:[[#@LINE+1]]: hint: atomic of shared memory: {{.*}} (bank conflicts): they hang on the data
    counts = tl.histogram(x, 256)
    tl.atomic_add(y_ptr + tl.arange(0, 256), counts)


@triton.jit
def counted(x_ptr, y_ptr, BLOCK: tl.constexpr = 1024):
    x = tl.load(x_ptr + tl.program_id(0) * BLOCK + tl.arange(0, BLOCK))
    tl.atomic_add(y_ptr + x, 1)


@triton.jit
def broadcast(x_ptr, y_ptr, BLOCK: tl.constexpr = 1024):
    x = tl.load(x_ptr + tl.program_id(0))
    tl.store(y_ptr + tl.program_id(0) * BLOCK + tl.arange(0, BLOCK), x + tl.zeros((BLOCK,), tl.float32))


@triton.jit
def sums(x_ptr, y_ptr, N, BLOCK: tl.constexpr):
    c = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + tl.program_id(0) * N + c, mask=c < N, other=0.0)
    tl.store(y_ptr + tl.program_id(0), tl.sum(x, axis=0))
