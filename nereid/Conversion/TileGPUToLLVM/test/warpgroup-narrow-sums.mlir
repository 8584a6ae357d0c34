// Sums of 16 bits are held twice while they are multiplied: an instruction takes
// half as many columns of them.
// RUN: nereid-opt %s --pass-pipeline='builtin.module(tile-to-tilegpu{target=sm_90a warps=4},func.func(tilegpu-allocate-shared,tilegpu-insert-barriers),tilegpu-to-llvm)' | FileCheck %s

// CHECK-LABEL: llvm.func @narrow
// CHECK: nv.wgmma f16 {{.*}}columns = 128
func.func @narrow(%x: !tile.ptr<f16> {tile.divisibility = 16 : i32},
                  %y: !tile.ptr<f16> {tile.divisibility = 16 : i32}) attributes {tile.kernel} {
  %i = tile.range 0, 1024 : tensor<1024xi32>
  %ai = tile.reshape %i : tensor<1024xi32> -> tensor<64x16xi32>
  %ap = tile.splat %x : !tile.ptr<f16> -> tensor<64x16x!tile.ptr<f16>>
  %aq = tile.addptr %ap, %ai : tensor<64x16x!tile.ptr<f16>>, tensor<64x16xi32>
  %a = tile.load %aq : tensor<64x16x!tile.ptr<f16>>
  %j = tile.range 0, 4096 : tensor<4096xi32>
  %bi = tile.reshape %j : tensor<4096xi32> -> tensor<16x256xi32>
  %bp = tile.splat %x : !tile.ptr<f16> -> tensor<16x256x!tile.ptr<f16>>
  %bq = tile.addptr %bp, %bi : tensor<16x256x!tile.ptr<f16>>, tensor<16x256xi32>
  %b = tile.load %bq : tensor<16x256x!tile.ptr<f16>>
  %k = tile.range 0, 16384 : tensor<16384xi32>
  %ci = tile.reshape %k : tensor<16384xi32> -> tensor<64x256xi32>
  %cp = tile.splat %y : !tile.ptr<f16> -> tensor<64x256x!tile.ptr<f16>>
  %cq = tile.addptr %cp, %ci : tensor<64x256x!tile.ptr<f16>>, tensor<64x256xi32>
  %c = tile.load %cq : tensor<64x256x!tile.ptr<f16>>
  %d = tile.dot %a, %b, %c : tensor<64x16xf16>, tensor<16x256xf16>, tensor<64x256xf16>
  tile.store %cq, %d : tensor<64x256x!tile.ptr<f16>>
  return
}
