// The user's own functions read back what they print.
// RUN: nereid-opt %s | nereid-opt | FileCheck %s
// RUN: nereid-opt %s --mlir-print-op-generic | nereid-opt | FileCheck %s

// CHECK-LABEL: func.func @functions
func.func @functions(%x: tensor<4x6xf32>, %i: tensor<4x6xi8>, %s: i32) -> i32 {
  // CHECK: "tile.map"(%{{.*}}, %{{.*}}) ({
  // CHECK-NEXT: ^bb0(%[[A:.*]]: f32, %[[B:.*]]: i8):
  // CHECK: tile.yield %[[B]] : i8
  // CHECK: (tensor<4x6xf32>, tensor<4x6xi8>) -> tensor<4x6xi8>
  %m = "tile.map"(%x, %i) ({
  ^bb0(%a: f32, %b: i8):
    tile.yield %b : i8
  }) : (tensor<4x6xf32>, tensor<4x6xi8>) -> tensor<4x6xi8>
  // CHECK: tile.inline_asm "prmt.b32 $0, $1, 0, 0x3210;", "=r,r" pack 4 pure(%{{.*}}) : (tensor<4x6xi8>) -> tensor<4x6xi8>
  %p = tile.inline_asm "prmt.b32 $0, $1, 0, 0x3210;", "=r,r" pack 4 pure (%m) : (tensor<4x6xi8>) -> tensor<4x6xi8>
  // CHECK: tile.inline_asm "mov.u32 $0, %smid;", "=r" pack 1() : () -> i32
  %q = tile.inline_asm "mov.u32 $0, %smid;", "=r" pack 1 () : () -> i32
  return %q : i32
}

// CHECK-LABEL: func.func @machine
func.func @machine() -> (i64, i32) {
  // CHECK: tile.global_timer
  // CHECK: tile.processor_id
  // CHECK: tile.grid_dependency wait
  // CHECK: tile.grid_dependency launch
  %t = tile.global_timer
  %p = tile.processor_id
  tile.grid_dependency wait
  tile.grid_dependency launch
  return %t, %p : i64, i32
}
