// RUN: nereid-fuzz --replay %s --executor=cpu
// RUN: mkdir -p %t && nereid-fuzz --replay %s --executor=sm_90a:1 --save %t
// REQUIRES: nereid-fuzz
// Words of 8-bit floats that are zero where the compiler can tell: ptxas takes 200 for the upper half.
module {
  func.func @k(%arg0: !tile.ptr<i32> {fuzz.count = 2 : i64, fuzz.fill = "positive", tile.divisibility = 16 : i32}, %arg1: !tile.ptr<i64> {fuzz.count = 1 : i64, fuzz.fill = "special", tile.divisibility = 16 : i32}, %arg2: i32 {fuzz.value = 15 : i32}, %arg3: !tile.ptr<i64> {fuzz.count = 2560 : i64, fuzz.fill = "whole", tile.divisibility = 16 : i32}, %arg4: !tile.ptr<i64> {fuzz.count = 6144 : i64, fuzz.fill = "any", fuzz.output, tile.divisibility = 16 : i32}, %arg5: i32 {fuzz.value = 32 : i32, tile.divisibility = 16 : i32}, %arg6: !tile.ptr<i32> {fuzz.count = 4 : i64, fuzz.fill = "positive"}, %arg7: i32 {fuzz.value = 160 : i32, tile.divisibility = 16 : i32}, %arg8: !tile.ptr<i64> {fuzz.count = 3840 : i64, fuzz.output, tile.divisibility = 16 : i32}, %arg9: !tile.ptr<i64> {fuzz.count = 960 : i64, fuzz.output, tile.divisibility = 16 : i32}, %arg10: i32 {fuzz.value = 125 : i32}, %arg11: !tile.ptr<bf16> {fuzz.count = 14336 : i64, fuzz.fill = "whole", tile.divisibility = 16 : i32}, %arg12: !tile.ptr<bf16> {fuzz.count = 4096 : i64, fuzz.fill = "whole", tile.divisibility = 16 : i32}, %arg13: !tile.ptr<bf16> {fuzz.count = 4096 : i64, fuzz.output}, %arg14: i32 {fuzz.value = 7 : i32}, %arg15: !tile.ptr<f8E5M2> {fuzz.count = 28672 : i64, fuzz.fill = "whole", tile.divisibility = 16 : i32}, %arg16: !tile.ptr<f8E5M2> {fuzz.count = 13312 : i64, fuzz.fill = "positive", tile.divisibility = 16 : i32}, %arg17: !tile.ptr<f8E5M2> {fuzz.count = 4096 : i64, fuzz.fill = "whole", tile.divisibility = 16 : i32}, %arg18: i32 {fuzz.value = 416 : i32, tile.divisibility = 16 : i32}, %arg19: !tile.ptr<f32> {fuzz.count = 2048 : i64, fuzz.output, tile.divisibility = 16 : i32}, %arg20: i32 {fuzz.value = 32 : i32, tile.divisibility = 16 : i32}, %arg21: !tile.ptr<bf16> {fuzz.count = 5 : i64, fuzz.output, tile.divisibility = 16 : i32}, %arg22: !tile.ptr<f64> {fuzz.count = 1 : i64, fuzz.output}, %arg23: i32 {fuzz.value = 0 : i32}, %arg24: !tile.ptr<i32> {fuzz.count = 2 : i64, fuzz.fill = "normal", fuzz.output}, %arg25: i32 {fuzz.value = 2 : i32}, %arg26: !tile.ptr<bf16> {fuzz.count = 5 : i64, fuzz.fill = "normal", fuzz.output}) attributes {fuzz.grid = array<i32: 1, 1, 1>, fuzz.seed = 1002065 : i64, tile.kernel} {
    %0 = tile.program_id 0  %1 = tile.program_id 1
    %2 = tile.program_id 2  %3 = tile.num_programs 0
    %c1_i32 = arith.constant 1 : i32  %4 = arith.muli %2, %c1_i32 : i32
    %5 = arith.addi %4, %1 : i32  %6 = arith.muli %5, %3 : i32
    %7 = arith.addi %6, %0 : i32  %cst = arith.constant dense<[7.000000e+00, 1.000000e+00, -3.000000e+00, 1.000000e+00, -1.000000e+00]> : tensor<5xbf16>
    %c2_i32 = arith.constant 2 : i32  %8 = arith.muli %7, %c2_i32 : i32
    %9 = tile.ptr_cast %arg0 : !tile.ptr<i32> -> !tile.ptr<i8>  %10 = tile.ptr_cast %9 : !tile.ptr<i8> -> !tile.ptr<i32>
    %11 = tile.range 0, 2 : tensor<2xi32>  %12 = tile.expand_dims %11 {axis = 1 : i32} : tensor<2xi32> -> tensor<2x1xi32>
    %13 = tile.range 0, 1 : tensor<1xi32>  %14 = tile.expand_dims %13 {axis = 0 : i32} : tensor<1xi32> -> tensor<1x1xi32>
    %15 = tile.broadcast %14 : tensor<1x1xi32> -> tensor<2x1xi32>  %16 = arith.addi %12, %15 : tensor<2x1xi32>
    %17 = tile.addptr %10, %8 : !tile.ptr<i32>, i32  %18 = tile.splat %17 : !tile.ptr<i32> -> tensor<2x1x!tile.ptr<i32>>
    %19 = tile.addptr %18, %16 : tensor<2x1x!tile.ptr<i32>>, tensor<2x1xi32>  %20 = tile.range 0, 2 : tensor<2xi32>
    %c0_i32 = arith.constant 0 : i32  %21 = tile.splat %c0_i32 : i32 -> tensor<2xi32>
    %22 = arith.cmpi ult, %20, %21 : tensor<2xi32>  %23 = tile.reshape %22 : tensor<2xi1> -> tensor<2x1xi1>
    %24 = tile.range 0, 1 : tensor<1xi32>  %c1_i32_0 = arith.constant 1 : i32
    %25 = tile.splat %c1_i32_0 : i32 -> tensor<1xi32>  %26 = arith.cmpi ult, %24, %25 : tensor<1xi32>
    %27 = tile.expand_dims %26 {axis = 0 : i32} : tensor<1xi1> -> tensor<1x1xi1>  %28 = tile.broadcast %27 : tensor<1x1xi1> -> tensor<2x1xi1>
    %29 = arith.andi %23, %28 : tensor<2x1xi1>  %cst_1 = arith.constant dense<[[15], [144352876]]> : tensor<2x1xi32>
    %30 = tile.load %19, %29, %cst_1 : tensor<2x1x!tile.ptr<i32>>  %cst_2 = arith.constant dense<31> : tensor<2x1xi32>
    %31 = arith.andi %cst_1, %cst_2 : tensor<2x1xi32>  %32 = arith.shrsi %30, %31 : tensor<2x1xi32>
    %c1_i32_3 = arith.constant 1 : i32  %33 = arith.muli %7, %c1_i32_3 : i32
    %34 = tile.range 0, 1 : tensor<1xi32>  %c3_i32 = arith.constant 3 : i32
    %35 = tile.splat %c3_i32 : i32 -> tensor<1xi32>  %36 = arith.muli %34, %35 : tensor<1xi32>
    %37 = tile.splat %arg1 : !tile.ptr<i64> -> tensor<1x!tile.ptr<i64>>  %38 = tile.addptr %37, %36 : tensor<1x!tile.ptr<i64>>, tensor<1xi32>
    %39 = tile.splat %33 : i32 -> tensor<1xi32>  %40 = tile.addptr %38, %39 : tensor<1x!tile.ptr<i64>>, tensor<1xi32>
    %41 = tile.range 0, 1 : tensor<1xi32>  %c1_i32_4 = arith.constant 1 : i32
    %42 = tile.splat %c1_i32_4 : i32 -> tensor<1xi32>  %43 = arith.cmpi sge, %41, %42 : tensor<1xi32>
    %44 = tile.load %40, %43 : tensor<1x!tile.ptr<i64>>  %45 = arith.bitcast %44 : tensor<1xi64> to tensor<1xf64>
    %46 = tile.splat %7 : i32 -> tensor<16x15xi32>  %47 = arith.subi %46, %46 : tensor<16x15xi32>
    %c0_i32_5 = arith.constant 0 : i32  %c5_i32 = arith.constant 5 : i32
    %c3_i32_6 = arith.constant 3 : i32  %c6144_i32 = arith.constant 6144 : i32
    %48 = arith.muli %7, %c6144_i32 : i32  %49 = tile.range 0, 48 : tensor<48xi32>
    %50 = tile.expand_dims %49 {axis = 1 : i32} : tensor<48xi32> -> tensor<48x1xi32>  %51 = tile.broadcast %50 : tensor<48x1xi32> -> tensor<48x20xi32>
    %52 = tile.splat %arg5 : i32 -> tensor<48x20xi32>  %53 = arith.muli %51, %52 : tensor<48x20xi32>
    %54 = tile.range 0, 20 : tensor<20xi32>  %55 = tile.hint %54 {contiguity = array<i64: 20>, divisibility = array<i64: 16>} : tensor<20xi32>
    %56 = tile.expand_dims %55 {axis = 0 : i32} : tensor<20xi32> -> tensor<1x20xi32>  %57 = tile.broadcast %56 : tensor<1x20xi32> -> tensor<48x20xi32>
    %58 = arith.addi %53, %57 : tensor<48x20xi32>  %59 = tile.splat %arg4 : !tile.ptr<i64> -> tensor<48x20x!tile.ptr<i64>>
    %60 = tile.addptr %59, %58 : tensor<48x20x!tile.ptr<i64>>, tensor<48x20xi32>  %61 = tile.splat %48 : i32 -> tensor<48x20xi32>
    %62 = tile.addptr %60, %61 : tensor<48x20x!tile.ptr<i64>>, tensor<48x20xi32>  %cst_7 = arith.constant dense<0> : tensor<48x20xi64>
    %63:2 = scf.for %arg27 = %c5_i32 to %arg2 step %c3_i32_6 iter_args(%arg28 = %c0_i32_5, %arg29 = %cst_7) -> (i32, tensor<48x20xi64>)  : i32 {
      %205 = arith.subi %arg27, %c5_i32 : i32  %206 = arith.divsi %205, %c3_i32_6 : i32
      %207 = tile.addptr %arg6, %206 : !tile.ptr<i32>, i32  %208 = tile.load %207 : !tile.ptr<i32>
      %c10_i32 = arith.constant 10 : i32  %209 = arith.remui %208, %c10_i32 : i32
      %c16_i32 = arith.constant 16 : i32  %210 = arith.muli %209, %c16_i32 : i32
      %c16_i32_24 = arith.constant 16 : i32  %211 = arith.muli %210, %c16_i32_24 : i32
      %212 = tile.range 0, 48 : tensor<48xi32>  %213 = arith.extsi %212 : tensor<48xi32> to tensor<48xi64>
      %c16_i64 = arith.constant 16 : i64  %214 = tile.expand_dims %213 {axis = 1 : i32} : tensor<48xi64> -> tensor<48x1xi64>
      %215 = tile.broadcast %214 : tensor<48x1xi64> -> tensor<48x20xi64>  %216 = tile.splat %c16_i64 : i64 -> tensor<48x20xi64>
      %217 = arith.muli %215, %216 : tensor<48x20xi64>  %218 = tile.range 0, 20 : tensor<20xi32>
      %219 = arith.extsi %218 : tensor<20xi32> to tensor<20xi64>  %220 = tile.expand_dims %219 {axis = 0 : i32} : tensor<20xi64> -> tensor<1x20xi64>
      %221 = tile.broadcast %220 : tensor<1x20xi64> -> tensor<48x20xi64>  %222 = arith.addi %217, %221 : tensor<48x20xi64>
      %223 = tile.splat %arg3 : !tile.ptr<i64> -> tensor<48x20x!tile.ptr<i64>>  %224 = tile.addptr %223, %222 : tensor<48x20x!tile.ptr<i64>>, tensor<48x20xi64>
      %225 = tile.splat %211 : i32 -> tensor<48x20xi32>  %226 = tile.addptr %224, %225 : tensor<48x20x!tile.ptr<i64>>, tensor<48x20xi32>
      %227 = tile.range 0, 48 : tensor<48xi32>  %c160_i32 = arith.constant 160 : i32
      %228 = tile.splat %210 : i32 -> tensor<48xi32>  %229 = arith.addi %227, %228 : tensor<48xi32>
      %230 = tile.splat %arg7 : i32 -> tensor<48xi32>  %231 = arith.cmpi slt, %229, %230 : tensor<48xi32>
      %232 = tile.expand_dims %231 {axis = 1 : i32} : tensor<48xi1> -> tensor<48x1xi1>  %233 = tile.broadcast %232 : tensor<48x1xi1> -> tensor<48x20xi1>
      %234 = tile.range 0, 20 : tensor<20xi32>  %c16_i32_25 = arith.constant 16 : i32
      %235 = tile.splat %c16_i32_25 : i32 -> tensor<20xi32>  %236 = arith.cmpi slt, %234, %235 : tensor<20xi32>
      %237 = tile.expand_dims %236 {axis = 0 : i32} : tensor<20xi1> -> tensor<1x20xi1>  %238 = tile.broadcast %237 : tensor<1x20xi1> -> tensor<48x20xi1>
      %239 = arith.andi %233, %238 : tensor<48x20xi1>  %240 = tile.load %226, %239 : tensor<48x20x!tile.ptr<i64>>
      %241 = arith.addi %arg29, %240 : tensor<48x20xi64>  %c32_i32_26 = arith.constant 32 : i32
      %242 = arith.muli %arg28, %c32_i32_26 : i32  %243 = tile.splat %242 : i32 -> tensor<48x20xi32>
      %244 = tile.addptr %62, %243 : tensor<48x20x!tile.ptr<i64>>, tensor<48x20xi32>  %245 = tile.load %244 {evict = 1 : i32} : tensor<48x20x!tile.ptr<i64>>
      %cst_27 = arith.constant dense<1> : tensor<48x20xi64>  %246 = arith.addi %245, %cst_27 : tensor<48x20xi64>
      tile.store %244, %246 : tensor<48x20x!tile.ptr<i64>>
      %247 = arith.addi %241, %245 : tensor<48x20xi64>  %c4_i32 = arith.constant 4 : i32
      %248 = arith.muli %7, %c4_i32 : i32  %249 = arith.addi %248, %206 : i32
      %c960_i32_28 = arith.constant 960 : i32  %250 = arith.muli %249, %c960_i32_28 : i32
      %251 = tile.range 0, 48 : tensor<48xi32>  %252 = arith.extsi %251 : tensor<48xi32> to tensor<48xi64>
      %253 = tile.hint %252 {contiguity = array<i64: 48>} : tensor<48xi64>  %c20_i64_29 = arith.constant 20 : i64
      %254 = tile.expand_dims %253 {axis = 1 : i32} : tensor<48xi64> -> tensor<48x1xi64>  %255 = tile.broadcast %254 : tensor<48x1xi64> -> tensor<48x20xi64>
      %256 = tile.splat %c20_i64_29 : i64 -> tensor<48x20xi64>  %257 = arith.muli %255, %256 : tensor<48x20xi64>
      %258 = tile.range 0, 20 : tensor<20xi32>  %259 = arith.extsi %258 : tensor<20xi32> to tensor<20xi64>
      %260 = tile.expand_dims %259 {axis = 0 : i32} : tensor<20xi64> -> tensor<1x20xi64>  %261 = tile.broadcast %260 : tensor<1x20xi64> -> tensor<48x20xi64>
      %262 = arith.addi %257, %261 : tensor<48x20xi64>  %263 = tile.addptr %arg8, %250 : !tile.ptr<i64>, i32
      %264 = tile.splat %263 : !tile.ptr<i64> -> tensor<48x20x!tile.ptr<i64>>  %265 = tile.addptr %264, %262 : tensor<48x20x!tile.ptr<i64>>, tensor<48x20xi64>
      tile.store %265, %247 : tensor<48x20x!tile.ptr<i64>>
      %c48_i32 = arith.constant 48 : i32  %266 = arith.addi %arg28, %c48_i32 : i32
      scf.yield %266, %247 : i32, tensor<48x20xi64>
    }
    %c960_i32 = arith.constant 960 : i32  %64 = arith.muli %7, %c960_i32 : i32
    %65 = tile.hint %64 {divisibility = array<i64: 960>} : i32  %66 = arith.cmpi sgt, %7, %7 : i32
    %67 = arith.select %66, %arg9, %arg9 : !tile.ptr<i64>  %68 = tile.range 0, 48 : tensor<48xi32>
    %69 = arith.extsi %68 : tensor<48xi32> to tensor<48xi64>  %70 = tile.hint %69 {contiguity = array<i64: 48>} : tensor<48xi64>
    %c20_i64 = arith.constant 20 : i64  %71 = tile.reshape %70 : tensor<48xi64> -> tensor<48x1xi64>
    %72 = tile.broadcast %71 : tensor<48x1xi64> -> tensor<48x20xi64>  %73 = tile.splat %c20_i64 : i64 -> tensor<48x20xi64>
    %74 = arith.muli %72, %73 : tensor<48x20xi64>  %75 = tile.range 0, 20 : tensor<20xi32>
    %76 = arith.extsi %75 : tensor<20xi32> to tensor<20xi64>  %77 = tile.expand_dims %76 {axis = 0 : i32} : tensor<20xi64> -> tensor<1x20xi64>
    %78 = tile.broadcast %77 : tensor<1x20xi64> -> tensor<48x20xi64>  %79 = arith.addi %74, %78 : tensor<48x20xi64>
    %80 = tile.splat %67 : !tile.ptr<i64> -> tensor<48x20x!tile.ptr<i64>>  %81 = tile.addptr %80, %79 : tensor<48x20x!tile.ptr<i64>>, tensor<48x20xi64>
    %82 = tile.splat %65 : i32 -> tensor<48x20xi32>  %83 = tile.addptr %81, %82 : tensor<48x20x!tile.ptr<i64>>, tensor<48x20xi32>
    tile.store %83, %63#1 : tensor<48x20x!tile.ptr<i64>>
    %c0_i64 = arith.constant 0 : i64  %84 = arith.extsi %arg10 : i32 to i64
    %c32_i64 = arith.constant 32 : i64  %c14336_i32 = arith.constant 14336 : i32
    %85 = arith.muli %7, %c14336_i32 : i32  %86 = tile.hint %85 {divisibility = array<i64: 14336>} : i32
    %c4096_i32 = arith.constant 4096 : i32  %87 = arith.muli %7, %c4096_i32 : i32
    %cst_8 = arith.constant dense<0.000000e+00> : tensor<128x32xf32>
    %88 = scf.for %arg27 = %c0_i64 to %84 step %c32_i64 iter_args(%arg28 = %cst_8) -> (tensor<128x32xf32>)  : i64 {
      %205 = arith.subi %arg27, %c0_i64 : i64  %206 = arith.divsi %205, %c32_i64 : i64
      %207 = arith.trunci %206 : i64 to i32  %208 = arith.trunci %arg27 : i64 to i32
      %209 = arith.addi %208, %86 : i32  %210 = tile.range 0, 128 : tensor<128xi32>
      %c112_i32 = arith.constant 112 : i32  %211 = tile.splat %c112_i32 : i32 -> tensor<128xi32>
      %212 = arith.muli %210, %211 : tensor<128xi32>  %213 = tile.expand_dims %212 {axis = 1 : i32} : tensor<128xi32> -> tensor<128x1xi32>
      %214 = tile.broadcast %213 : tensor<128x1xi32> -> tensor<128x32xi32>  %215 = tile.range 0, 32 : tensor<32xi32>
      %216 = tile.expand_dims %215 {axis = 0 : i32} : tensor<32xi32> -> tensor<1x32xi32>  %217 = tile.broadcast %216 : tensor<1x32xi32> -> tensor<128x32xi32>
      %218 = arith.addi %214, %217 : tensor<128x32xi32>  %219 = tile.addptr %arg11, %209 : !tile.ptr<bf16>, i32
      %220 = tile.splat %219 : !tile.ptr<bf16> -> tensor<128x32x!tile.ptr<bf16>>  %221 = tile.addptr %220, %218 : tensor<128x32x!tile.ptr<bf16>>, tensor<128x32xi32>
      %222 = tile.range 0, 32 : tensor<32xi32>  %223 = arith.extsi %222 : tensor<32xi32> to tensor<32xi64>
      %c112_i64 = arith.constant 112 : i64  %224 = tile.splat %arg27 : i64 -> tensor<32xi64>
      %225 = arith.addi %223, %224 : tensor<32xi64>  %226 = tile.splat %c112_i64 : i64 -> tensor<32xi64>
      %227 = arith.cmpi slt, %225, %226 : tensor<32xi64>  %228 = tile.expand_dims %227 {axis = 0 : i32} : tensor<32xi1> -> tensor<1x32xi1>
      %229 = tile.broadcast %228 : tensor<1x32xi1> -> tensor<128x32xi1>  %cst_24 = arith.constant dense<1.500000e+00> : tensor<128x32xbf16>
      %230 = tile.load %221, %229, %cst_24 : tensor<128x32x!tile.ptr<bf16>>  %231 = arith.trunci %arg27 : i64 to i32
      %c32_i32_25 = arith.constant 32 : i32  %232 = arith.muli %231, %c32_i32_25 : i32
      %233 = arith.addi %232, %87 : i32  %234 = tile.range 0, 32 : tensor<32xi32>
      %c32_i32_26 = arith.constant 32 : i32  %235 = tile.expand_dims %234 {axis = 1 : i32} : tensor<32xi32> -> tensor<32x1xi32>
      %236 = tile.broadcast %235 : tensor<32x1xi32> -> tensor<32x32xi32>  %237 = tile.splat %c32_i32_26 : i32 -> tensor<32x32xi32>
      %238 = arith.muli %236, %237 : tensor<32x32xi32>  %239 = tile.range 0, 32 : tensor<32xi32>
      %240 = tile.expand_dims %239 {axis = 0 : i32} : tensor<32xi32> -> tensor<1x32xi32>  %241 = tile.broadcast %240 : tensor<1x32xi32> -> tensor<32x32xi32>
      %242 = arith.addi %238, %241 : tensor<32x32xi32>  %243 = tile.addptr %arg12, %233 : !tile.ptr<bf16>, i32
      %244 = tile.splat %243 : !tile.ptr<bf16> -> tensor<32x32x!tile.ptr<bf16>>  %245 = tile.addptr %244, %242 : tensor<32x32x!tile.ptr<bf16>>, tensor<32x32xi32>
      %246 = tile.load %245 : tensor<32x32x!tile.ptr<bf16>>  %247 = tile.dot %230, %246, %arg28 : tensor<128x32xbf16>, tensor<32x32xbf16>, tensor<128x32xf32>
      scf.yield %247 : tensor<128x32xf32>
    }
    %cst_9 = arith.constant dense<6.250000e-02> : tensor<128x32xf32>  %89 = arith.mulf %88, %cst_9 : tensor<128x32xf32>
    %90 = arith.truncf %89 : tensor<128x32xf32> to tensor<128x32xbf16>  %c4096_i32_10 = arith.constant 4096 : i32
    %91 = arith.muli %7, %c4096_i32_10 : i32  %92 = tile.range 0, 128 : tensor<128xi32>
    %c32_i32 = arith.constant 32 : i32  %93 = tile.splat %c32_i32 : i32 -> tensor<128xi32>
    %94 = arith.muli %92, %93 : tensor<128xi32>  %95 = tile.expand_dims %94 {axis = 1 : i32} : tensor<128xi32> -> tensor<128x1xi32>
    %96 = tile.broadcast %95 : tensor<128x1xi32> -> tensor<128x32xi32>  %97 = tile.range 0, 32 : tensor<32xi32>
    %98 = tile.hint %97 {contiguity = array<i64: 32>} : tensor<32xi32>  %99 = tile.reshape %98 : tensor<32xi32> -> tensor<1x32xi32>
    %100 = tile.broadcast %99 : tensor<1x32xi32> -> tensor<128x32xi32>  %101 = arith.addi %96, %100 : tensor<128x32xi32>
    %102 = tile.splat %arg13 : !tile.ptr<bf16> -> tensor<128x32x!tile.ptr<bf16>>  %103 = tile.addptr %102, %101 : tensor<128x32x!tile.ptr<bf16>>, tensor<128x32xi32>
    %104 = tile.splat %91 : i32 -> tensor<128x32xi32>  %105 = tile.addptr %103, %104 : tensor<128x32x!tile.ptr<bf16>>, tensor<128x32xi32>
    tile.store %105, %90 : tensor<128x32x!tile.ptr<bf16>>
    %c2_i32_11 = arith.constant 2 : i32  %c1_i32_12 = arith.constant 1 : i32
    %c4096_i32_13 = arith.constant 4096 : i32  %106 = tile.range 0, 64 : tensor<64xi32>
    %c32_i32_14 = arith.constant 32 : i32  %107 = tile.splat %c32_i32_14 : i32 -> tensor<64xi32>
    %108 = arith.muli %106, %107 : tensor<64xi32>  %109 = tile.expand_dims %108 {axis = 1 : i32} : tensor<64xi32> -> tensor<64x1xi32>
    %110 = tile.broadcast %109 : tensor<64x1xi32> -> tensor<64x32xi32>  %111 = tile.range 0, 32 : tensor<32xi32>
    %112 = tile.expand_dims %111 {axis = 0 : i32} : tensor<32xi32> -> tensor<1x32xi32>  %113 = tile.broadcast %112 : tensor<1x32xi32> -> tensor<64x32xi32>
    %114 = arith.addi %110, %113 : tensor<64x32xi32>  %115 = tile.splat %arg16 : !tile.ptr<f8E5M2> -> tensor<64x32x!tile.ptr<f8E5M2>>
    %116 = tile.addptr %115, %114 : tensor<64x32x!tile.ptr<f8E5M2>>, tensor<64x32xi32>  %117 = tile.splat %c4096_i32_13 : i32 -> tensor<64x32xi32>
    %118 = tile.addptr %116, %117 : tensor<64x32x!tile.ptr<f8E5M2>>, tensor<64x32xi32>  %c4096_i32_15 = arith.constant 4096 : i32
    %119 = arith.muli %7, %c4096_i32_15 : i32  %120 = tile.range 0, 64 : tensor<64xi32>
    %c64_i32 = arith.constant 64 : i32  %121 = tile.splat %c64_i32 : i32 -> tensor<64xi32>
    %122 = arith.muli %120, %121 : tensor<64xi32>  %123 = tile.expand_dims %122 {axis = 1 : i32} : tensor<64xi32> -> tensor<64x1xi32>
    %124 = tile.broadcast %123 : tensor<64x1xi32> -> tensor<64x64xi32>  %125 = tile.range 0, 64 : tensor<64xi32>
    %126 = tile.expand_dims %125 {axis = 0 : i32} : tensor<64xi32> -> tensor<1x64xi32>  %127 = tile.broadcast %126 : tensor<1x64xi32> -> tensor<64x64xi32>
    %128 = arith.addi %124, %127 : tensor<64x64xi32>  %129 = tile.splat %arg17 : !tile.ptr<f8E5M2> -> tensor<64x64x!tile.ptr<f8E5M2>>
    %130 = tile.splat %119 : i32 -> tensor<64x64xi32>  %131 = arith.addi %130, %128 : tensor<64x64xi32>
    %132 = tile.addptr %129, %131 : tensor<64x64x!tile.ptr<f8E5M2>>, tensor<64x64xi32>  %133 = tile.range 0, 64 : tensor<64xi32>
    %c17_i32 = arith.constant 17 : i32  %134 = tile.splat %c17_i32 : i32 -> tensor<64xi32>
    %135 = arith.cmpi sge, %133, %134 : tensor<64xi32>  %136 = tile.expand_dims %135 {axis = 1 : i32} : tensor<64xi1> -> tensor<64x1xi1>
    %137 = tile.broadcast %136 : tensor<64x1xi1> -> tensor<64x64xi1>  %138 = tile.range 0, 64 : tensor<64xi32>
    %c11_i32 = arith.constant 11 : i32  %139 = tile.splat %c11_i32 : i32 -> tensor<64xi32>
    %140 = arith.cmpi sge, %138, %139 : tensor<64xi32>  %141 = tile.expand_dims %140 {axis = 0 : i32} : tensor<64xi1> -> tensor<1x64xi1>
    %142 = tile.broadcast %141 : tensor<1x64xi1> -> tensor<64x64xi1>  %143 = arith.andi %137, %142 : tensor<64x64xi1>
    %144 = tile.load %132, %143 : tensor<64x64x!tile.ptr<f8E5M2>>  %cst_16 = arith.constant dense<0.000000e+00> : tensor<64x32xf32>
    %cst_17 = arith.constant dense<-1.000000e+30> : tensor<64xf32>  %cst_18 = arith.constant dense<0.000000e+00> : tensor<64xf32>
    %145:4 = scf.for %arg27 = %c2_i32_11 to %arg14 step %c1_i32_12 iter_args(%arg28 = %118, %arg29 = %cst_16, %arg30 = %cst_17, %arg31 = %cst_18) -> (tensor<64x32x!tile.ptr<f8E5M2>>, tensor<64x32xf32>, tensor<64xf32>, tensor<64xf32>)  : i32 {
      %205 = arith.subi %arg27, %c2_i32_11 : i32  %206 = arith.divsi %205, %c1_i32_12 : i32
      %c64_i32_24 = arith.constant 64 : i32  %207 = arith.muli %arg27, %c64_i32_24 : i32
      %208 = tile.range 0, 64 : tensor<64xi32>  %209 = arith.extsi %208 : tensor<64xi32> to tensor<64xi64>
      %c448_i64 = arith.constant 448 : i64  %210 = tile.splat %c448_i64 : i64 -> tensor<64xi64>
      %211 = arith.muli %209, %210 : tensor<64xi64>  %212 = tile.expand_dims %211 {axis = 1 : i32} : tensor<64xi64> -> tensor<64x1xi64>
      %213 = tile.broadcast %212 : tensor<64x1xi64> -> tensor<64x64xi64>  %214 = tile.range 0, 64 : tensor<64xi32>
      %215 = arith.extsi %214 : tensor<64xi32> to tensor<64xi64>  %c1_i64 = arith.constant 1 : i64
      %216 = tile.expand_dims %215 {axis = 0 : i32} : tensor<64xi64> -> tensor<1x64xi64>  %217 = tile.broadcast %216 : tensor<1x64xi64> -> tensor<64x64xi64>
      %218 = tile.splat %c1_i64 : i64 -> tensor<64x64xi64>  %219 = arith.muli %217, %218 : tensor<64x64xi64>
      %220 = arith.addi %213, %219 : tensor<64x64xi64>  %221 = tile.splat %arg15 : !tile.ptr<f8E5M2> -> tensor<64x64x!tile.ptr<f8E5M2>>
      %222 = tile.addptr %221, %220 : tensor<64x64x!tile.ptr<f8E5M2>>, tensor<64x64xi64>  %223 = tile.splat %207 : i32 -> tensor<64x64xi32>
      %224 = tile.addptr %222, %223 : tensor<64x64x!tile.ptr<f8E5M2>>, tensor<64x64xi32>  %225 = tile.load %224 : tensor<64x64x!tile.ptr<f8E5M2>>
      %cst_25 = arith.constant dense<0.000000e+00> : tensor<64x64xf32>  %226 = tile.dot %144, %225, %cst_25 : tensor<64x64xf8E5M2>, tensor<64x64xf8E5M2>, tensor<64x64xf32>
      %cst_26 = arith.constant dense<9.765625E-4> : tensor<64x64xf32>  %227 = arith.mulf %226, %cst_26 : tensor<64x64xf32>
      %228 = "tile.reduce"(%227) <{axis = 1 : i32}> ({
      ^bb0(%arg32: f32, %arg33: f32):
        %255 = arith.maximumf %arg32, %arg33 : f32
        tile.yield %255 : f32
      }) : (tensor<64x64xf32>) -> tensor<64xf32>
      %229 = arith.maximumf %arg30, %228 : tensor<64xf32>  %230 = arith.subf %arg30, %229 : tensor<64xf32>
      %231 = math.exp %230 : tensor<64xf32>  %232 = tile.expand_dims %229 {axis = 1 : i32} : tensor<64xf32> -> tensor<64x1xf32>
      %233 = tile.broadcast %232 : tensor<64x1xf32> -> tensor<64x64xf32>  %234 = arith.subf %227, %233 : tensor<64x64xf32>
      %235 = math.exp %234 : tensor<64x64xf32>  %236 = arith.mulf %arg31, %231 : tensor<64xf32>
      %237 = "tile.reduce"(%235) <{axis = 1 : i32}> ({
      ^bb0(%arg32: f32, %arg33: f32):
        %255 = arith.addf %arg32, %arg33 : f32
        tile.yield %255 : f32
      }) : (tensor<64x64xf32>) -> tensor<64xf32>
      %238 = arith.addf %236, %237 : tensor<64xf32>  %239 = tile.expand_dims %231 {axis = 1 : i32} : tensor<64xf32> -> tensor<64x1xf32>
      %240 = tile.broadcast %239 : tensor<64x1xf32> -> tensor<64x32xf32>  %241 = arith.mulf %arg29, %240 : tensor<64x32xf32>
      %242 = tile.convert_float %235 : tensor<64x64xf32> -> tensor<64x64xf8E5M2>  %243 = tile.range 0, 64 : tensor<64xi32>
      %c416_i32 = arith.constant 416 : i32  %244 = tile.splat %207 : i32 -> tensor<64xi32>
      %245 = arith.addi %243, %244 : tensor<64xi32>  %246 = tile.splat %arg18 : i32 -> tensor<64xi32>
      %247 = arith.cmpi slt, %245, %246 : tensor<64xi32>  %248 = tile.expand_dims %247 {axis = 1 : i32} : tensor<64xi1> -> tensor<64x1xi1>
      %249 = tile.broadcast %248 : tensor<64x1xi1> -> tensor<64x32xi1>  %250 = tile.load %arg28, %249 : tensor<64x32x!tile.ptr<f8E5M2>>
      %cst_27 = arith.constant dense<0.000000e+00> : tensor<64x32xf32>  %251 = tile.dot %242, %250, %cst_27 : tensor<64x64xf8E5M2>, tensor<64x32xf8E5M2>, tensor<64x32xf32>
      %252 = arith.addf %241, %251 : tensor<64x32xf32>  %c2048_i32_28 = arith.constant 2048 : i32
      %253 = tile.splat %c2048_i32_28 : i32 -> tensor<64x32xi32>  %254 = tile.addptr %arg28, %253 : tensor<64x32x!tile.ptr<f8E5M2>>, tensor<64x32xi32>
      scf.yield %254, %252, %229, %238 : tensor<64x32x!tile.ptr<f8E5M2>>, tensor<64x32xf32>, tensor<64xf32>, tensor<64xf32>
    } {tile.num_stages = 0 : i32}
    %c2048_i32 = arith.constant 2048 : i32  %146 = arith.muli %7, %c2048_i32 : i32
    %147 = tile.range 0, 64 : tensor<64xi32>  %148 = tile.reshape %147 : tensor<64xi32> -> tensor<64x1xi32>
    %149 = tile.broadcast %148 : tensor<64x1xi32> -> tensor<64x32xi32>  %150 = tile.splat %arg20 : i32 -> tensor<64x32xi32>
    %151 = arith.muli %149, %150 : tensor<64x32xi32>  %152 = tile.range 0, 32 : tensor<32xi32>
    %153 = tile.expand_dims %152 {axis = 0 : i32} : tensor<32xi32> -> tensor<1x32xi32>  %154 = tile.broadcast %153 : tensor<1x32xi32> -> tensor<64x32xi32>
    %155 = arith.addi %151, %154 : tensor<64x32xi32>  %156 = tile.addptr %arg19, %146 : !tile.ptr<f32>, i32
    %157 = tile.splat %156 : !tile.ptr<f32> -> tensor<64x32x!tile.ptr<f32>>  %158 = tile.addptr %157, %155 : tensor<64x32x!tile.ptr<f32>>, tensor<64x32xi32>
    tile.store %158, %145#1 : tensor<64x32x!tile.ptr<f32>>
    %c5_i32_19 = arith.constant 5 : i32  %159 = arith.muli %7, %c5_i32_19 : i32
    %160 = tile.range 0, 5 : tensor<5xi32>  %161 = tile.splat %arg21 : !tile.ptr<bf16> -> tensor<5x!tile.ptr<bf16>>
    %162 = tile.addptr %161, %160 : tensor<5x!tile.ptr<bf16>>, tensor<5xi32>  %163 = tile.splat %159 : i32 -> tensor<5xi32>
    %164 = tile.addptr %162, %163 : tensor<5x!tile.ptr<bf16>>, tensor<5xi32>
    tile.store %164, %cst : tensor<5x!tile.ptr<bf16>>
    %c1_i32_20 = arith.constant 1 : i32  %165 = arith.muli %7, %c1_i32_20 : i32
    %166 = tile.range 0, 1 : tensor<1xi32>  %167 = tile.hint %166 : tensor<1xi32>
    %168 = tile.splat %arg22 : !tile.ptr<f64> -> tensor<1x!tile.ptr<f64>>  %169 = tile.addptr %168, %167 : tensor<1x!tile.ptr<f64>>, tensor<1xi32>
    %170 = tile.splat %165 : i32 -> tensor<1xi32>  %171 = tile.addptr %169, %170 : tensor<1x!tile.ptr<f64>>, tensor<1xi32>
    %172 = tile.range 0, 1 : tensor<1xi32>  %173 = tile.splat %arg23 : i32 -> tensor<1xi32>
    %174 = arith.cmpi sge, %172, %173 : tensor<1xi32>
    tile.store %171, %45, %174 : tensor<1x!tile.ptr<f64>>
    %c2_i32_21 = arith.constant 2 : i32  %175 = arith.muli %7, %c2_i32_21 : i32
    %176 = tile.range 0, 2 : tensor<2xi32>  %177 = tile.expand_dims %176 {axis = 1 : i32} : tensor<2xi32> -> tensor<2x1xi32>
    %178 = tile.range 0, 1 : tensor<1xi32>  %179 = tile.hint %178 : tensor<1xi32>
    %180 = tile.expand_dims %179 {axis = 0 : i32} : tensor<1xi32> -> tensor<1x1xi32>  %181 = tile.broadcast %180 : tensor<1x1xi32> -> tensor<2x1xi32>
    %182 = arith.addi %177, %181 : tensor<2x1xi32>  %183 = tile.splat %arg24 : !tile.ptr<i32> -> tensor<2x1x!tile.ptr<i32>>
    %184 = tile.splat %175 : i32 -> tensor<2x1xi32>  %185 = arith.addi %184, %182 : tensor<2x1xi32>
    %186 = tile.addptr %183, %185 : tensor<2x1x!tile.ptr<i32>>, tensor<2x1xi32>  %187 = tile.range 0, 2 : tensor<2xi32>
    %188 = tile.splat %arg25 : i32 -> tensor<2xi32>  %189 = arith.cmpi ult, %187, %188 : tensor<2xi32>
    %190 = tile.reshape %189 : tensor<2xi1> -> tensor<2x1xi1>  %191 = tile.range 0, 1 : tensor<1xi32>
    %c1_i32_22 = arith.constant 1 : i32  %192 = tile.splat %c1_i32_22 : i32 -> tensor<1xi32>
    %193 = arith.cmpi ult, %191, %192 : tensor<1xi32>  %194 = tile.expand_dims %193 {axis = 0 : i32} : tensor<1xi1> -> tensor<1x1xi1>
    %195 = tile.broadcast %194 : tensor<1x1xi1> -> tensor<2x1xi1>  %196 = arith.andi %190, %195 : tensor<2x1xi1>
    tile.store %186, %32, %196 : tensor<2x1x!tile.ptr<i32>>
    tile.barrier
    %197 = tile.load %186 : tensor<2x1x!tile.ptr<i32>>  %c5_i32_23 = arith.constant 5 : i32
    %198 = arith.muli %7, %c5_i32_23 : i32  %199 = tile.hint %198 : i32
    %200 = tile.range 0, 5 : tensor<5xi32>  %201 = tile.splat %arg26 : !tile.ptr<bf16> -> tensor<5x!tile.ptr<bf16>>
    %202 = tile.splat %199 : i32 -> tensor<5xi32>  %203 = arith.addi %202, %200 : tensor<5xi32>
    %204 = tile.addptr %201, %203 : tensor<5x!tile.ptr<bf16>>, tensor<5xi32>
    tile.store %204, %cst : tensor<5x!tile.ptr<bf16>>
    return
  }
}
