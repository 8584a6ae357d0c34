// The anchor of a product is the matrix instruction's layout; what the loop
// carries is never converted inside it. Without the instruction operands stay
// row-major.
// RUN: nereid-opt %s --tile-to-tilegpu="target=sm_90 warps=4" | FileCheck %s
// RUN: nereid-opt %s --tile-to-tilegpu="target=sm_75 warps=4" | FileCheck %s --check-prefix=FMA
// RUN: nereid-opt %s --tile-to-tilegpu="target=sm_90 warps=4 matrix-instructions=false" | FileCheck %s --check-prefix=FMA

// CHECK-LABEL: func.func @product
// CHECK: scf.for {{.*}}iter_args(%[[ACC:.*]] = {{.*}}) -> (tensor<64x64xf32, #tilegpu.layout<registers = [1, 512, 16, 32, 2048], lanes = [2, 4, 64, 128, 256], warps = [8, 1024]>>)
// CHECK: tilegpu.convert_layout {{.*}} tensor<64x32xf16
// CHECK: tilegpu.convert_layout {{.*}} tensor<32x64xf16
// CHECK: %[[SUM:.*]] = tile.dot {{.*}}, %[[ACC]] {tilegpu.mma}
// CHECK-NEXT: scf.yield %[[SUM]]

// FMA-NOT: tilegpu.mma
func.func @product(%x: !tile.ptr<f16>, %y: !tile.ptr<f16>,
                   %z: !tile.ptr<f32>, %n: i32) attributes {tile.kernel} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %ap = tile.splat %x : !tile.ptr<f16> -> tensor<64x32x!tile.ptr<f16>>
  %bp = tile.splat %y : !tile.ptr<f16> -> tensor<32x64x!tile.ptr<f16>>
  %sum = scf.for %k = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<64x64xf32>) : i32 {
    %a = tile.load %ap : tensor<64x32x!tile.ptr<f16>>
    %b = tile.load %bp : tensor<32x64x!tile.ptr<f16>>
    %d = tile.dot %a, %b, %acc : tensor<64x32xf16>, tensor<32x64xf16>, tensor<64x64xf32>
    scf.yield %d : tensor<64x64xf32>
  }
  %cp = tile.splat %z : !tile.ptr<f32> -> tensor<64x64x!tile.ptr<f32>>
  tile.store %cp, %sum : tensor<64x64x!tile.ptr<f32>>
  return
}
