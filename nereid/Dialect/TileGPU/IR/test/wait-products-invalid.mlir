// RUN: nereid-opt %s -split-input-file -verify-diagnostics

func.func @done(%a: tensor<64x16xf16>, %b: tensor<16x64xf16>, %c: tensor<64x64xf32>) {
  %d = tile.dot %a, %b, %c {tilegpu.warpgroup_mma} : tensor<64x16xf16>, tensor<16x64xf16>, tensor<64x64xf32>
  // expected-error @+1 {{'tilegpu.wait_products' op expects a dot in flight in the same block, or the sum of a loop that yields one, that nothing else waits for}}
  %e = tilegpu.wait_products %d : tensor<64x64xf32>
  return
}

// -----

func.func @twice(%a: tensor<64x16xf16>, %b: tensor<16x64xf16>, %c: tensor<64x64xf32>) {
  %d = tile.dot %a, %b, %c {tilegpu.in_flight, tilegpu.warpgroup_mma} : tensor<64x16xf16>, tensor<16x64xf16>, tensor<64x64xf32>
  // expected-error @+1 {{that nothing else waits for}}
  %e = tilegpu.wait_products %d : tensor<64x64xf32>
  %f = arith.addf %d, %d : tensor<64x64xf32>
  return
}
