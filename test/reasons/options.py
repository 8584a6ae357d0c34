"""Options that change nothing on a target say so, whatever the log says.

REQUIRES: nereid
RUN: nereid compile %s:add --target x86-64-v3 -o %t --signature "*fp32:16, n=i32, maxnreg=64, num_ctas=2" 2>&1 | FileCheck %s --check-prefix=HOST
RUN: nereid compile %s:add --target sm_90a -o %t --signature "*fp32:16, n=i32, num_ctas=2" 2>&1 | FileCheck %s --check-prefix=CTAS
RUN: nereid compile %s:add --target sm_90a -o %t --num-stages 4 --signature "*fp32:16, n=i32" 2>&1 | FileCheck %s --check-prefix=STAGES
RUN: nereid compile %s:add --target x86-64-v3 --num-warps 8 -o %t --signature "*fp32:16, n=i32" 2>&1 | FileCheck %s --check-prefix=SILENT --allow-empty
RUN: nereid compile %s:add --target sm_90a -v -o %t --signature "*fp32:16, n=i32, waves_per_eu=2, matrix_instr_nonkdim=16, kpack=2" 2>&1 | FileCheck %s --check-prefix=OTHERS
RUN: nereid compile %s:add --target x86-64-v3 -v -o %t --signature "*fp32:16, n=i32, matrix_instr_nonkdim=32" 2>&1 | FileCheck %s --check-prefix=OTHER
RUN: nereid compile %s:looped --target sm_90a -o %t --signature "*fp32:16, n=i32" 2>&1 | FileCheck %s --check-prefix=LOOP
RUN: nereid compile %s:looped --target x86-64-v3 -o %t --signature "*fp32:16, n=i32" 2>&1 | FileCheck %s --check-prefix=BOTH
RUN: nereid compile %s:one_stage --target x86-64-v3 -o %t --signature "*fp32:16, n=i32" 2>&1 | FileCheck %s --check-prefix=SILENT --allow-empty
"""
import triton
import triton.language as tl


# HOST: options.py:[[#@LINE+10]]:1: warning: kernel 'add': num_ctas, maxnreg have no effect on x86-64-v3
# CTAS: options.py:[[#@LINE+9]]:1: warning: kernel 'add': num_ctas has no effect on sm_90a: a program is one block
# STAGES: options.py:[[#@LINE+8]]:1: warning: kernel 'add': num_stages has no effect: none of its loads runs ahead
# STAGES: hint: NEREID_LOG=dispatch tells why
# OTHERS-NOT: warning
# OTHERS: remark: option: waves_per_eu, matrix_instr_nonkdim have no effect on sm_90a: only GPUs of AMD have such a choice
# OTHER-NOT: warning
# OTHER: remark: option: matrix_instr_nonkdim has no effect on x86-64-v3
# SILENT-NOT: warning
@triton.jit
def add(x_ptr, n):
    i = tl.program_id(0) * 128 + tl.arange(0, 128)
    tl.store(x_ptr + i, tl.load(x_ptr + i, mask=i < n) + 1, mask=i < n)


@triton.jit
def looped(x_ptr, n):
    total = 0.0
    # LOOP: options.py:[[#@LINE+2]]:{{[0-9]+}}: warning: loop_unroll_factor, flatten have no effect on this loop for sm_90a
    # BOTH: options.py:[[#@LINE+1]]:{{[0-9]+}}: warning: num_stages, loop_unroll_factor, flatten have no effect on this loop for x86-64-v3
    for k in tl.range(n, num_stages=2, loop_unroll_factor=4, flatten=True):
        total += tl.load(x_ptr + k)
    # LOOP: hint: tl.static_range unrolls a loop
    tl.store(x_ptr, total)


@triton.jit
def one_stage(x_ptr, n):
    total = 0.0
    for k in tl.range(n, num_stages=1):
        total += tl.load(x_ptr + k)
    tl.store(x_ptr, total)
