# Instructions name the line they come from: in a helper the helper's, in the
# standard library, which is in no file, the line that calls it.
# RUN: nereid compile %s:kernel --signature '*fp32:16, *fp32:16, 128' --target sm_90a --emit ptx | FileCheck %s
import triton
import triton.language as tl


@triton.jit
def half(x):
    return x * 0.5


# Not for a debugger: with ", debug" the assembler would not optimise.
# CHECK: .target sm_90a{{$}}
# CHECK: .visible .entry kernel(
# CHECK-NOT: {{^}}$L__
# CHECK: .loc [[FILE:[0-9]+]] [[@LINE+2]] 0
@triton.jit
def kernel(y_ptr, x_ptr, N: tl.constexpr):
    cols = tl.arange(0, N)
    # CHECK: .loc [[FILE]] [[@LINE+2]]
    # CHECK: ld.global
    x = tl.load(x_ptr + cols)
    # CHECK: .loc [[FILE]] [[@LINE-14]]
    # CHECK: mul
    x = half(x)
    # CHECK: .loc [[FILE]] [[@LINE+3]]
    # CHECK-NOT: .loc
    # CHECK: shfl.sync
    s = tl.sum(x, axis=0)
    # CHECK: .loc [[FILE]] [[@LINE+2]]
    # CHECK: st.global
    tl.store(y_ptr + cols, x + s)
# CHECK: .file [[FILE]] "/{{.*}}/nereid/Target/NVPTX/test/source-lines.py"
# CHECK-NOT: <nereid>
