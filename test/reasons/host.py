"""What a CPU's code became, and why.

REQUIRES: nereid
RUN: nereid compile %s:softmax -v --target x86-64-v3 -o %t --signature "*fp32:16, *fp32:16, 1024" 2>&1 | FileCheck %s --check-prefix=PASSES
RUN: nereid compile %s:reads -v --target x86-64-v3 -o %t --signature "*fp32:16, *i32:16, *fp32:16, i32, 1024" 2>&1 | FileCheck %s --check-prefix=READS
RUN: nereid compile %s:reads -v --target x86-64 -o %t --signature "*fp32:16, *i32:16, *fp32:16, i32, 1024" 2>&1 | FileCheck %s --check-prefix=LANES
RUN: nereid compile %s:writes -v --target x86-64-v4 -o %t --signature "*fp32:16, *fp32:16, i32, 1024" 2>&1 | FileCheck %s --check-prefix=WRITES
RUN: nereid compile %s:writes -v --target x86-64 -o %t --signature "*fp32:16, *fp32:16, i32, 1024" 2>&1 | FileCheck %s --check-prefix=WRITELANES
RUN: nereid compile %s:waits -v --target x86-64-v3 -o %t --signature "*i32:16" 2>&1 | FileCheck %s --check-prefix=WAITS
RUN: nereid compile %s:branches -v --target x86-64-v3 -o %t --signature "*fp32:16, *fp32:16, 1024" 2>&1 | FileCheck %s --check-prefix=BRANCH
RUN: nereid compile %s:product -v --target x86-64-v3 -o %t --signature "*fp32:16, *fp32:16" 2>&1 | FileCheck %s --check-prefix=DOT
RUN: nereid compile %s:product -v --target x86-64-v4-bf16 -o %t --signature "*bf16:16, *fp32:16" 2>&1 | FileCheck %s --check-prefix=PAIRS
RUN: nereid compile %s:product -v --target x86-64-v4-amx -o %t --signature "*bf16:16, *fp32:16" 2>&1 | FileCheck %s --check-prefix=TILES
RUN: nereid compile %s:turns -v --target x86-64-v3 -o %t --signature "*fp32:16, *fp32:16" 2>&1 | FileCheck %s --check-prefix=TURNS
RUN: nereid compile %s:product -v --target x86-64-v3 --num-warps 8 -o %t --signature "*fp32:16, *fp32:16" 2>&1 | FileCheck %s --check-prefix=OPTION
"""
import triton
import triton.language as tl


@triton.jit
def softmax(x_ptr, y_ptr, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    # PASSES: host.py:[[#@LINE+2]]:9: remark: row: the program before prefetches it while it computes: several passes read it
    # PASSES: :[[#@LINE+1]]:9: remark: load: a vector of neighbours{{$}}
    x = tl.load(x_ptr + i)
    # PASSES: :[[#@LINE+2]]:9: remark: buffer: kept in the thread's memory, 4 KiB; not computed where it is used: several passes read it, and it costs more to compute than to load
    # PASSES: :[[#@LINE+1]]:20: remark: pass: one pass over 1024, vectors of {{[0-9]+}} elements along dimension 0
    e = tl.exp(x - tl.max(x, axis=0))
    # PASSES: :[[#@LINE+2]]:29: remark: pass: a pass of its own over the tile; not together with an earlier one: it needs the complete result of 'reduce' in line [[#@LINE-1]]
    # PASSES: :[[#@LINE+1]]:29: remark: pass: one pass over 1024 for 2 operations ('reduce' in line [[#@LINE+1]], 'exp' in line [[#@LINE-2]])
    tl.store(y_ptr + i, e / tl.sum(e, axis=0))


@triton.jit
def reads(x_ptr, index_ptr, y_ptr, stride, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    # READS: :[[#@LINE+2]]:9: remark: load: a gather, each lane from its own address; not a vector of neighbours: a gather: the indices are loaded in line [[#@LINE+2]]
    # LANES: :[[#@LINE+1]]:9: remark: load: one element after the other; not a vector of neighbours: {{.*}}; this processor has no gather for them
    a = tl.load(x_ptr + tl.load(index_ptr + i))
    # READS: :[[#@LINE+1]]:9: remark: load: a gather, each lane from its own address; not a vector of neighbours: {{.*}} known at run time only ('stride')
    b = tl.load(x_ptr + i * stride)
    # READS: :[[#@LINE+1]]:9: remark: load: all between the first lane and the last, then a shuffle; not a vector of neighbours: the lanes lie a small constant distance apart
    c = tl.load(x_ptr + i * 2)
    # READS: :[[#@LINE+1]]:9: remark: load: a vector of neighbours, reversed
    d = tl.load(x_ptr + (BLOCK - 1 - i))
    # READS: :[[#@LINE+1]]:9: remark: load: a vector of neighbours where 'x % n' does not wrap in it, else a gather; not a vector of neighbours always: whether it wraps is asked at run time
    e = tl.load(x_ptr + (i + stride) % 1000)
    tl.store(y_ptr + i, a + b + c + d + e)


@triton.jit
def writes(x_ptr, y_ptr, stride, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i)
    # WRITES: :[[#@LINE+3]]:5: remark: store: past the caches, where the launch writes more than they hold: the kernel does not read what it writes
    # WRITES: :[[#@LINE+2]]:5: remark: store: a vector of neighbours{{$}}
    # WRITELANES: :[[#@LINE+1]]:5: remark: store: a vector of neighbours{{$}}
    tl.store(y_ptr + i, x)
    # WRITES: :[[#@LINE+2]]:5: remark: store: a scatter, each lane to its own address; not a vector of neighbours: {{.*}} known at run time only ('stride')
    # WRITELANES: :[[#@LINE+1]]:5: remark: store: one element after the other; not a vector of neighbours: {{.*}} known at run time only ('stride')
    tl.store(y_ptr + i * stride, x)


@triton.jit
def waits(flag_ptr):
    # WAITS: :[[#@LINE+1]]:{{[0-9]+}}: remark: programs: each has a thread of its own on a CPU; not several after each other on one thread: this loop waits for what other programs write
    while tl.atomic_add(flag_ptr, 0) == 0:
        pass
    tl.store(flag_ptr + 1, 1)


@triton.jit
def first(x, y):
    if x > 0:
        r = x
    else:
        r = y * 2
    return r


@triton.jit
def branches(x_ptr, y_ptr, BLOCK: tl.constexpr):
    x = tl.load(x_ptr + tl.arange(0, BLOCK))
    # BRANCH: :[[#@LINE+1]]:21: remark: pass: one pass over 1024, element by element; not in vectors: the function that combines two elements has control flow; hint: tl.where instead of a branch
    tl.store(y_ptr, tl.reduce(x, 0, first))


# OPTION: host.py:{{[0-9]+}}:{{[0-9]+}}: remark: option: num_warps has no effect on x86-64-v3: programs are functions of one thread there
@triton.jit
def product(x_ptr, y_ptr):
    i = tl.arange(0, 64)[:, None] * 64 + tl.arange(0, 64)[None, :]
    # DOT: :[[#@LINE+1]]:9: remark: buffer: kept in the thread's memory, 16 KiB; not computed where it is used: products, a gather or a print read it from memory
    x = tl.load(x_ptr + i)
    # TILES: :[[#@LINE+3]]:25: remark: dot: blocks of 32 x 32 of the result in tile registers, operands in the thread's memory
    # DOT: :[[#@LINE+2]]:25: remark: dot: {{[0-9]+}} rows x {{[0-9]+}} vectors of 8 elements of the result stay in registers, operands in the thread's memory
    # PAIRS: :[[#@LINE+1]]:25: remark: dot: {{[0-9]+}} rows x {{[0-9]+}} vectors of 16 elements of the result stay in registers, operands in the thread's memory, 2 products an instruction and lane
    tl.store(y_ptr + i, tl.dot(x, x))


@triton.jit
def turns(x_ptr, y_ptr):
    i = tl.arange(0, 64)[:, None] * 64 + tl.arange(0, 64)[None, :]
    # TURNS: :[[#@LINE+1]]:9: remark: load: turned in registers on the way into the thread's memory, 16 KiB; not a gather: the vectors of the pass lie across its neighbours in memory
    x = tl.load(x_ptr + i)
    tl.store(y_ptr + i, tl.trans(x))
