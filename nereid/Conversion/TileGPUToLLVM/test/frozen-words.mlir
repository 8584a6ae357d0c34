// What is packed into a word is frozen; what was cut out of one is not.
// RUN: nereid-opt %s --tile-to-tilegpu="target=sm_90 warps=1" --tilegpu-allocate-shared --tilegpu-insert-barriers --tilegpu-to-llvm | FileCheck %s

// CHECK-LABEL: llvm.func @words
// CHECK: nv.load global
// CHECK: %[[SUM:.*]] = arith.addi %{{.*}} : i8
// CHECK: %[[FROZEN:.*]] = llvm.freeze %[[SUM]] : i8
// CHECK: arith.extui %[[FROZEN]] : i8 to i32
// CHECK: nv.store global
// CHECK-NOT: llvm.freeze
// CHECK: nv.store global
func.func @words(%x: !tile.ptr<i8> {tile.divisibility = 16 : i32},
                 %y: !tile.ptr<i8> {tile.divisibility = 16 : i32},
                 %z: !tile.ptr<i8> {tile.divisibility = 16 : i32}) attributes {tile.kernel} {
  %i = tile.range 0, 128 : tensor<128xi32>
  %xs = tile.splat %x : !tile.ptr<i8> -> tensor<128x!tile.ptr<i8>>
  %xp = tile.addptr %xs, %i : tensor<128x!tile.ptr<i8>>, tensor<128xi32>
  %a = tile.load %xp : tensor<128x!tile.ptr<i8>>
  %b = arith.addi %a, %a : tensor<128xi8>
  %ys = tile.splat %y : !tile.ptr<i8> -> tensor<128x!tile.ptr<i8>>
  %yp = tile.addptr %ys, %i : tensor<128x!tile.ptr<i8>>, tensor<128xi32>
  tile.store %yp, %b : tensor<128x!tile.ptr<i8>>
  %zs = tile.splat %z : !tile.ptr<i8> -> tensor<128x!tile.ptr<i8>>
  %zp = tile.addptr %zs, %i : tensor<128x!tile.ptr<i8>>, tensor<128xi32>
  tile.store %zp, %a : tensor<128x!tile.ptr<i8>>
  return
}
