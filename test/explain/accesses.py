"""What nereid explain says of accesses: each is counted, and what could be cheaper has a hint at its line.

REQUIRES: nereid
RUN: nereid explain %s:contiguous x_ptr=randn:f32[65536] y_ptr=zeros:f32[65536] n=65536 --grid 64 --chip h200 | FileCheck %s --check-prefix=CONTIGUOUS
RUN: nereid explain %s:strided x_ptr=randn:f32[524288] y_ptr=zeros:f32[65536] n=65536 --grid 64 | FileCheck %s --check-prefix=STRIDED
RUN: nereid explain %s:shifted x_ptr=randn:f32[65540] y_ptr=zeros:f32[65536] n=65536 --grid 64 | FileCheck %s --check-prefix=SHIFTED
RUN: nereid explain %s:scattered x_ptr=zeros:f32[1048576] n=65536 --grid 64 | FileCheck %s --check-prefix=SCATTERED
RUN: nereid explain %s:contiguous x_ptr=randn:f32[65536] y_ptr=zeros:f32[65536] n=65536 --grid 64 --json - | FileCheck %s --check-prefix=JSON
RUN: nereid explain %s:contiguous x_ptr=randn:f32[65536] y_ptr=zeros:f32[65536] n=65536 --grid 64 --programs 0 --chip a100 | FileCheck %s --check-prefix=CHIP
RUN: not nereid explain %s:contiguous x_ptr=randn:f32[100] y_ptr=zeros:f32[100] n=100 --grid 1 --chip a1000 2>&1 | FileCheck %s --check-prefix=NOCHIP
RUN: not nereid explain %s:contiguous x_ptr=randn:f32[100] y_ptr=zeros:f32[100] n=100 2>&1 | FileCheck %s --check-prefix=NOGRID

CONTIGUOUS: contiguous, sm_90a as of an h200: 64 programs of 4 warps
CONTIGUOUS: memory 262 kB read, 262 kB written at least; 262 kB and 262 kB moved; 262 kB and 262 kB asked for
CONTIGUOUS: [[#LOAD:]] load x_ptr 16 32 16 16 262 kB
CONTIGUOUS: store y_ptr 16 32 16 16 262 kB
CONTIGUOUS: hint: 64 programs for 132 multiprocessors
CONTIGUOUS-NOT: hint:

JSON: "kernel": "contiguous"
JSON: "compulsory_bytes_read": 262144.0
JSON: "sectors": 8192.0,
JSON: "least_sectors": 8192.0

CHIP: contiguous, sm_80 as of an a100
NOCHIP: error: no chip 'a1000'; expected one of h200, h100, {{.*}}a100
NOGRID: error: expected FILE:KERNEL and --grid, got no --grid
"""
import triton
import triton.language as tl


@triton.jit
def contiguous(x_ptr, y_ptr, n, BLOCK: tl.constexpr = 1024):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y_ptr + i, tl.load(x_ptr + i, mask=i < n) * 2, mask=i < n)


@triton.jit
def strided(x_ptr, y_ptr, n, BLOCK: tl.constexpr = 1024):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    # STRIDED: memory 262 kB read, 262 kB written at least; 2.1 MB and 262 kB moved; 2.1 MB and 262 kB asked for
    # STRIDED: [[#@LINE+2]] load x_ptr 4 32 32 4 2.1 MB
    # STRIDED: accesses.py:[[#@LINE+1]]: hint: load of x_ptr: 32 sectors a request, 4 would do: neighbouring threads are not neighbours
    x = tl.load(x_ptr + i * 8, mask=i < n)
    tl.store(y_ptr + i, x * 2, mask=i < n)


@triton.jit
def shifted(x_ptr, y_ptr, n, BLOCK: tl.constexpr = 1024):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    # SHIFTED: accesses.py:[[#@LINE+1]]: hint: load of x_ptr: 16 sectors a request, 4 would do: a thread takes its 16 bytes one by one
    x = tl.load(x_ptr + 1 + i, mask=i < n)
    tl.store(y_ptr + i, x * 2, mask=i < n)


@triton.jit
def scattered(x_ptr, n, BLOCK: tl.constexpr = 1024):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    # SCATTERED: accesses.py:[[#@LINE+1]]: hint: atomic of x_ptr: 32 sectors a request, 4 would do: neighbouring threads update places far apart
    tl.atomic_add(x_ptr + i * 16, 1.0, mask=i < n)
