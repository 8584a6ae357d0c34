// The reduction family reads back what it prints.
// RUN: nereid-opt %s | nereid-opt | FileCheck %s
// RUN: nereid-opt %s --mlir-print-op-generic | nereid-opt | FileCheck %s

// CHECK-LABEL: func.func @reductions
func.func @reductions(%x: tensor<4x6xf32>, %i: tensor<4x6xi32>) {
  // CHECK: "tile.reduce"(%{{.*}}, %{{.*}}) <{axis = 1 : i32}> ({
  // CHECK-NEXT: ^bb0(%[[A:.*]]: f32, %[[AI:.*]]: i32, %[[B:.*]]: f32, %[[BI:.*]]: i32):
  // CHECK: tile.yield %{{.*}}, %{{.*}} : f32, i32
  // CHECK: (tensor<4x6xf32>, tensor<4x6xi32>) -> (tensor<4xf32>, tensor<4xi32>)
  %m:2 = "tile.reduce"(%x, %i) <{axis = 1 : i32}> ({
  ^bb0(%a: f32, %ai: i32, %b: f32, %bi: i32):
    %g = arith.cmpf ogt, %b, %a : f32
    %v = arith.select %g, %b, %a : f32
    %w = arith.select %g, %bi, %ai : i32
    tile.yield %v, %w : f32, i32
  }) : (tensor<4x6xf32>, tensor<4x6xi32>) -> (tensor<4xf32>, tensor<4xi32>)
  // CHECK: "tile.reduce"(%{{.*}}) <{axis = 0 : i32}>
  // CHECK: (tensor<4xf32>) -> f32
  %s = "tile.reduce"(%m#0) <{axis = 0 : i32}> ({
  ^bb0(%a: f32, %b: f32):
    %c = arith.addf %a, %b : f32
    tile.yield %c : f32
  }) : (tensor<4xf32>) -> f32
  // CHECK: "tile.scan"(%{{.*}}) <{axis = 0 : i32, reverse}>
  %t = "tile.scan"(%i) <{axis = 0 : i32, reverse}> ({
  ^bb0(%a: i32, %b: i32):
    %c = arith.muli %a, %b : i32
    tile.yield %c : i32
  }) : (tensor<4x6xi32>) -> tensor<4x6xi32>
  return
}

// CHECK-LABEL: func.func @products
func.func @products(%a: tensor<3x5xf16>, %b: tensor<5x7xf16>, %c: tensor<3x7xf32>,
                    %d: tensor<2x3x5xi8>, %e: tensor<2x5x7xi8>, %f: tensor<2x3x7xi32>) {
  // CHECK: tile.dot %{{.*}}, %{{.*}}, %{{.*}} {precision = 2 : i32} : tensor<3x5xf16>, tensor<5x7xf16>, tensor<3x7xf32>
  %x = tile.dot %a, %b, %c {precision = 2 : i32} : tensor<3x5xf16>, tensor<5x7xf16>, tensor<3x7xf32>
  // CHECK: tile.dot %{{.*}}, %{{.*}}, %{{.*}} {isUnsigned} : tensor<2x3x5xi8>, tensor<2x5x7xi8>, tensor<2x3x7xi32>
  %y = tile.dot %d, %e, %f {isUnsigned} : tensor<2x3x5xi8>, tensor<2x5x7xi8>, tensor<2x3x7xi32>
  return
}

// CHECK-LABEL: func.func @counts
func.func @counts(%x: tensor<100xi64>, %m: tensor<100xi1>) {
  // CHECK: tile.histogram %{{.*}} : tensor<100xi64> -> tensor<16xi32>
  %h = tile.histogram %x : tensor<100xi64> -> tensor<16xi32>
  // CHECK: tile.histogram %{{.*}}, %{{.*}} : tensor<100xi64>, tensor<100xi1> -> tensor<3xi32>
  %k = tile.histogram %x, %m : tensor<100xi64>, tensor<100xi1> -> tensor<3xi32>
  return
}
