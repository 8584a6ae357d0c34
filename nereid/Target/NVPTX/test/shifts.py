# A shift by the width or more is 0, or the sign: one instruction, as PTX has it,
# and nothing for its neighbours in a word. Floats become integers of their own
# width, which saturates.
# RUN: nereid compile %s:neighbours --signature '*i32:16, *i8:16' --target sm_90a --emit ptx | FileCheck %s --check-prefix=WORD
# RUN: nereid compile %s:forms --signature '*i32:16, *i32:16, *i32:16' --target sm_90a --emit ptx | FileCheck %s --check-prefix=FORMS
# RUN: nereid compile %s:long --signature '*i64:16, *i64:16, *i64:16' --target sm_90a --emit ptx | FileCheck %s --check-prefix=LONG
# RUN: nereid compile %s:narrow --signature '*fp32:16, *i8:16, *u16:16, *i64:16' --target sm_90a --emit ptx | FileCheck %s --check-prefix=NARROW
# RUN: nereid compile %s:bytes --signature '*fp32:16, *u8:16' --target sm_90a --emit ptx | FileCheck %s --check-prefix=BYTES
import triton
import triton.language as tl


# Every second element is shifted out.
# WORD: ld.global.v4.b32
# WORD: shl.b32
# WORD: shl.b32
# WORD: st.global{{.*}}.b32
@triton.jit
def neighbours(x_ptr, y_ptr):
    i = tl.arange(0, 512)
    x = tl.load(x_ptr + i)
    tl.store(y_ptr + i, (x << ((i & 1) * 32 + (i >> 5))).to(tl.int8))


# FORMS-NOT: {{selp|setp|min}}
# FORMS: shl.b32
# FORMS-NOT: {{selp|setp|min}}
# FORMS: shr.s32
# FORMS-NOT: {{selp|setp|min}}
# FORMS: shr.u32
# FORMS-NOT: {{selp|setp|min}}
# FORMS: ret;
@triton.jit
def forms(x_ptr, a_ptr, y_ptr):
    i = tl.arange(0, 128)
    x = tl.load(x_ptr + i)
    a = tl.load(a_ptr + i)
    tl.store(y_ptr + i, x << a)
    tl.store(y_ptr + 128 + i, x >> a)
    tl.store(y_ptr + 256 + i, (x.to(tl.uint32) >> a.to(tl.uint32)).to(tl.int32))


# The amount has 64 bits, the instruction's 32.
# LONG: min.u64 [[BY:%rd[0-9]+]], {{%rd[0-9]+}}, 63;
# LONG: shl.b64
# LONG: selp.b64
@triton.jit
def long(x_ptr, a_ptr, y_ptr):
    i = tl.arange(0, 128)
    tl.store(y_ptr + i, tl.load(x_ptr + i) << tl.load(a_ptr + i))


# NARROW-DAG: cvt.rzi.s8.f32
# NARROW-DAG: cvt.rzi.u16.f32
# NARROW-DAG: selp.f32 [[NUMBER:%r[0-9]+]], {{.*}}, 0f00000000,
# NARROW-DAG: cvt.rzi.s64.f32 {{.*}}, [[NUMBER]];
@triton.jit
def narrow(x_ptr, y_ptr, z_ptr, w_ptr):
    i = tl.arange(0, 128)
    x = tl.load(x_ptr + i)
    tl.store(y_ptr + i, x.to(tl.int8))
    tl.store(z_ptr + i, x.to(tl.uint16))
    tl.store(w_ptr + i, x.to(tl.int64))


# BYTES-COUNT-4: cvt.rzi.s32.f32
# BYTES: cvt.pack.sat.u8.s32.b32 upper,
# BYTES: cvt.pack.sat.u8.s32.b32
# BYTES-NOT: {{cvt|prmt|shl}}
# BYTES: st.global{{.*}}.b32
@triton.jit
def bytes(x_ptr, y_ptr):
    i = tl.arange(0, 512)
    tl.store(y_ptr + i, tl.load(x_ptr + i).to(tl.uint8))
