// Program ids, hints and debugging read back what they print.
// RUN: nereid-opt %s | nereid-opt | FileCheck %s
// RUN: nereid-opt %s --mlir-print-op-generic | nereid-opt | FileCheck %s

// CHECK-LABEL: func.func @program
func.func @program(%x: tensor<8xi32>) {
  // CHECK: %[[P:.*]] = tile.program_id 2
  %p = tile.program_id 2
  // CHECK: %[[N:.*]] = tile.num_programs 0
  %n = tile.num_programs 0
  // CHECK: tile.hint %{{.*}} {contiguity = array<i64: 4>, divisibility = array<i64: 16>} : tensor<8xi32>
  %h = tile.hint %x {divisibility = array<i64: 16>, contiguity = array<i64: 4>} : tensor<8xi32>
  // CHECK: tile.hint %[[P]] {divisibility = array<i64: 8>} : i32
  %k = tile.hint %p {divisibility = array<i64: 8>} : i32
  %c = arith.cmpi slt, %p, %n : i32
  // CHECK: tile.assume %{{.*}}
  tile.assume %c
  // CHECK: tile.barrier
  tile.barrier
  return
}

// CHECK-LABEL: func.func @debugging
func.func @debugging(%x: tensor<8xf32>, %m: tensor<8xi1>, %p: tensor<8x!tile.ptr<f32>>, %c: i1) {
  // CHECK: tile.print "here" {dtype = ""}
  tile.print "here" {dtype = ""}
  // CHECK: tile.print "x: "(%{{.*}}) {dtype = "fp32", hex} : tensor<8xf32>
  tile.print "x: " (%x) {dtype = "fp32", hex} : tensor<8xf32>
  // CHECK: tile.assert %{{.*}}, "positive" : i1
  tile.assert %c, "positive" : i1
  // CHECK: tile.check_bounds "load" %{{[a-z0-9]+}} : tensor<8x!tile.ptr<f32>>
  tile.check_bounds "load" %p : tensor<8x!tile.ptr<f32>>
  // CHECK: tile.check_bounds "store" %{{.*}}, %{{.*}} {parameter = 2 : i32} : tensor<8x!tile.ptr<f32>>
  tile.check_bounds "store" %p, %m {parameter = 2 : i32} : tensor<8x!tile.ptr<f32>>
  // CHECK: tile.check_nan "store" %{{.*}}, %{{.*}} : tensor<8xf32>
  tile.check_nan "store" %x, %m : tensor<8xf32>
  return
}
