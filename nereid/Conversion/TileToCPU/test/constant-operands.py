# RUN: nereid compile %s:exp --signature '*fp32:16, *fp32:16, 1024' --target x86-64-v3 --emit asm | FileCheck %s --check-prefix=FEW
# RUN: nereid compile %s:exp --signature '*fp32:16, *fp32:16, 1024' --target x86-64-v4 --emit asm | FileCheck %s --check-prefix=MANY
import triton
import triton.language as tl


# An exponential has more constants than 16 registers hold: those of one
# instruction are its operand in memory, as whole vectors. With 32 registers all
# stay there.
# FEW: exp_entry:
# FEW: vfmadd{{[0-9]+}}ps ymm{{[0-9]+}}, ymm{{[0-9]+}}, ymmword ptr [rip +
# FEW: vfmadd{{[0-9]+}}ps ymm{{[0-9]+}}, ymm{{[0-9]+}}, ymmword ptr [rip +
# MANY: exp_entry:
# MANY-NOT: ps {{.*}}, zmmword ptr [rip +
# MANY: ret
@triton.jit
def exp(y_ptr, x_ptr, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y_ptr + i, tl.exp(tl.load(x_ptr + i)))
