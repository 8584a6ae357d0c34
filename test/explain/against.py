"""nereid explain --against: a fused kernel and the chain that does the same; --html: the source with its costs.

REQUIRES: nereid
DEFINE: %{explain} = nereid explain %s:fused x_ptr=randn:f32[262144] y_ptr=zeros:f32[262144] n=262144 --grid 256
RUN: %{explain} --against "%s:scale t_ptr=zeros:f32[262144]" --against "%s:shift t_ptr=zeros:f32[262144]" | FileCheck %s --check-prefix=TEXT
RUN: %{explain} --against "%s:wide --grid 64" | FileCheck %s --check-prefix=GRID
RUN: %{explain} --against "%s:wide --grid=cdiv(n,4096)" | FileCheck %s --check-prefix=GRID
RUN: %{explain} --against "%s:wide --grid 'cdiv(n, 4096)'" | FileCheck %s --check-prefix=GRID
RUN: %{explain} --against "%s:scale t_ptr=zeros:f32[262144]" --json - | FileCheck %s --check-prefix=JSON
RUN: %{explain} --against "%s:scale t_ptr=zeros:f32[262144]" --html - | FileCheck %s --check-prefix=HTML
RUN: not %{explain} --against "%s:none" 2>&1 | FileCheck %s --check-prefix=NONE
RUN: not %{explain} --against "%s:scale" 2>&1 | FileCheck %s --check-prefix=MISSING
RUN: not %{explain} --html - --json - 2>&1 | FileCheck %s --check-prefix=BOTH
RUN: not %{explain} --html /no/such/folder/page.html 2>&1 | FileCheck %s --check-prefix=UNWRITABLE

TEXT: A {{.*}}against.py:fused
TEXT: B {{.*}}against.py:scale + {{.*}}against.py:shift
TEXT: launches 1 2 2.00x
TEXT: touched 2.1 MB 4.19 MB 2.00x
TEXT: moved 2.1 MB 4.19 MB 2.00x
TEXT: predicted {{.*}} us {{.*}} us
TEXT: A fused: {{.*}} us, bound by {{.*}}, 1.05 MB read, 1.05 MB written
TEXT: B scale:
TEXT: B shift:

GRID: B wide: {{.*}}, 1.05 MB read

JSON: "kernel": "fused"
JSON: "against": [
JSON: "kernel": "scale"

HTML: <!doctype html>
HTML: <table class=comparison>
HTML: <h1>fused</h1>
HTML: <td>{{ *}}y = tl.load(x_ptr + i) * 2 + 1</td>
HTML-NOT: http
HTML: </html>

NONE: error: no kernel 'none' in {{.*}}against.py; expected one of fused, scale, shift, wide
MISSING: t_ptr
BOTH: error: expected one of --json and --html on standard output, got both
UNWRITABLE: error: {{.*}}/no/such/folder
"""
import triton
import triton.language as tl


@triton.jit
def fused(x_ptr, y_ptr, n, BLOCK: tl.constexpr = 1024):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    y = tl.load(x_ptr + i) * 2 + 1
    tl.store(y_ptr + i, y)


@triton.jit
def scale(x_ptr, t_ptr, n, BLOCK: tl.constexpr = 1024):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(t_ptr + i, tl.load(x_ptr + i) * 2)


@triton.jit
def shift(t_ptr, y_ptr, n, BLOCK: tl.constexpr = 1024):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y_ptr + i, tl.load(t_ptr + i) + 1)


@triton.jit
def wide(x_ptr, y_ptr, n, BLOCK: tl.constexpr = 4096):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y_ptr + i, tl.load(x_ptr + i) * 2 + 1)
