// ptxas takes the text of every instruction.
// REQUIRES: llc, mlir-translate, ptxas
// RUN: nereid-opt %s --nv-print-assembly | mlir-translate --mlir-to-llvmir --allow-unregistered-dialect -o %t.ll
// RUN: llc %t.ll -mtriple=nvptx64-nvidia-cuda -mcpu=sm_90a -mattr=+ptx84 -o %t.ptx
// RUN: ptxas -arch=sm_90a %t.ptx -o %t.cubin

llvm.func @memory(%g: i64, %s: i32, %n: i32) attributes {nvvm.kernel} {
  %zero = llvm.mlir.constant(0 : i32) : i32
  %p = llvm.icmp "ne" %n, %zero : i32
  %h = llvm.trunc %n : i32 to i16
  %b = nv.load global %g {byte} : i64 -> i16
  nv.store global %g + 1, %b {byte} : i64, i16
  %v:2 = nv.load global %g + -16 if %p else %n, %n : i32, i32 {eviction = #nv<eviction evict_first>} : i64 -> i32, i32
  nv.store global %g, %v#0, %v#1 if %p {cache = #nv<cache wt>} : i64, i32, i32
  %r = nv.load global %g if %p {order = #nv<order relaxed>, scope = #nv<scope gpu>} : i64 -> i64
  %a = nv.load global %g {order = #nv<order acquire>, scope = #nv<scope sys>} : i64 -> i64
  %o = nv.load global %g {order = #nv<order volatile>} : i64 -> i64
  nv.store global %g + 8, %r, %a {eviction = #nv<eviction no_allocate>} : i64, i64, i64
  nv.store global %g + 8, %o {eviction = #nv<eviction evict_last>} : i64, i64
  %u:4 = nv.load shared %s + 32 : i32 -> i32, i32, i32, i32
  nv.store shared %s, %u#0, %u#1, %u#2, %u#3 if %p : i32, i32, i32, i32, i32
  nv.cp_async %s + 32, %g + 64, 16 read %n if %p
  nv.cp_async %s, %g, 4
  nvvm.cp.async.commit.group
  nvvm.cp.async.wait.group 0
  nv.prefetch_bulk %g, %n if %p
  %c = nv.compare_and_swap %g, %h, %b if %p acq_rel sys : i16
  nv.store global %g, %c : i64, i16
  nv.count_shared %s by 1 if %p
  %x:2 = nv.atomic fadd %g + 16, %n, %n if %p of f32 relaxed gpu : i32, i32 -> i32, i32
  nv.atomic fadd %g, %x#0, %x#1, %n, %n of f32 acq_rel gpu : i32, i32, i32, i32
  nv.atomic fadd %g, %n, %n of bf16 release sys : i32, i32
  nv.atomic fadd %g, %h if %p of f16 relaxed cta : i16
  nv.atomic fadd %g, %r of f64 relaxed gpu : i64
  nv.atomic add %g, %r if %p of i64 acq_rel gpu : i64
  nv.atomic umin %g, %n of i32 relaxed gpu : i32
  nv.atomic max %g, %r of i64 relaxed gpu : i64
  nv.atomic xor %g, %n of i32 relaxed gpu : i32
  nv.atomic exchange %g, %r of i64 release gpu : i64
  nv.atomic umax %g, %r if %p of i64 release sys : i64
  nv.atomic and %g, %n of i32 acquire gpu : i32
  %y = nv.atomic exchange %g, %n if %p of i32 acquire gpu : i32 -> i32
  nv.store global %g, %y : i64, i32
  nv.fence sys
  %m:4 = nv.ldmatrix %s + 64 {transposed} : i32, i32, i32, i32
  nv.stmatrix %s, %m#0, %m#1
  nv.stmatrix %s, %m#0, %m#1, %m#2, %m#3 {transposed}
  llvm.return
}

llvm.func @arithmetic(%g: i64, %f: f32, %d: f64, %w: i32) attributes {nvvm.kernel} {
  %a = nv.float_to_int rzi %f : f32 to si8 in i16
  %b = nv.float_to_int rmi %d : f64 to ui64 in i64
  %c = nv.pack_floats %f, %f to bf16
  %e = nv.pack_floats %f, %f to f16
  %e8 = nv.pack_float8 %f, %f to f8E4M3FN
  %e16 = nv.unpack_float8 %e8 of f8E5M2
  %h = nv.pack_saturated %w, %c, %e, %w to ui8
  %i = nv.round_tf32 %w
  %j = nv.approximate ex2 %f
  %k = nv.approximate rsqrt %j
  %l = nv.approximate tanh %k
  %m = nv.divide_full %l, %f
  %n = nv.shift_right %w, %h
  %o = nv.hide_from_assembler %n because half_of_known_zero
  %q = llvm.bitcast %m : f32 to i32
  nv.store global %g, %h, %i, %o, %q : i64, i32, i32, i32, i32
  nv.store global %g, %a : i64, i16
  nv.store global %g, %b : i64, i64
  llvm.return
}

llvm.func @products(%g: i64, %w: i32, %f: f32, %d: f64) attributes {nvvm.kernel} {
  %a:4 = nv.mma bf16 %w, %w, %w, %w : i32, i32, i32, i32 times bf16 %w, %w : i32, i32 plus %f, %f, %f, %f : f32, f32, f32, f32
  %b:4 = nv.mma f8E4M3FN %w, %w, %w, %w : i32, i32, i32, i32 times f8E5M2 %w, %w : i32, i32 plus %a#0, %a#1, %a#2, %a#3 : f32, f32, f32, f32
  %c:4 = nv.mma tf32 %w, %w, %w, %w : i32, i32, i32, i32 times tf32 %w, %w : i32, i32 plus %b#0, %b#1, %b#2, %b#3 : f32, f32, f32, f32
  %e:4 = nv.mma si8 %w, %w, %w, %w : i32, i32, i32, i32 times ui8 %w, %w : i32, i32 plus %w, %w, %w, %w : i32, i32, i32, i32
  %h:2 = nv.mma f64 %d : f64 times f64 %d : f64 plus %d, %d : f64, f64
  %k:4 = nv.mma f64 %d, %d, %d, %d : f64, f64, f64, f64 times f64 %d, %d : f64, f64 plus %h#0, %h#1, %d, %d : f64, f64, f64, f64
  %i = llvm.bitcast %c#0 : f32 to i32
  %j = llvm.bitcast %k#0 : f64 to i64
  nv.store global %g, %i, %e#0 : i64, i32, i32
  nv.store global %g, %j : i64, i64
  llvm.return
}

llvm.func @warpgroup_products(%g: i64, %a: i64, %b: i64, %w: i32, %f: f32, %i: i32) attributes {nvvm.kernel} {
  %d:8 = nv.wgmma f16 %a : i64 times f16 %b plus %f, %f, %f, %f, %f, %f, %f, %f : f32, f32, f32, f32, f32, f32, f32, f32 {columns = 8 : i32, steps = 2 : i32, leftOffsets = array<i32: 0, 2, 512, 514>, leftWords = array<i32>, rightOffsets = array<i32: 0, 64, 0, 64>, leftAlongM, rightAlongN, waits}
  %e:4 = nv.wgmma bf16 %w, %w, %w, %w : i32, i32, i32, i32 times bf16 %b plus %d#0, %d#1, %d#2, %d#3 : f32, f32, f32, f32 {columns = 8 : i32, steps = 1 : i32, leftOffsets = array<i32>, leftWords = array<i32: 0, 1, 2, 3>, rightOffsets = array<i32: 0>}
  %h:4 = nv.wgmma_wait 0, %e#0, %e#1, %e#2, %e#3 : f32, f32, f32, f32
  %l:4 = nv.wgmma f16 %a : i64 times f16 %b plus %h#0, %h#1, %h#2, %h#3 : f32, f32, f32, f32 {columns = 8 : i32, steps = 4 : i32, leftOffsets = array<i32: 0, 2, 4, 6>, leftWords = array<i32>, rightOffsets = array<i32: 0, 128, 256, 384>, looped}
  nv.wgmma_wait 0
  %t:4 = nv.wgmma tf32 %a : i64 times tf32 %b plus %l#0, %l#1, %l#2, %l#3 : f32, f32, f32, f32 {columns = 8 : i32, steps = 1 : i32, leftOffsets = array<i32: 0>, leftWords = array<i32>, rightOffsets = array<i32: 0>, waits}
  %r:4 = nv.wgmma tf32 %w, %w, %w, %w : i32, i32, i32, i32 times tf32 %b plus %t#0, %t#1, %t#2, %t#3 : f32, f32, f32, f32 {columns = 8 : i32, steps = 1 : i32, leftOffsets = array<i32>, leftWords = array<i32: 0, 1, 2, 3>, rightOffsets = array<i32: 0>, waits}
  %q:4 = nv.wgmma f8E4M3FN %a : i64 times f8E5M2 %b plus %r#0, %r#1, %r#2, %r#3 : f32, f32, f32, f32 {columns = 8 : i32, steps = 1 : i32, leftOffsets = array<i32: 0>, leftWords = array<i32>, rightOffsets = array<i32: 0>, waits}
  %s:4 = nv.wgmma si8 %a : i64 times ui8 %b plus %i, %i, %i, %i : i32, i32, i32, i32 {columns = 8 : i32, steps = 1 : i32, leftOffsets = array<i32: 0>, leftWords = array<i32>, rightOffsets = array<i32: 0>, waits}
  %u:4 = nv.wgmma ui8 %w, %w, %w, %w : i32, i32, i32, i32 times si8 %b plus %s#0, %s#1, %s#2, %s#3 : i32, i32, i32, i32 {columns = 8 : i32, steps = 1 : i32, leftOffsets = array<i32>, leftWords = array<i32: 0, 1, 2, 3>, rightOffsets = array<i32: 0>, waits}
  %v = llvm.bitcast %q#0 : f32 to i32
  nv.store global %g, %v, %u#0 : i64, i32, i32
  llvm.return
}

// A map is a parameter: its address reaches the copies without a copy of its
// own. What `nvvm` has for such kernels stands beside.
llvm.func @copies_of_tensors(%map: !llvm.ptr {llvm.byval = !llvm.array<128 x i8>, llvm.align = 64 : i64, nvvm.grid_constant}, %s: i32, %x: i32, %mask: i16, %policy: i64) attributes {nvvm.kernel, nvvm.maxntid = array<i32: 384>, nvvm.minctasm = 1 : i32} {
  %m = llvm.ptrtoint %map : !llvm.ptr to i64
  %one = llvm.mlir.constant(1 : i32) : i32
  %threads = llvm.mlir.constant(256 : i32) : i32
  %p = nvvm.elect.sync -> i1
  nv.prefetch_tensormap %m if %p
  nv.mbarrier_init %s, 1 if %p
  nv.mbarrier_init %s, 2
  nvvm.fence.mbarrier.init
  nvvm.fence.proxy {kind = #nvvm.proxy_kind<async.shared>, space = #nvvm.shared_space<cta>}
  nvvm.barrier id = %one number_of_threads = %threads
  nvvm.setmaxregister decrease 24
  nvvm.setmaxregister increase 240
  nv.mbarrier_expect_tx %s, %x if %p
  nv.mbarrier_expect_tx %s, %x
  nv.tma_load %s, %m[%x] signals %s if %p
  nv.tma_load %s, %m[%x, %x] signals %s cache %policy
  nv.tma_load %s, %m[%x, %x, %x] signals %s multicast %mask if %p
  nv.tma_load %s, %m[%x, %x, %x, %x] signals %s multicast %mask cache %policy
  nv.tma_load %s, %m[%x, %x, %x, %x, %x] signals %s
  nv.mbarrier_wait %s, %x
  nv.mbarrier_wait %s, %one
  nv.named_arrive %x, 256
  nv.mbarrier_arrive %s if %p
  nv.mbarrier_arrive %s of %x if %p
  nv.tma_store %m[%x], %s if %p
  nv.tma_store %m[%x, %x], %s cache %policy
  nv.tma_store %m[%x, %x, %x, %x, %x], %s
  nvvm.cp.async.bulk.commit.group
  nvvm.cp.async.bulk.wait_group 1 {read}
  nvvm.cp.async.bulk.wait_group 0
  nv.mbarrier_inval %s
  llvm.return
}
