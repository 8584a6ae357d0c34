// RUN: nereid-opt --tile-expand-math %s | FileCheck %s
// RUN: nereid-opt --tile-expand-math=scalef=true %s | FileCheck %s --check-prefix=SCALEF
// RUN: nereid-opt --tile-expand-math=fma=false %s | FileCheck %s --check-prefix=NOFMA

// Constants are made once a function. The NaN goes through both clamps, the
// result is scaled in two steps.
// CHECK-LABEL: @exp
// CHECK-COUNT-15: arith.constant
// CHECK-NOT:  arith.constant
// CHECK:      arith.cmpf olt
// CHECK-NEXT: arith.select
// CHECK-NEXT: arith.cmpf ogt
// CHECK-NEXT: arith.select
// CHECK-COUNT-10: math.fma
// CHECK:      arith.shli
// CHECK-NEXT: arith.bitcast
// CHECK-NEXT: arith.mulf
// CHECK:      arith.mulf
// CHECK-NEXT: return
// SCALEF-LABEL: @exp
// SCALEF-NOT: arith.shli
// SCALEF: llvm.call_intrinsic "llvm.x86.avx512.mask.scalef.ps.512"
// NOFMA-LABEL: @exp
// NOFMA-NOT: math.fma
func.func @exp(%x: vector<16xf32>) -> vector<16xf32> {
  %r = math.exp %x : vector<16xf32>
  return %r : vector<16xf32>
}

// The scalar form is the same, and has no intrinsic.
// CHECK-LABEL: @scalar
// CHECK-NOT: math.log
// CHECK: math.fma {{.*}} : f64
// SCALEF-LABEL: @scalar
// SCALEF-NOT: llvm.
func.func @scalar(%x: f64) -> f64 {
  %r = math.log %x : f64
  return %r : f64
}

// Narrow formats are computed in f32.
// CHECK-LABEL: @narrow
// SCALEF-LABEL: @narrow
// CHECK: arith.extf {{.*}} : vector<8xf16> to vector<8xf32>
// CHECK: arith.truncf {{.*}} : vector<8xf32> to vector<8xf16>
func.func @narrow(%x: vector<8xf16>) -> vector<8xf16> {
  %r = math.tanh %x : vector<8xf16>
  return %r : vector<8xf16>
}

// Large arguments are reduced in a branch.
// CHECK-LABEL: @sine
// CHECK: vector.reduction <or>
// CHECK: scf.if
// CHECK: arith.muli
// CHECK: } else {
func.func @sine(%x: vector<8xf32>) -> vector<8xf32> {
  %r = math.sin %x : vector<8xf32>
  return %r : vector<8xf32>
}

// Two expansions in one function share constants; what targets have stays.
// CHECK-LABEL: @several
// CHECK-COUNT-17: arith.constant
// CHECK-NOT: arith.constant
// CHECK: scf.for
// CHECK: math.sqrt
// CHECK: math.floor
func.func @several(%x: vector<4xf32>, %n: index) -> vector<4xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%y = %x) -> vector<4xf32> {
    %a = math.exp %y : vector<4xf32>
    %b = math.exp %a : vector<4xf32>
    scf.yield %b : vector<4xf32>
  }
  %s = math.sqrt %r : vector<4xf32>
  %f = math.floor %s : vector<4xf32>
  return %f : vector<4xf32>
}

// Blocks are not for this pass.
// CHECK-LABEL: @block
// CHECK: math.exp
func.func @block(%x: tensor<64xf32>) -> tensor<64xf32> {
  %r = math.exp %x : tensor<64xf32>
  return %r : tensor<64xf32>
}

// Longer vectors take the instruction for 512 bits at a time.
// CHECK-LABEL: @long
// SCALEF-LABEL: @long
// SCALEF: vector.shuffle {{.*}} [16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31]
// SCALEF: llvm.call_intrinsic {{.*}}scalef.ps.512
// SCALEF-NEXT: vector.shuffle {{.*}} : vector<16xf32>, vector<16xf32>
// SCALEF-NEXT: return
func.func @long(%x: vector<32xf32>) -> vector<32xf32> {
  %r = math.exp2 %x : vector<32xf32>
  return %r : vector<32xf32>
}

// LLVM's conversions leave this one, as the only test of a float's class.
// CHECK-LABEL: @infinite
// CHECK: math.absf
// CHECK: arith.cmpf oeq
func.func @infinite(%x: vector<4xf32>) -> vector<4xi1> {
  %i = math.isinf %x : vector<4xf32>
  return %i : vector<4xi1>
}
