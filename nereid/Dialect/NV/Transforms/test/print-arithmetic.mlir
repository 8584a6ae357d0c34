// RUN: nereid-opt %s --nv-print-assembly | FileCheck %s

// CHECK-LABEL: llvm.func @arithmetic
llvm.func @arithmetic(%f: f32, %d: f64, %w: i32) {
  // CHECK: llvm.inline_asm asm_dialect = att "cvt.rzi.s8.f32 $0, $1;", "=h,f"
  %a = nv.float_to_int rzi %f : f32 to si8 in i16
  // CHECK: "cvt.rmi.u64.f64 $0, $1;", "=l,d"
  %b = nv.float_to_int rmi %d : f64 to ui64 in i64
  // CHECK: "cvt.rn.bf16x2.f32 $0, $2, $1;", "=r,f,f"
  %c = nv.pack_floats %f, %f to bf16
  // CHECK: "{\0A\09.reg .b32 upper;\0A\09cvt.pack.sat.u8.s32.b32 upper, $4, $3, 0;\0A\09cvt.pack.sat.u8.s32.b32 $0, $2, $1, upper;\0A\09}", "=r,r,r,r,r"
  %e = nv.pack_saturated %w, %w, %w, %w to ui8
  // CHECK: "cvt.rna.tf32.f32 $0, $1;", "=r,r"
  %g = nv.round_tf32 %w
  // CHECK: "ex2.approx.ftz.f32 $0, $1;", "=f,f"
  %h = nv.approximate ex2 %f
  // CHECK: "rsqrt.approx.f32 $0, $1;", "=f,f"
  %i = nv.approximate rsqrt %f
  // CHECK: "tanh.approx.f32 $0, $1;", "=f,f"
  %j = nv.approximate tanh %f
  // CHECK: "div.full.f32 $0, $1, $2;", "=f,f,f"
  %k = nv.divide_full %f, %f
  // CHECK: "shr.s32 $0, $1, $2;", "=r,r,r"
  %l = nv.shift_right %w, %w
  // CHECK: llvm.inline_asm asm_dialect = att "mov.b32 $0, $1;", "=r,r"
  %m = nv.user_assembly "mov.b32 $0, $1;", "=r,r" pure (%w) : (i32) -> i32
  // CHECK: llvm.inline_asm has_side_effects asm_dialect = att "bar.sync 0;", ""
  nv.user_assembly "bar.sync 0;", "" () : () -> ()
  llvm.return
}

// One zero for all words of a function, made before the first.
// CHECK-LABEL: llvm.func @hidden
// CHECK: %[[BYTES:.*]] = llvm.inline_asm {{.*}}%dynamic_smem_size
// CHECK: %[[ZERO:.*]] = llvm.lshr %[[BYTES]]
// CHECK: llvm.br
// CHECK: llvm.xor %{{.*}}, %[[ZERO]]
// CHECK: llvm.xor %{{.*}}, %[[ZERO]]
llvm.func @hidden(%x: i32, %y: i32) -> i32 {
  llvm.br ^body
^body:
  %a = nv.hide_from_assembler %x because half_of_known_zero
  %b = nv.hide_from_assembler %y because equal_left_operands
  %c = llvm.or %a, %b : i32
  llvm.return %c : i32
}

// CHECK-LABEL: llvm.func @bytes
llvm.func @bytes(%x: f32, %y: f32) -> i32 {
  // The instruction names the upper half first.
  // CHECK: {nv.ptx_version = 81 : i32} "cvt.rn.satfinite.e4m3x2.f32 $0, $2, $1;", "=h,f,f" %arg0, %arg1
  %a = nv.pack_float8 %x, %y to f8E4M3FN
  // CHECK: "cvt.rn.f16x2.e5m2x2 $0, $1;", "=r,h"
  %b = nv.unpack_float8 %a of f8E5M2
  llvm.return %b : i32
}
