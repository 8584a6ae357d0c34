# The clock of tl.extra.hip is the counter that all waves share.
# RUN: nereid compile %s:now --target gfx942 --emit amdgcn --signature '*i64' | FileCheck %s --check-prefix=GFX942
# RUN: nereid compile %s:now --target gfx1201 --emit amdgcn --signature '*i64' | FileCheck %s --check-prefix=GFX12
import triton
import triton.language as tl
from triton.language.extra import hip


# GFX942: s_memrealtime
# GFX942: s_endpgm
# GFX12: s_sendmsg_rtn_b64
# GFX12: s_endpgm
@triton.jit
def now(z_ptr):
    tl.store(z_ptr, hip.memrealtime())
