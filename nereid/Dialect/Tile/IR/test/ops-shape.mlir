// The shape family reads back what it prints, in both forms.
// RUN: nereid-opt %s | nereid-opt | FileCheck %s
// RUN: nereid-opt %s --mlir-print-op-generic | nereid-opt | FileCheck %s

// CHECK-LABEL: func.func @creation
func.func @creation(%x: f32, %p: !tile.ptr<f16>) {
  // CHECK: tile.range -3, 766 : tensor<769xi32>
  %r = tile.range -3, 766 : tensor<769xi32>
  // CHECK: tile.splat %{{.*}} : f32 -> tensor<3x5xf32>
  %s = tile.splat %x : f32 -> tensor<3x5xf32>
  // CHECK: tile.splat %{{.*}} : !tile.ptr<f16> -> tensor<7x!tile.ptr<f16>>
  %q = tile.splat %p : !tile.ptr<f16> -> tensor<7x!tile.ptr<f16>>
  return
}

// CHECK-LABEL: func.func @form
func.func @form(%x: tensor<6x4xi16>) {
  // CHECK: tile.expand_dims %{{.*}} {axis = 1 : i32} : tensor<6x4xi16> -> tensor<6x1x4xi16>
  %e = tile.expand_dims %x {axis = 1 : i32} : tensor<6x4xi16> -> tensor<6x1x4xi16>
  // CHECK: tile.broadcast %{{.*}} : tensor<6x1x4xi16> -> tensor<6x3x4xi16>
  %b = tile.broadcast %e : tensor<6x1x4xi16> -> tensor<6x3x4xi16>
  // CHECK: tile.reshape %{{.*}} : tensor<6x4xi16> -> tensor<24xi16>
  %f = tile.reshape %x : tensor<6x4xi16> -> tensor<24xi16>
  // CHECK: tile.reshape %{{.*}} {reorder} : tensor<24xi16> -> tensor<3x8xi16>
  %v = tile.reshape %f {reorder} : tensor<24xi16> -> tensor<3x8xi16>
  // CHECK: tile.transpose %{{.*}} {order = array<i32: 2, 0, 1>} : tensor<6x3x4xi16> -> tensor<4x6x3xi16>
  %t = tile.transpose %b {order = array<i32: 2, 0, 1>} : tensor<6x3x4xi16> -> tensor<4x6x3xi16>
  return
}

// CHECK-LABEL: func.func @parts
func.func @parts(%x: tensor<5xbf16>, %y: tensor<3xbf16>, %s: f64, %i: tensor<9xi64>) {
  // CHECK: tile.join %{{.*}}, %{{.*}} : tensor<5xbf16> -> tensor<5x2xbf16>
  %j = tile.join %x, %x : tensor<5xbf16> -> tensor<5x2xbf16>
  // CHECK: tile.split %{{.*}} : tensor<5x2xbf16> -> tensor<5xbf16>
  %a, %b = tile.split %j : tensor<5x2xbf16> -> tensor<5xbf16>
  // CHECK: tile.join %{{.*}}, %{{.*}} : f64 -> tensor<2xf64>
  %two = tile.join %s, %s : f64 -> tensor<2xf64>
  // CHECK: tile.split %{{.*}} : tensor<2xf64> -> f64
  %c, %d = tile.split %two : tensor<2xf64> -> f64
  // CHECK: tile.cat %{{.*}}, %{{.*}} {axis = 0 : i32} : tensor<5xbf16>, tensor<3xbf16> -> tensor<8xbf16>
  %k = tile.cat %x, %y {axis = 0 : i32} : tensor<5xbf16>, tensor<3xbf16> -> tensor<8xbf16>
  // CHECK: tile.slice %{{.*}} {offsets = array<i32: 1>, strides = array<i32: 2>} : tensor<8xbf16> -> tensor<3xbf16>
  %l = tile.slice %k {offsets = array<i32: 1>, strides = array<i32: 2>} : tensor<8xbf16> -> tensor<3xbf16>
  // CHECK: tile.gather %{{.*}}[%{{.*}}] {axis = 0 : i32} : tensor<8xbf16>, tensor<9xi64> -> tensor<9xbf16>
  %g = tile.gather %k[%i] {axis = 0 : i32} : tensor<8xbf16>, tensor<9xi64> -> tensor<9xbf16>
  return
}
