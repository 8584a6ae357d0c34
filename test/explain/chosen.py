"""Which configuration of @triton.autotune is explained, how another is named, and what a limit does.

REQUIRES: nereid
RUN: nereid explain %s:scale x_ptr=zeros:f32[65536] y_ptr=zeros:f32[65536] n=65536 --grid "cdiv(n, BLOCK)" --chip h200 | FileCheck %s --check-prefix=LEAST
RUN: nereid explain %s:scale x_ptr=zeros:f32[65536] y_ptr=zeros:f32[65536] n=65536 --grid "cdiv(n, BLOCK)" --chip h200 --config "BLOCK=32" | FileCheck %s --check-prefix=NAMED
RUN: not nereid explain %s:scale x_ptr=zeros:f32[65536] y_ptr=zeros:f32[65536] n=65536 --grid "cdiv(n, BLOCK)" --chip h200 --config "BLOCK=33" 2>&1 | FileCheck %s --check-prefix=UNKNOWN
RUN: not nereid explain %s:endless x_ptr=zeros:f32[64] --grid 2 --limit 0.2 2>&1 | FileCheck %s --check-prefix=ENDLESS
RUN: nereid explain %s:scale x_ptr=zeros:f32[256] y_ptr=zeros:f32[256] n=256 BLOCK=256 num_warps=4 --grid 1 --chip h200 | FileCheck %s --check-prefix=FEW
RUN: env NEREID_PTXAS=/nonexistent nereid explain %s:scale x_ptr=zeros:f32[256] y_ptr=zeros:f32[256] n=256 BLOCK=256 num_warps=4 --grid 1 2>&1 | FileCheck %s --check-prefix=PTXAS
RUN: not nereid explain %s:endless x_ptr=zeros:f32[64] --grid 2 --chip H100 2>&1 | FileCheck %s --check-prefix=CASE
RUN: not nereid explain %s:endless x_ptr=zeros:f32[64] --grid 2 --chip sm_90 2>&1 | FileCheck %s --check-prefix=TARGET
RUN: not nereid explain %s:endless x_ptr=zeros:f32[64] --grid 2 --chip "NVIDIA H100 PCIe" 2>&1 | FileCheck %s --check-prefix=PRODUCT
RUN: not nereid compile %s:scale --signature "*fp32, *fp32, i32, 32" --target h100 --emit ptx 2>&1 | FileCheck %s --check-prefix=ARCHITECTURE
RUN: env SOURCE_DATE_EPOCH=86400 nereid explain %s:scale x_ptr=zeros:f32[256] y_ptr=zeros:f32[256] n=256 BLOCK=256 num_warps=4 --grid 1 --json - | FileCheck %s --check-prefix=MADE

LEAST: scale, sm_90a as of an h200: {{.*}} programs of
LEAST-NEXT: config BLOCK={{[0-9]+}} num_warps={{[0-9]}} num_stages=3, the least predicted time of 2 configurations; --config names another
NAMED: scale, sm_90a as of an h200: 2048 programs of 1 warp
NAMED-NEXT: config BLOCK=32 num_warps=1 num_stages=3, as --config says, of 2 configurations
UNKNOWN: error: --config 'BLOCK=33': no configuration has all of these; expected words of one of
UNKNOWN-NEXT: BLOCK=32 num_warps=1 num_stages=3
ENDLESS: endless: no program has ended within the limit of 0.2 s; expected at least one; a greater --limit waits longer
FEW: scale, sm_90a as of an h200: 1 program of 4 warps
FEW-NOT: config
FEW: operations 256 of floats by threads
FEW: time about 2.{{[0-9]}} us predicted
FEW: hint: 1 program for 132 multiprocessors
PTXAS: nereid: warning: NEREID_PTXAS: '/nonexistent' is no program that can be run
CASE: error: no chip 'H100'; expected one of h200, h100, {{.*}}; did you mean 'h100'?
TARGET: of that architecture: h200, h100, h100-pcie, gh200
ARCHITECTURE: error: --target: 'h100' is a chip; expected its architecture, sm_90a
PRODUCT: did you mean 'h100-pcie'?
MADE: "date": "1970-01-02 00:00 UTC",
MADE-NEXT: "program": "nereid {{[0-9]}}
MADE-NEXT: "command": "nereid explain {{.*}}chosen.py:scale
"""
import triton
import triton.language as tl


@triton.autotune([triton.Config({"BLOCK": 32}, num_warps=1), triton.Config({"BLOCK": 1024}, num_warps=4)], key=["n"])
@triton.jit
def scale(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y_ptr + i, tl.load(x_ptr + i, mask=i < n) * 2, mask=i < n)


@triton.jit
def endless(x_ptr):
    go = tl.load(x_ptr)
    while go < 1:
        tl.store(x_ptr + 1, go)
        go = tl.load(x_ptr)
