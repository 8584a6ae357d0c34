// The smaller of two f16s in a combine region of two values, on a level without an instruction that widens them: LLVM compared f16s by a
// function that nothing links.
// RUN: nereid-fuzz --replay %s --executor=x86-64
// REQUIRES: nereid-fuzz
module {
  func.func @k(%arg0: !tile.ptr<i8> {fuzz.count = 8 : i64, fuzz.output}) attributes {fuzz.grid = array<i32: 1, 1, 1>, fuzz.seed = 815 : i64, tile.kernel} {
    %cst = arith.constant dense<0> : tensor<768x1xi8>
    %cst_0 = arith.constant dense<0.000000e+00> : tensor<768x1xf16>
    %0:2 = "tile.reduce"(%cst, %cst_0) <{axis = 0 : i32}> ({
    ^bb0(%arg1: i8, %arg2: f16, %arg3: i8, %arg4: f16):
      %2 = arith.maxsi %arg1, %arg3 : i8
      %3 = arith.minnumf %arg2, %arg4 : f16
      tile.yield %2, %3 : i8, f16
    }) : (tensor<768x1xi8>, tensor<768x1xf16>) -> (tensor<1xi8>, tensor<1xf16>)
    %1 = tile.splat %arg0 : !tile.ptr<i8> -> tensor<1x!tile.ptr<i8>>
    tile.store %1, %0#0 : tensor<1x!tile.ptr<i8>>
    return
  }
}
