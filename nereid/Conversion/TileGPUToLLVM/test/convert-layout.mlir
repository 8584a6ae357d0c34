// RUN: nereid-opt --tilegpu-allocate-shared --tilegpu-insert-barriers --tilegpu-to-llvm %s | FileCheck %s

// The result of a product goes into shared memory in words, as a thread has it,
// and comes out as memory wants it, 16 bytes at once. What no thread reaches of
// an offset is a constant of the instruction.
#product = #tilegpu.layout<registers = [1, 8, 16, 256], lanes = [2, 4, 32, 64, 128], warps = [512]>
#rows = #tilegpu.layout<registers = [1, 2, 4, 512], lanes = [8, 16, 32, 64, 128], warps = [256]>

// CHECK-LABEL: llvm.func @out_of_a_product
// CHECK-COUNT-4: nv.store shared %{{[0-9]+}},
// CHECK-COUNT-4: nv.store shared %{{[0-9]+}} + 128,
// CHECK-NOT: nv.store shared
// CHECK: barrier
// CHECK: nv.load shared %{{[0-9]+}} : i32 -> i32, i32, i32, i32
// CHECK: nv.load shared %{{[0-9]+}} + 256 : i32 -> i32, i32, i32, i32
// CHECK-NOT: nv.load shared
func.func @out_of_a_product(%x: !tile.ptr<f16>, %y: !tile.ptr<f16>) attributes {tile.kernel, tilegpu.target = "sm_90", tilegpu.warps = 2 : i32} {
  %i = tile.range 0, 1024 : tensor<1024xi32, #product>
  %p = tile.splat %x : !tile.ptr<f16> -> tensor<1024x!tile.ptr<f16>, #product>
  %at = tile.addptr %p, %i : tensor<1024x!tile.ptr<f16>, #product>, tensor<1024xi32, #product>
  %v = tile.load %at : tensor<1024x!tile.ptr<f16>, #product>
  %r = tilegpu.convert_layout %v : tensor<1024xf16, #product> -> tensor<1024xf16, #rows>
  %j = tile.range 0, 1024 : tensor<1024xi32, #rows>
  %q = tile.splat %y : !tile.ptr<f16> -> tensor<1024x!tile.ptr<f16>, #rows>
  %to = tile.addptr %q, %j : tensor<1024x!tile.ptr<f16>, #rows>, tensor<1024xi32, #rows>
  tile.store %to, %r : tensor<1024x!tile.ptr<f16>, #rows>
  return
}
