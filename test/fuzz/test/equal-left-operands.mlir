// RUN: nereid-fuzz --replay %s --executor=cpu
// RUN: mkdir -p %t && nereid-fuzz --replay %s --executor=sm_90a:4 --save %t
// REQUIRES: nereid-fuzz
// Two pieces of 64 rows with equal left operands in registers: ptxas takes their instructions for one.
module {
  func.func @k(%arg0: !tile.ptr<f32> {fuzz.count = 12 : i64, fuzz.fill = "normal", tile.divisibility = 16 : i32}, %arg1: i32 {fuzz.value = 6 : i32}, %arg2: !tile.ptr<f32> {fuzz.count = 62 : i64, fuzz.fill = "whole"}, %arg3: !tile.ptr<f32> {fuzz.count = 1 : i64, fuzz.fill = "normal"}, %arg4: i32 {fuzz.value = 0 : i32}, %arg5: !tile.ptr<i32> {fuzz.count = 255 : i64, fuzz.fill = "whole"}, %arg6: !tile.ptr<f32> {fuzz.count = 1 : i64, fuzz.fill = "any"}, %arg7: !tile.ptr<f32> {fuzz.count = 286 : i64, fuzz.fill = "whole", tile.divisibility = 16 : i32}, %arg8: i32 {fuzz.value = 96 : i32}, %arg9: !tile.ptr<f32> {fuzz.count = 96 : i64, fuzz.fill = "positive", tile.divisibility = 16 : i32}, %arg10: i32 {fuzz.value = 32 : i32}, %arg11: i32 {fuzz.value = 5 : i32}, %arg12: !tile.ptr<f64> {fuzz.count = 510 : i64, fuzz.fill = "normal", tile.divisibility = 16 : i32}, %arg13: !tile.ptr<f32> {fuzz.count = 48 : i64, fuzz.fill = "normal", fuzz.output}, %arg14: !tile.ptr<f64> {fuzz.count = 56 : i64, fuzz.fill = "whole", tile.divisibility = 16 : i32}, %arg15: i32 {fuzz.value = 5 : i32}, %arg16: !tile.ptr<f32> {fuzz.count = 56 : i64, fuzz.fill = "whole", tile.divisibility = 16 : i32}, %arg17: i32 {fuzz.value = 7 : i32}, %arg18: !tile.ptr<f32> {fuzz.count = 12 : i64, fuzz.output, tile.divisibility = 16 : i32}, %arg19: !tile.ptr<f16> {fuzz.count = 56 : i64, fuzz.fill = "positive", tile.divisibility = 16 : i32}, %arg20: i32 {fuzz.value = 3 : i32}, %arg21: i32 {fuzz.value = 1 : i32}, %arg22: !tile.ptr<i32> {fuzz.count = 1 : i64, fuzz.fill = "positive"}, %arg23: i32 {fuzz.value = 441 : i32}, %arg24: !tile.ptr<f32> {fuzz.count = 25600 : i64, fuzz.fill = "whole", tile.divisibility = 16 : i32}, %arg25: !tile.ptr<f16> {fuzz.count = 8192 : i64, fuzz.fill = "whole", tile.divisibility = 16 : i32}, %arg26: !tile.ptr<bf16> {fuzz.count = 2048 : i64, fuzz.fill = "whole", tile.divisibility = 16 : i32}, %arg27: i32 {fuzz.value = 128 : i32}, %arg28: !tile.ptr<bf16> {fuzz.count = 144 : i64, fuzz.fill = "normal", tile.divisibility = 16 : i32}, %arg29: i32 {fuzz.value = 16 : i32, tile.divisibility = 16 : i32}, %arg30: i32 {fuzz.value = 16 : i32}, %arg31: i32 {fuzz.value = 9 : i32}, %arg32: i32 {fuzz.value = 16 : i32, tile.divisibility = 16 : i32}, %arg33: !tile.ptr<f32> {fuzz.count = 16384 : i64, fuzz.output, tile.divisibility = 16 : i32}, %arg34: i32 {fuzz.value = 240 : i32}, %arg35: !tile.ptr<i8> {fuzz.count = 3152 : i64, fuzz.fill = "any", fuzz.output, tile.divisibility = 16 : i32}, %arg36: i32 {fuzz.value = 197 : i32}, %arg37: !tile.ptr<f32> {fuzz.count = 56 : i64, fuzz.output}, %arg38: !tile.ptr<i32> {fuzz.count = 56 : i64, fuzz.fill = "positive", tile.divisibility = 16 : i32}, %arg39: !tile.ptr<f32> {fuzz.count = 1024 : i64, fuzz.fill = "normal", fuzz.output}, %arg40: !tile.ptr<f32> {fuzz.count = 166 : i64, fuzz.output, tile.divisibility = 16 : i32}, %arg41: !tile.ptr<f16> {fuzz.count = 56 : i64, fuzz.output}, %arg42: i32 {fuzz.value = 5 : i32}, %arg43: i32 {fuzz.value = 7 : i32}) attributes {fuzz.grid = array<i32: 1, 1, 1>, fuzz.seed = 1000208 : i64, tile.kernel} {
    %0 = tile.program_id 0  %1 = tile.program_id 1
    %2 = tile.program_id 2  %3 = tile.num_programs 0
    %c1_i32 = arith.constant 1 : i32  %4 = arith.muli %2, %c1_i32 : i32
    %5 = arith.addi %4, %1 : i32  %6 = arith.muli %5, %3 : i32
    %7 = arith.addi %6, %0 : i32  %c12_i32 = arith.constant 12 : i32
    %8 = arith.muli %7, %c12_i32 : i32  %9 = tile.ptr_to_int %arg0 : !tile.ptr<f32> -> i64
    %10 = tile.int_to_ptr %9 : i64 -> !tile.ptr<f32>  %11 = tile.range 0, 12 : tensor<12xi32>
    %12 = arith.extsi %11 : tensor<12xi32> to tensor<12xi64>  %13 = tile.splat %10 : !tile.ptr<f32> -> tensor<12x!tile.ptr<f32>>
    %14 = tile.addptr %13, %12 : tensor<12x!tile.ptr<f32>>, tensor<12xi64>  %15 = tile.splat %8 : i32 -> tensor<12xi32>
    %16 = tile.addptr %14, %15 : tensor<12x!tile.ptr<f32>>, tensor<12xi32>  %17 = tile.range 0, 12 : tensor<12xi32>
    %18 = tile.splat %arg1 : i32 -> tensor<12xi32>  %19 = arith.cmpi slt, %17, %18 : tensor<12xi32>
    %cst = arith.constant dense<[-3.000000e+00, 2.000000e+00, 0.000000e+00, 0.000000e+00, 1.250000e+00, 7.000000e+00, 1.250000e+00, -1.000000e+00, 7.000000e+00, 1.250000e+00, 0.000000e+00, 1.000000e+00]> : tensor<12xf32>  %20 = tile.load %16, %19, %cst : tensor<12x!tile.ptr<f32>>
    %21 = tile.cat %20, %cst {axis = 0 : i32} : tensor<12xf32>, tensor<12xf32> -> tensor<24xf32>  %22 = tile.range 0, 7 : tensor<7xi32>
    %23 = arith.extsi %22 : tensor<7xi32> to tensor<7xi64>  %c9_i64 = arith.constant 9 : i64
    %24 = tile.splat %c9_i64 : i64 -> tensor<7xi64>  %25 = arith.muli %23, %24 : tensor<7xi64>
    %26 = tile.expand_dims %25 {axis = 1 : i32} : tensor<7xi64> -> tensor<7x1xi64>  %27 = tile.broadcast %26 : tensor<7x1xi64> -> tensor<7x8xi64>
    %28 = tile.range 0, 8 : tensor<8xi32>  %29 = arith.extsi %28 : tensor<8xi32> to tensor<8xi64>
    %30 = tile.hint %29 {contiguity = array<i64: 8>} : tensor<8xi64>  %c1_i64 = arith.constant 1 : i64
    %31 = tile.splat %c1_i64 : i64 -> tensor<8xi64>  %32 = arith.muli %30, %31 : tensor<8xi64>
    %33 = tile.expand_dims %32 {axis = 0 : i32} : tensor<8xi64> -> tensor<1x8xi64>  %34 = tile.broadcast %33 : tensor<1x8xi64> -> tensor<7x8xi64>
    %35 = arith.addi %27, %34 : tensor<7x8xi64>  %36 = tile.splat %arg2 : !tile.ptr<f32> -> tensor<7x8x!tile.ptr<f32>>
    %37 = tile.addptr %36, %35 : tensor<7x8x!tile.ptr<f32>>, tensor<7x8xi64>  %38 = tile.load %37 : tensor<7x8x!tile.ptr<f32>>
    %39 = arith.addf %38, %38 : tensor<7x8xf32>  %c6_i32 = arith.constant 6 : i32
    %c1_i32_0 = arith.constant 1 : i32  %c8_i32 = arith.constant 8 : i32
    %40:3 = scf.for %arg44 = %c6_i32 to %c8_i32 step %c1_i32_0 iter_args(%arg45 = %20, %arg46 = %38, %arg47 = %21) -> (tensor<12xf32>, tensor<7x8xf32>, tensor<24xf32>)  : i32 {
      %257 = arith.subi %arg44, %c6_i32 : i32  %258 = arith.divsi %257, %c1_i32_0 : i32
      %cst_24 = arith.constant dense<-3.000000e+00> : tensor<64x1xf32>  %259 = math.erfc %cst_24 : tensor<64x1xf32>
      %260 = arith.cmpi eq, %arg44, %arg44 : i32  %261 = tile.range 0, 5 : tensor<5xi32>
      %262 = tile.splat %arg4 : i32 -> tensor<5xi32>  %263 = arith.muli %261, %262 : tensor<5xi32>
      %264 = tile.splat %arg3 : !tile.ptr<f32> -> tensor<5x!tile.ptr<f32>>  %265 = tile.addptr %264, %263 : tensor<5x!tile.ptr<f32>>, tensor<5xi32>
      %266 = tile.load %265 : tensor<5x!tile.ptr<f32>>  %267 = arith.trunci %arg44 : i32 to i8
      %268 = tile.splat %267 : i8 -> tensor<255xi8>
      %269:2 = scf.if %260 -> (tensor<5xf32>, tensor<255xi8>) {
        %c127_i32 = arith.constant 127 : i32  %308 = arith.andi %7, %c127_i32 : i32
        %309 = arith.uitofp %308 : i32 to f16  %310 = tile.splat %309 : f16 -> tensor<7x8xf16>
        %311 = arith.maximumf %310, %310 : tensor<7x8xf16>  %312 = tile.range 0, 255 : tensor<255xi32>
        %313 = tile.hint %312 {divisibility = array<i64: 16>} : tensor<255xi32>  %314 = tile.splat %arg5 : !tile.ptr<i32> -> tensor<255x!tile.ptr<i32>>
        %315 = tile.addptr %314, %313 : tensor<255x!tile.ptr<i32>>, tensor<255xi32>  %316 = tile.range 0, 255 : tensor<255xi32>
        %c10_i32 = arith.constant 10 : i32  %317 = tile.splat %c10_i32 : i32 -> tensor<255xi32>
        %318 = arith.cmpi slt, %316, %317 : tensor<255xi32>  %319 = tile.load %315, %318 : tensor<255x!tile.ptr<i32>>
        %320 = tile.ptr_to_int %arg6 : !tile.ptr<f32> -> i64  %321 = tile.int_to_ptr %320 : i64 -> !tile.ptr<f32>
        %322 = tile.range 0, 255 : tensor<255xi32>  %323 = arith.extsi %322 : tensor<255xi32> to tensor<255xi64>
        %c0_i64_28 = arith.constant 0 : i64  %324 = tile.splat %c0_i64_28 : i64 -> tensor<255xi64>
        %325 = arith.muli %323, %324 : tensor<255xi64>  %326 = tile.splat %321 : !tile.ptr<f32> -> tensor<255x!tile.ptr<f32>>
        %327 = tile.addptr %326, %325 : tensor<255x!tile.ptr<f32>>, tensor<255xi64>  %328 = tile.load %327 : tensor<255x!tile.ptr<f32>>
        %329:2 = "tile.scan"(%319, %328) <{axis = 0 : i32}> ({
        ^bb0(%arg48: i32, %arg49: f32, %arg50: i32, %arg51: f32):
          %333 = arith.ori %arg48, %arg50 : i32  %334 = arith.addf %arg49, %arg51 : f32
          tile.yield %333, %334 : i32, f32
        }) : (tensor<255xi32>, tensor<255xf32>) -> (tensor<255xi32>, tensor<255xf32>)
        %cst_29 = arith.constant dense<3.125000e-02> : tensor<255xf32>  %330 = arith.mulf %329#1, %cst_29 : tensor<255xf32>
        %331 = tile.splat %7 : i32 -> tensor<64x1xi32>
        %332 = "tile.scan"(%331) <{axis = 1 : i32}> ({
        ^bb0(%arg48: i32, %arg49: i32):
          %c0_i32_30 = arith.constant 0 : i32  %333 = arith.cmpi eq, %arg49, %c0_i32_30 : i32
          %334 = arith.select %333, %arg48, %arg49 : i32
          tile.yield %334 : i32
        }) : (tensor<64x1xi32>) -> tensor<64x1xi32>
        scf.yield %266, %268 : tensor<5xf32>, tensor<255xi8>
      } else {
        %308 = arith.trunci %7 : i32 to i16  %309 = tile.splat %308 : i16 -> tensor<13xi16>
        %310 = arith.cmpi ult, %309, %309 : tensor<13xi16>  %311 = tile.range 0, 255 : tensor<255xi32>
        %312 = arith.bitcast %311 : tensor<255xi32> to tensor<255xf32>  %313 = tile.range 0, 3 : tensor<3xi32>
        %314 = tile.splat %arg8 : i32 -> tensor<3xi32>  %315 = arith.muli %313, %314 : tensor<3xi32>
        %316 = tile.reshape %315 : tensor<3xi32> -> tensor<3x1x1xi32>  %317 = tile.broadcast %316 : tensor<3x1x1xi32> -> tensor<3x8x4xi32>
        %318 = tile.range 0, 8 : tensor<8xi32>  %c12_i32_28 = arith.constant 12 : i32
        %319 = tile.expand_dims %318 {axis = 0 : i32} : tensor<8xi32> -> tensor<1x8xi32>  %320 = tile.expand_dims %319 {axis = 2 : i32} : tensor<1x8xi32> -> tensor<1x8x1xi32>
        %321 = tile.broadcast %320 : tensor<1x8x1xi32> -> tensor<3x8x4xi32>  %322 = tile.splat %c12_i32_28 : i32 -> tensor<3x8x4xi32>
        %323 = arith.muli %321, %322 : tensor<3x8x4xi32>  %324 = arith.addi %317, %323 : tensor<3x8x4xi32>
        %325 = tile.range 0, 4 : tensor<4xi32>  %c3_i32_29 = arith.constant 3 : i32
        %326 = tile.splat %c3_i32_29 : i32 -> tensor<4xi32>  %327 = arith.muli %325, %326 : tensor<4xi32>
        %328 = tile.reshape %327 : tensor<4xi32> -> tensor<1x1x4xi32>  %329 = tile.broadcast %328 : tensor<1x1x4xi32> -> tensor<3x8x4xi32>
        %330 = arith.addi %324, %329 : tensor<3x8x4xi32>  %331 = tile.splat %arg7 : !tile.ptr<f32> -> tensor<3x8x4x!tile.ptr<f32>>
        %332 = tile.addptr %331, %330 : tensor<3x8x4x!tile.ptr<f32>>, tensor<3x8x4xi32>  %333 = tile.load %332 : tensor<3x8x4x!tile.ptr<f32>>
        %334 = tile.range 0, 3 : tensor<3xi32>  %335 = tile.reshape %334 : tensor<3xi32> -> tensor<3x1x1xi32>
        %336 = tile.broadcast %335 : tensor<3x1x1xi32> -> tensor<3x8x4xi32>  %337 = tile.splat %arg10 : i32 -> tensor<3x8x4xi32>
        %338 = arith.muli %336, %337 : tensor<3x8x4xi32>  %339 = tile.range 0, 8 : tensor<8xi32>
        %c4_i32 = arith.constant 4 : i32  %340 = tile.splat %c4_i32 : i32 -> tensor<8xi32>
        %341 = arith.muli %339, %340 : tensor<8xi32>  %342 = tile.reshape %341 : tensor<8xi32> -> tensor<1x8x1xi32>
        %343 = tile.broadcast %342 : tensor<1x8x1xi32> -> tensor<3x8x4xi32>  %344 = arith.addi %338, %343 : tensor<3x8x4xi32>
        %345 = tile.range 0, 4 : tensor<4xi32>  %346 = tile.expand_dims %345 {axis = 0 : i32} : tensor<4xi32> -> tensor<1x4xi32>
        %347 = tile.expand_dims %346 {axis = 1 : i32} : tensor<1x4xi32> -> tensor<1x1x4xi32>  %348 = tile.broadcast %347 : tensor<1x1x4xi32> -> tensor<3x8x4xi32>
        %349 = arith.addi %344, %348 : tensor<3x8x4xi32>  %350 = tile.splat %arg9 : !tile.ptr<f32> -> tensor<3x8x4x!tile.ptr<f32>>
        %351 = tile.addptr %350, %349 : tensor<3x8x4x!tile.ptr<f32>>, tensor<3x8x4xi32>  %352 = tile.range 0, 3 : tensor<3xi32>
        %353 = tile.splat %arg11 : i32 -> tensor<3xi32>  %354 = arith.cmpi slt, %352, %353 : tensor<3xi32>
        %355 = tile.expand_dims %354 {axis = 1 : i32} : tensor<3xi1> -> tensor<3x1xi1>  %356 = tile.expand_dims %355 {axis = 2 : i32} : tensor<3x1xi1> -> tensor<3x1x1xi1>
        %357 = tile.broadcast %356 : tensor<3x1x1xi1> -> tensor<3x8x4xi1>  %358 = tile.range 0, 4 : tensor<4xi32>
        %c4_i32_30 = arith.constant 4 : i32  %359 = tile.splat %c4_i32_30 : i32 -> tensor<4xi32>
        %360 = arith.cmpi slt, %358, %359 : tensor<4xi32>  %361 = tile.expand_dims %360 {axis = 0 : i32} : tensor<4xi1> -> tensor<1x4xi1>
        %362 = tile.expand_dims %361 {axis = 1 : i32} : tensor<1x4xi1> -> tensor<1x1x4xi1>  %363 = tile.broadcast %362 : tensor<1x1x4xi1> -> tensor<3x8x4xi1>
        %364 = arith.andi %357, %363 : tensor<3x8x4xi1>  %365 = tile.load %351, %364 : tensor<3x8x4x!tile.ptr<f32>>
        %366 = arith.mulf %333, %365 : tensor<3x8x4xf32>  %c2_i32 = arith.constant 2 : i32
        %367 = arith.muli %7, %c2_i32 : i32  %368 = arith.addi %367, %258 : i32
        %c255_i32 = arith.constant 255 : i32  %369 = arith.muli %368, %c255_i32 : i32
        %370 = tile.range 0, 255 : tensor<255xi32>  %371 = tile.splat %arg12 : !tile.ptr<f64> -> tensor<255x!tile.ptr<f64>>
        %372 = tile.addptr %371, %370 : tensor<255x!tile.ptr<f64>>, tensor<255xi32>  %373 = tile.splat %369 : i32 -> tensor<255xi32>
        %374 = tile.addptr %372, %373 : tensor<255x!tile.ptr<f64>>, tensor<255xi32>  %375 = tile.load %374 : tensor<255x!tile.ptr<f64>>
        %376 = arith.cmpf olt, %375, %375 : tensor<255xf64>  %c2_i32_31 = arith.constant 2 : i32
        %377 = arith.muli %7, %c2_i32_31 : i32  %378 = arith.addi %377, %258 : i32
        %c24_i32_32 = arith.constant 24 : i32  %379 = arith.muli %378, %c24_i32_32 : i32
        %380 = tile.ptr_to_int %arg13 : !tile.ptr<f32> -> i64  %381 = tile.int_to_ptr %380 : i64 -> !tile.ptr<f32>
        %382 = tile.range 0, 24 : tensor<24xi32>  %383 = tile.splat %381 : !tile.ptr<f32> -> tensor<24x!tile.ptr<f32>>
        %384 = tile.splat %379 : i32 -> tensor<24xi32>  %385 = arith.addi %384, %382 : tensor<24xi32>
        %386 = tile.addptr %383, %385 : tensor<24x!tile.ptr<f32>>, tensor<24xi32>
        tile.store %386, %arg47 : tensor<24x!tile.ptr<f32>>
        scf.yield %266, %268 : tensor<5xf32>, tensor<255xi8>
      }
      %270 = arith.sitofp %arg44 : i32 to f32  %cst_25 = arith.constant 7.4505806E-9 : f32
      %271 = arith.mulf %270, %cst_25 : f32  %272 = tile.splat %271 : f32 -> tensor<255xf32>
      %273 = arith.extui %268 : tensor<255xi8> to tensor<255xi32>  %cst_26 = arith.constant dense<-1667646395> : tensor<255xi32>
      %274 = arith.cmpi slt, %273, %cst_26 : tensor<255xi32>  %275 = arith.select %274, %272, %272 : tensor<255xi1>, tensor<255xf32>
      %276 = tile.range 0, 7 : tensor<7xi32>  %277 = arith.extsi %276 : tensor<7xi32> to tensor<7xi64>
      %c8_i64_27 = arith.constant 8 : i64  %278 = tile.reshape %277 : tensor<7xi64> -> tensor<7x1xi64>
      %279 = tile.broadcast %278 : tensor<7x1xi64> -> tensor<7x8xi64>  %280 = tile.splat %c8_i64_27 : i64 -> tensor<7x8xi64>
      %281 = arith.muli %279, %280 : tensor<7x8xi64>  %282 = tile.range 0, 8 : tensor<8xi32>
      %283 = arith.extsi %282 : tensor<8xi32> to tensor<8xi64>  %284 = tile.expand_dims %283 {axis = 0 : i32} : tensor<8xi64> -> tensor<1x8xi64>
      %285 = tile.broadcast %284 : tensor<1x8xi64> -> tensor<7x8xi64>  %286 = arith.addi %281, %285 : tensor<7x8xi64>
      %287 = tile.splat %arg14 : !tile.ptr<f64> -> tensor<7x8x!tile.ptr<f64>>  %288 = tile.addptr %287, %286 : tensor<7x8x!tile.ptr<f64>>, tensor<7x8xi64>
      %289 = tile.range 0, 7 : tensor<7xi32>  %290 = tile.splat %arg15 : i32 -> tensor<7xi32>
      %291 = arith.cmpi slt, %289, %290 : tensor<7xi32>  %292 = tile.expand_dims %291 {axis = 1 : i32} : tensor<7xi1> -> tensor<7x1xi1>
      %293 = tile.broadcast %292 : tensor<7x1xi1> -> tensor<7x8xi1>  %294 = tile.load %288, %293 : tensor<7x8x!tile.ptr<f64>>
      %295 = math.fma %294, %294, %294 : tensor<7x8xf64>  %296 = tile.range 0, 7 : tensor<7xi32>
      %297 = tile.expand_dims %296 {axis = 1 : i32} : tensor<7xi32> -> tensor<7x1xi32>  %298 = tile.broadcast %297 : tensor<7x1xi32> -> tensor<7x8xi32>
      %299 = tile.range 0, 8 : tensor<8xi32>  %300 = tile.reshape %299 : tensor<8xi32> -> tensor<1x8xi32>
      %301 = tile.broadcast %300 : tensor<1x8xi32> -> tensor<7x8xi32>  %302 = tile.splat %arg17 : i32 -> tensor<7x8xi32>
      %303 = arith.muli %301, %302 : tensor<7x8xi32>  %304 = arith.addi %298, %303 : tensor<7x8xi32>
      %305 = tile.splat %arg16 : !tile.ptr<f32> -> tensor<7x8x!tile.ptr<f32>>  %306 = tile.addptr %305, %304 : tensor<7x8x!tile.ptr<f32>>, tensor<7x8xi32>
      %307 = tile.load %306 : tensor<7x8x!tile.ptr<f32>>
      scf.yield %arg45, %307, %21 : tensor<12xf32>, tensor<7x8xf32>, tensor<24xf32>
    }
    %41 = arith.extf %40#1 : tensor<7x8xf32> to tensor<7x8xf64>  %c12_i32_1 = arith.constant 12 : i32
    %42 = arith.muli %7, %c12_i32_1 : i32  %43 = tile.range 0, 12 : tensor<12xi32>
    %44 = tile.hint %43 {contiguity = array<i64: 12>} : tensor<12xi32>  %45 = tile.splat %arg18 : !tile.ptr<f32> -> tensor<12x!tile.ptr<f32>>
    %46 = tile.splat %42 : i32 -> tensor<12xi32>  %47 = arith.addi %46, %44 : tensor<12xi32>
    %48 = tile.addptr %45, %47 : tensor<12x!tile.ptr<f32>>, tensor<12xi32>
    tile.store %48, %40#0 : tensor<12x!tile.ptr<f32>>
    %c56_i32 = arith.constant 56 : i32  %49 = arith.muli %7, %c56_i32 : i32
    %50 = tile.hint %49 : i32  %c1_i32_2 = arith.constant 1 : i32
    %c-1_i32 = arith.constant -1 : i32  %51 = arith.cmpi eq, %7, %7 : i32
    %52 = scf.if %51 -> (!tile.ptr<f16>) {
      %257 = tile.addptr %arg19, %c1_i32_2 : !tile.ptr<f16>, i32  %258 = tile.addptr %257, %c-1_i32 : !tile.ptr<f16>, i32
      scf.yield %258 : !tile.ptr<f16>
    } else {
      scf.yield %arg19 : !tile.ptr<f16>
    }
    %53 = tile.range 0, 7 : tensor<7xi32>  %54 = arith.extsi %53 : tensor<7xi32> to tensor<7xi64>
    %55 = tile.hint %54 : tensor<7xi64>  %c8_i64 = arith.constant 8 : i64
    %56 = tile.splat %c8_i64 : i64 -> tensor<7xi64>  %57 = arith.muli %55, %56 : tensor<7xi64>
    %58 = tile.reshape %57 : tensor<7xi64> -> tensor<7x1xi64>  %59 = tile.broadcast %58 : tensor<7x1xi64> -> tensor<7x8xi64>
    %60 = tile.range 0, 8 : tensor<8xi32>  %61 = arith.extsi %60 : tensor<8xi32> to tensor<8xi64>
    %62 = tile.expand_dims %61 {axis = 0 : i32} : tensor<8xi64> -> tensor<1x8xi64>  %63 = tile.broadcast %62 : tensor<1x8xi64> -> tensor<7x8xi64>
    %64 = arith.addi %59, %63 : tensor<7x8xi64>  %65 = tile.splat %52 : !tile.ptr<f16> -> tensor<7x8x!tile.ptr<f16>>
    %66 = tile.addptr %65, %64 : tensor<7x8x!tile.ptr<f16>>, tensor<7x8xi64>  %67 = tile.splat %50 : i32 -> tensor<7x8xi32>
    %68 = tile.addptr %66, %67 : tensor<7x8x!tile.ptr<f16>>, tensor<7x8xi32>  %69 = tile.range 0, 7 : tensor<7xi32>
    %70 = tile.splat %arg20 : i32 -> tensor<7xi32>  %71 = arith.cmpi ult, %69, %70 : tensor<7xi32>
    %72 = tile.expand_dims %71 {axis = 1 : i32} : tensor<7xi1> -> tensor<7x1xi1>  %73 = tile.broadcast %72 : tensor<7x1xi1> -> tensor<7x8xi1>
    %74 = tile.range 0, 8 : tensor<8xi32>  %75 = tile.splat %arg21 : i32 -> tensor<8xi32>
    %76 = arith.cmpi slt, %74, %75 : tensor<8xi32>  %77 = tile.expand_dims %76 {axis = 0 : i32} : tensor<8xi1> -> tensor<1x8xi1>
    %78 = tile.broadcast %77 : tensor<1x8xi1> -> tensor<7x8xi1>  %79 = arith.andi %73, %78 : tensor<7x8xi1>
    %80 = tile.load %68, %79 {isVolatile} : tensor<7x8x!tile.ptr<f16>>  %81 = arith.addf %80, %80 : tensor<7x8xf16>
    %82 = arith.sitofp %7 : i32 to f64  %cst_3 = arith.constant 7.4505805969238281E-9 : f64
    %83 = arith.mulf %82, %cst_3 : f64  %84 = tile.splat %83 : f64 -> tensor<255xf64>
    %85 = arith.addf %84, %84 : tensor<255xf64>  %86 = tile.expand_dims %40#1 {axis = 2 : i32} : tensor<7x8xf32> -> tensor<7x8x1xf32>
    %87 = tile.load %arg22 {evict = 1 : i32} : !tile.ptr<i32>  %c0_i32 = arith.constant 0 : i32
    %c128_i32 = arith.constant 128 : i32  %c8192_i32 = arith.constant 8192 : i32
    %88 = arith.muli %7, %c8192_i32 : i32  %c0_i32_4 = arith.constant 0 : i32
    %89 = tile.addptr %arg25, %88 : !tile.ptr<f16>, i32  %cst_5 = arith.constant dense<0.000000e+00> : tensor<64x16xf32>
    %90:2 = scf.for %arg44 = %c0_i32 to %arg23 step %c128_i32 iter_args(%arg45 = %89, %arg46 = %cst_5) -> (!tile.ptr<f16>, tensor<64x16xf32>)  : i32 {
      %257 = arith.subi %arg44, %c0_i32 : i32  %258 = arith.divsi %257, %c128_i32 : i32
      %c64_i32 = arith.constant 64 : i32  %259 = arith.muli %arg44, %c64_i32 : i32
      %260 = tile.range 0, 128 : tensor<128xi32>  %261 = arith.extsi %260 : tensor<128xi32> to tensor<128xi64>
      %c64_i64_24 = arith.constant 64 : i64  %262 = tile.expand_dims %261 {axis = 1 : i32} : tensor<128xi64> -> tensor<128x1xi64>
      %263 = tile.broadcast %262 : tensor<128x1xi64> -> tensor<128x64xi64>  %264 = tile.splat %c64_i64_24 : i64 -> tensor<128x64xi64>
      %265 = arith.muli %263, %264 : tensor<128x64xi64>  %266 = tile.range 0, 64 : tensor<64xi32>
      %267 = arith.extsi %266 : tensor<64xi32> to tensor<64xi64>  %268 = tile.expand_dims %267 {axis = 0 : i32} : tensor<64xi64> -> tensor<1x64xi64>
      %269 = tile.broadcast %268 : tensor<1x64xi64> -> tensor<128x64xi64>  %270 = arith.addi %265, %269 : tensor<128x64xi64>
      %271 = tile.splat %arg24 : !tile.ptr<f32> -> tensor<128x64x!tile.ptr<f32>>  %272 = tile.addptr %271, %270 : tensor<128x64x!tile.ptr<f32>>, tensor<128x64xi64>
      %273 = tile.splat %259 : i32 -> tensor<128x64xi32>  %274 = tile.addptr %272, %273 : tensor<128x64x!tile.ptr<f32>>, tensor<128x64xi32>
      %275 = tile.range 0, 128 : tensor<128xi32>  %c400_i32 = arith.constant 400 : i32
      %276 = tile.splat %arg44 : i32 -> tensor<128xi32>  %277 = arith.addi %275, %276 : tensor<128xi32>
      %278 = tile.splat %c400_i32 : i32 -> tensor<128xi32>  %279 = arith.cmpi slt, %277, %278 : tensor<128xi32>
      %280 = tile.expand_dims %279 {axis = 1 : i32} : tensor<128xi1> -> tensor<128x1xi1>  %281 = tile.broadcast %280 : tensor<128x1xi1> -> tensor<128x64xi1>
      %cst_25 = arith.constant dense<0.000000e+00> : tensor<128x64xf32>  %282 = tile.load %274, %281, %cst_25 : tensor<128x64x!tile.ptr<f32>>
      %283 = tile.transpose %282 {order = array<i32: 1, 0>} : tensor<128x64xf32> -> tensor<64x128xf32>  %cst_26 = arith.constant dense<5.000000e-01> : tensor<64x128xf32>
      %284 = arith.mulf %283, %cst_26 : tensor<64x128xf32>  %285 = arith.truncf %284 : tensor<64x128xf32> to tensor<64x128xf16>
      %286 = tile.range 0, 16 : tensor<16xi32>  %287 = arith.extsi %286 : tensor<16xi32> to tensor<16xi64>
      %c1_i64_27 = arith.constant 1 : i64  %288 = tile.splat %c1_i64_27 : i64 -> tensor<16xi64>
      %289 = arith.muli %287, %288 : tensor<16xi64>  %290 = tile.expand_dims %289 {axis = 1 : i32} : tensor<16xi64> -> tensor<16x1xi64>
      %291 = tile.broadcast %290 : tensor<16x1xi64> -> tensor<16x128xi64>  %292 = tile.range 0, 128 : tensor<128xi32>
      %293 = arith.extsi %292 : tensor<128xi32> to tensor<128xi64>  %c16_i64_28 = arith.constant 16 : i64
      %294 = tile.splat %c16_i64_28 : i64 -> tensor<128xi64>  %295 = arith.muli %293, %294 : tensor<128xi64>
      %296 = tile.expand_dims %295 {axis = 0 : i32} : tensor<128xi64> -> tensor<1x128xi64>  %297 = tile.broadcast %296 : tensor<1x128xi64> -> tensor<16x128xi64>
      %298 = arith.addi %291, %297 : tensor<16x128xi64>  %299 = tile.splat %arg45 : !tile.ptr<f16> -> tensor<16x128x!tile.ptr<f16>>
      %300 = tile.addptr %299, %298 : tensor<16x128x!tile.ptr<f16>>, tensor<16x128xi64>  %301 = tile.range 0, 16 : tensor<16xi32>
      %c16_i32_29 = arith.constant 16 : i32  %302 = tile.splat %c16_i32_29 : i32 -> tensor<16xi32>
      %303 = arith.cmpi slt, %301, %302 : tensor<16xi32>  %304 = tile.expand_dims %303 {axis = 1 : i32} : tensor<16xi1> -> tensor<16x1xi1>
      %305 = tile.broadcast %304 : tensor<16x1xi1> -> tensor<16x128xi1>  %cst_30 = arith.constant dense<0.000000e+00> : tensor<16x128xf16>
      %306 = tile.load %300, %305, %cst_30 : tensor<16x128x!tile.ptr<f16>>  %307 = tile.transpose %306 {order = array<i32: 1, 0>} : tensor<16x128xf16> -> tensor<128x16xf16>
      %308 = tile.dot %285, %307, %arg46 : tensor<64x128xf16>, tensor<128x16xf16>, tensor<64x16xf32>  %c2048_i32_31 = arith.constant 2048 : i32
      %309 = tile.addptr %arg45, %c2048_i32_31 : !tile.ptr<f16>, i32
      scf.yield %309, %308 : !tile.ptr<f16>, tensor<64x16xf32>
    }
    %cst_6 = arith.constant dense<9.765625E-4> : tensor<64x16xf32>  %91 = arith.mulf %90#1, %cst_6 : tensor<64x16xf32>
    %c0_i32_7 = arith.constant 0 : i32  %c3_i32 = arith.constant 3 : i32
    %c16_i32 = arith.constant 16 : i32  %c2048_i32 = arith.constant 2048 : i32
    %92 = arith.muli %7, %c2048_i32 : i32  %c0_i32_8 = arith.constant 0 : i32
    %c1_i32_9 = arith.constant 1 : i32  %c-1_i32_10 = arith.constant -1 : i32
    %93 = arith.cmpi ne, %87, %87 : i32
    %94 = scf.if %93 -> (!tile.ptr<bf16>) {
      %257 = tile.addptr %arg26, %c1_i32_9 : !tile.ptr<bf16>, i32  %258 = tile.addptr %257, %c-1_i32_10 : !tile.ptr<bf16>, i32
      scf.yield %258 : !tile.ptr<bf16>
    } else {
      scf.yield %arg26 : !tile.ptr<bf16>
    }
    %95 = tile.range 0, 16 : tensor<16xi32>  %96 = tile.reshape %95 : tensor<16xi32> -> tensor<16x1xi32>
    %97 = tile.broadcast %96 : tensor<16x1xi32> -> tensor<16x128xi32>  %98 = tile.splat %arg27 : i32 -> tensor<16x128xi32>
    %99 = arith.muli %97, %98 : tensor<16x128xi32>  %100 = tile.range 0, 128 : tensor<128xi32>
    %101 = tile.expand_dims %100 {axis = 0 : i32} : tensor<128xi32> -> tensor<1x128xi32>  %102 = tile.broadcast %101 : tensor<1x128xi32> -> tensor<16x128xi32>
    %103 = arith.addi %99, %102 : tensor<16x128xi32>  %104 = tile.splat %94 : !tile.ptr<bf16> -> tensor<16x128x!tile.ptr<bf16>>
    %105 = tile.splat %92 : i32 -> tensor<16x128xi32>  %106 = arith.addi %105, %103 : tensor<16x128xi32>
    %107 = tile.addptr %104, %106 : tensor<16x128x!tile.ptr<bf16>>, tensor<16x128xi32>  %108 = tile.ptr_to_int %arg28 : !tile.ptr<bf16> -> i64
    %109 = tile.int_to_ptr %108 : i64 -> !tile.ptr<bf16>  %110 = tile.range 0, 16 : tensor<16xi32>
    %111 = tile.expand_dims %110 {axis = 1 : i32} : tensor<16xi32> -> tensor<16x1xi32>  %112 = tile.broadcast %111 : tensor<16x1xi32> -> tensor<16x128xi32>
    %113 = tile.splat %arg29 : i32 -> tensor<16x128xi32>  %114 = arith.muli %112, %113 : tensor<16x128xi32>
    %115 = tile.range 0, 128 : tensor<128xi32>  %116 = tile.expand_dims %115 {axis = 0 : i32} : tensor<128xi32> -> tensor<1x128xi32>
    %117 = tile.broadcast %116 : tensor<1x128xi32> -> tensor<16x128xi32>  %118 = arith.addi %114, %117 : tensor<16x128xi32>
    %119 = tile.splat %109 : !tile.ptr<bf16> -> tensor<16x128x!tile.ptr<bf16>>  %120 = tile.addptr %119, %118 : tensor<16x128x!tile.ptr<bf16>>, tensor<16x128xi32>
    %121 = arith.sitofp %87 : i32 to bf16  %cst_11 = arith.constant 7.450580e-09 : bf16
    %122 = arith.mulf %121, %cst_11 : bf16  %123 = tile.splat %122 : bf16 -> tensor<128x16xbf16>
    %cst_12 = arith.constant dense<2.500000e-01> : tensor<128x16xbf16>  %124 = arith.mulf %123, %cst_12 : tensor<128x16xbf16>
    %cst_13 = arith.constant dense<0.000000e+00> : tensor<128x128xf32>
    %125:2 = scf.for %arg44 = %c0_i32_7 to %c3_i32 step %c16_i32 iter_args(%arg45 = %107, %arg46 = %cst_13) -> (tensor<16x128x!tile.ptr<bf16>>, tensor<128x128xf32>)  : i32 {
      %257 = arith.subi %arg44, %c0_i32_7 : i32  %258 = arith.divsi %257, %c16_i32 : i32
      %c16_i32_24 = arith.constant 16 : i32  %259 = arith.muli %arg44, %arg30 : i32
      %260 = tile.splat %259 : i32 -> tensor<16x128xi32>  %261 = tile.addptr %120, %260 : tensor<16x128x!tile.ptr<bf16>>, tensor<16x128xi32>
      %262 = tile.range 0, 16 : tensor<16xi32>  %c9_i32 = arith.constant 9 : i32
      %263 = arith.subi %arg31, %arg44 : i32  %264 = tile.splat %263 : i32 -> tensor<16xi32>
      %265 = arith.cmpi slt, %262, %264 : tensor<16xi32>  %266 = tile.expand_dims %265 {axis = 1 : i32} : tensor<16xi1> -> tensor<16x1xi1>
      %267 = tile.broadcast %266 : tensor<16x1xi1> -> tensor<16x128xi1>  %268 = tile.range 0, 128 : tensor<128xi32>
      %c16_i32_25 = arith.constant 16 : i32  %269 = tile.splat %arg32 : i32 -> tensor<128xi32>
      %270 = arith.cmpi slt, %268, %269 : tensor<128xi32>  %271 = tile.reshape %270 : tensor<128xi1> -> tensor<1x128xi1>
      %272 = tile.broadcast %271 : tensor<1x128xi1> -> tensor<16x128xi1>  %273 = arith.andi %267, %272 : tensor<16x128xi1>
      %cst_26 = arith.constant dense<0.000000e+00> : tensor<16x128xbf16>  %274 = tile.load %261, %273, %cst_26 : tensor<16x128x!tile.ptr<bf16>>
      %275 = tile.dot %124, %274, %arg46 : tensor<128x16xbf16>, tensor<16x128xbf16>, tensor<128x128xf32>  %c2048_i32_27 = arith.constant 2048 : i32
      %276 = tile.splat %c2048_i32_27 : i32 -> tensor<16x128xi32>  %277 = tile.addptr %arg45, %276 : tensor<16x128x!tile.ptr<bf16>>, tensor<16x128xi32>
      scf.yield %277, %275 : tensor<16x128x!tile.ptr<bf16>>, tensor<128x128xf32>
    } {tile.num_stages = 0 : i32}
    %c16384_i32 = arith.constant 16384 : i32  %126 = arith.muli %7, %c16384_i32 : i32
    %127 = tile.range 0, 128 : tensor<128xi32>  %128 = arith.extsi %127 : tensor<128xi32> to tensor<128xi64>
    %c128_i64 = arith.constant 128 : i64  %129 = tile.expand_dims %128 {axis = 1 : i32} : tensor<128xi64> -> tensor<128x1xi64>
    %130 = tile.broadcast %129 : tensor<128x1xi64> -> tensor<128x128xi64>  %131 = tile.splat %c128_i64 : i64 -> tensor<128x128xi64>
    %132 = arith.muli %130, %131 : tensor<128x128xi64>  %133 = tile.range 0, 128 : tensor<128xi32>
    %134 = arith.extsi %133 : tensor<128xi32> to tensor<128xi64>  %135 = tile.expand_dims %134 {axis = 0 : i32} : tensor<128xi64> -> tensor<1x128xi64>
    %136 = tile.broadcast %135 : tensor<1x128xi64> -> tensor<128x128xi64>  %137 = arith.addi %132, %136 : tensor<128x128xi64>
    %138 = tile.addptr %arg33, %126 : !tile.ptr<f32>, i32  %139 = tile.splat %138 : !tile.ptr<f32> -> tensor<128x128x!tile.ptr<f32>>
    %140 = tile.addptr %139, %137 : tensor<128x128x!tile.ptr<f32>>, tensor<128x128xi64>
    tile.store %140, %125#1 : tensor<128x128x!tile.ptr<f32>>
    %c0_i64 = arith.constant 0 : i64  %141 = arith.extsi %arg34 : i32 to i64
    %c64_i64 = arith.constant 64 : i64  %c3152_i32 = arith.constant 3152 : i32
    %142 = arith.muli %7, %c3152_i32 : i32  %c0_i32_14 = arith.constant 0 : i32
    %143 = tile.range 0, 16 : tensor<16xi32>  %144 = tile.splat %arg36 : i32 -> tensor<16xi32>
    %145 = arith.muli %143, %144 : tensor<16xi32>  %146 = tile.reshape %145 : tensor<16xi32> -> tensor<16x1xi32>
    %147 = tile.broadcast %146 : tensor<16x1xi32> -> tensor<16x64xi32>  %148 = tile.range 0, 64 : tensor<64xi32>
    %149 = tile.hint %148 {contiguity = array<i64: 64>, divisibility = array<i64: 16>} : tensor<64xi32>  %150 = tile.expand_dims %149 {axis = 0 : i32} : tensor<64xi32> -> tensor<1x64xi32>
    %151 = tile.broadcast %150 : tensor<1x64xi32> -> tensor<16x64xi32>  %152 = arith.addi %147, %151 : tensor<16x64xi32>
    %153 = tile.addptr %arg35, %142 : !tile.ptr<i8>, i32  %154 = tile.splat %153 : !tile.ptr<i8> -> tensor<16x64x!tile.ptr<i8>>
    %155 = tile.addptr %154, %152 : tensor<16x64x!tile.ptr<i8>>, tensor<16x64xi32>  %cst_15 = arith.constant dense<0> : tensor<16x64xi8>
    %156:2 = scf.for %arg44 = %c0_i64 to %141 step %c64_i64 iter_args(%arg45 = %155, %arg46 = %cst_15) -> (tensor<16x64x!tile.ptr<i8>>, tensor<16x64xi8>)  : i64 {
      %257 = arith.subi %arg44, %c0_i64 : i64  %258 = arith.divsi %257, %c64_i64 : i64
      %259 = arith.trunci %258 : i64 to i32  %260 = tile.range 0, 64 : tensor<64xi32>
      %261 = arith.extsi %260 : tensor<64xi32> to tensor<64xi64>  %c197_i64 = arith.constant 197 : i64
      %262 = arith.subi %c197_i64, %arg44 : i64  %263 = tile.splat %262 : i64 -> tensor<64xi64>
      %264 = arith.cmpi slt, %261, %263 : tensor<64xi64>  %265 = tile.expand_dims %264 {axis = 0 : i32} : tensor<64xi1> -> tensor<1x64xi1>
      %266 = tile.broadcast %265 : tensor<1x64xi1> -> tensor<16x64xi1>  %267 = tile.load %arg45, %266 : tensor<16x64x!tile.ptr<i8>>
      %cst_24 = arith.constant dense<1> : tensor<16x64xi8>  %268 = arith.addi %267, %cst_24 : tensor<16x64xi8>
      tile.store %arg45, %268, %266 : tensor<16x64x!tile.ptr<i8>>
      %269 = arith.addi %arg46, %267 : tensor<16x64xi8>  %c64_i32 = arith.constant 64 : i32
      %270 = tile.splat %c64_i32 : i32 -> tensor<16x64xi32>  %271 = tile.addptr %arg45, %270 : tensor<16x64x!tile.ptr<i8>>, tensor<16x64xi32>
      scf.yield %271, %269 : tensor<16x64x!tile.ptr<i8>>, tensor<16x64xi8>
    } {tile.num_stages = 2 : i32}
    %c56_i32_16 = arith.constant 56 : i32  %157 = arith.muli %7, %c56_i32_16 : i32
    %158 = tile.hint %157 {divisibility = array<i64: 56>} : i32  %159 = tile.range 0, 7 : tensor<7xi32>
    %c8_i32_17 = arith.constant 8 : i32  %160 = tile.expand_dims %159 {axis = 1 : i32} : tensor<7xi32> -> tensor<7x1xi32>
    %161 = tile.broadcast %160 : tensor<7x1xi32> -> tensor<7x8xi32>  %162 = tile.splat %c8_i32_17 : i32 -> tensor<7x8xi32>
    %163 = arith.muli %161, %162 : tensor<7x8xi32>  %164 = tile.range 0, 8 : tensor<8xi32>
    %165 = tile.hint %164 : tensor<8xi32>  %166 = tile.expand_dims %165 {axis = 0 : i32} : tensor<8xi32> -> tensor<1x8xi32>
    %167 = tile.broadcast %166 : tensor<1x8xi32> -> tensor<7x8xi32>  %168 = arith.addi %163, %167 : tensor<7x8xi32>
    %169 = tile.splat %arg37 : !tile.ptr<f32> -> tensor<7x8x!tile.ptr<f32>>  %170 = tile.splat %158 : i32 -> tensor<7x8xi32>
    %171 = arith.addi %170, %168 : tensor<7x8xi32>  %172 = tile.addptr %169, %171 : tensor<7x8x!tile.ptr<f32>>, tensor<7x8xi32>
    %173 = tile.range 0, 7 : tensor<7xi32>  %174 = arith.extsi %173 : tensor<7xi32> to tensor<7xi64>
    %c8_i64_18 = arith.constant 8 : i64  %175 = tile.splat %c8_i64_18 : i64 -> tensor<7xi64>
    %176 = arith.muli %174, %175 : tensor<7xi64>  %177 = tile.reshape %176 : tensor<7xi64> -> tensor<7x1xi64>
    %178 = tile.broadcast %177 : tensor<7x1xi64> -> tensor<7x8xi64>  %179 = tile.range 0, 8 : tensor<8xi32>
    %180 = arith.extsi %179 : tensor<8xi32> to tensor<8xi64>  %181 = tile.expand_dims %180 {axis = 0 : i32} : tensor<8xi64> -> tensor<1x8xi64>
    %182 = tile.broadcast %181 : tensor<1x8xi64> -> tensor<7x8xi64>  %183 = arith.addi %178, %182 : tensor<7x8xi64>
    %184 = tile.splat %arg38 : !tile.ptr<i32> -> tensor<7x8x!tile.ptr<i32>>  %185 = tile.addptr %184, %183 : tensor<7x8x!tile.ptr<i32>>, tensor<7x8xi64>
    %186 = tile.load %185 : tensor<7x8x!tile.ptr<i32>>  %cst_19 = arith.constant dense<-222221885> : tensor<7x8xi32>
    %187 = arith.cmpi slt, %186, %cst_19 : tensor<7x8xi32>
    tile.store %172, %39, %187 : tensor<7x8x!tile.ptr<f32>>
    %c1024_i32 = arith.constant 1024 : i32  %188 = arith.muli %7, %c1024_i32 : i32
    %189 = tile.range 0, 64 : tensor<64xi32>  %190 = arith.extsi %189 : tensor<64xi32> to tensor<64xi64>
    %c16_i64 = arith.constant 16 : i64  %191 = tile.splat %c16_i64 : i64 -> tensor<64xi64>
    %192 = arith.muli %190, %191 : tensor<64xi64>  %193 = tile.expand_dims %192 {axis = 1 : i32} : tensor<64xi64> -> tensor<64x1xi64>
    %194 = tile.broadcast %193 : tensor<64x1xi64> -> tensor<64x16xi64>  %195 = tile.range 0, 16 : tensor<16xi32>
    %196 = arith.extsi %195 : tensor<16xi32> to tensor<16xi64>  %197 = tile.expand_dims %196 {axis = 0 : i32} : tensor<16xi64> -> tensor<1x16xi64>
    %198 = tile.broadcast %197 : tensor<1x16xi64> -> tensor<64x16xi64>  %199 = arith.addi %194, %198 : tensor<64x16xi64>
    %200 = tile.splat %arg39 : !tile.ptr<f32> -> tensor<64x16x!tile.ptr<f32>>  %201 = tile.addptr %200, %199 : tensor<64x16x!tile.ptr<f32>>, tensor<64x16xi64>
    %202 = tile.splat %188 : i32 -> tensor<64x16xi32>  %203 = tile.addptr %201, %202 : tensor<64x16x!tile.ptr<f32>>, tensor<64x16xi32>
    %204 = tile.splat %87 : i32 -> tensor<64x16xi32>  %cst_20 = arith.constant dense<0> : tensor<64x16xi32>
    %205 = arith.cmpi slt, %204, %cst_20 : tensor<64x16xi32>
    tile.store %203, %91, %205 : tensor<64x16x!tile.ptr<f32>>
    tile.barrier
    %206 = tile.load %203 : tensor<64x16x!tile.ptr<f32>>  %c166_i32 = arith.constant 166 : i32
    %207 = arith.muli %7, %c166_i32 : i32  %208 = tile.range 0, 7 : tensor<7xi32>
    %209 = tile.hint %208 {contiguity = array<i64: 7>, divisibility = array<i64: 16>} : tensor<7xi32>  %c24_i32 = arith.constant 24 : i32
    %210 = tile.expand_dims %209 {axis = 1 : i32} : tensor<7xi32> -> tensor<7x1xi32>  %211 = tile.expand_dims %210 {axis = 2 : i32} : tensor<7x1xi32> -> tensor<7x1x1xi32>
    %212 = tile.broadcast %211 : tensor<7x1x1xi32> -> tensor<7x8x1xi32>  %213 = tile.splat %c24_i32 : i32 -> tensor<7x8x1xi32>
    %214 = arith.muli %212, %213 : tensor<7x8x1xi32>  %215 = tile.range 0, 8 : tensor<8xi32>
    %c3_i32_21 = arith.constant 3 : i32  %216 = tile.splat %c3_i32_21 : i32 -> tensor<8xi32>
    %217 = arith.muli %215, %216 : tensor<8xi32>  %218 = tile.expand_dims %217 {axis = 0 : i32} : tensor<8xi32> -> tensor<1x8xi32>
    %219 = tile.expand_dims %218 {axis = 2 : i32} : tensor<1x8xi32> -> tensor<1x8x1xi32>  %220 = tile.broadcast %219 : tensor<1x8x1xi32> -> tensor<7x8x1xi32>
    %221 = arith.addi %214, %220 : tensor<7x8x1xi32>  %222 = tile.range 0, 1 : tensor<1xi32>
    %c1_i32_22 = arith.constant 1 : i32  %223 = tile.reshape %222 : tensor<1xi32> -> tensor<1x1x1xi32>
    %224 = tile.broadcast %223 : tensor<1x1x1xi32> -> tensor<7x8x1xi32>  %225 = tile.splat %c1_i32_22 : i32 -> tensor<7x8x1xi32>
    %226 = arith.muli %224, %225 : tensor<7x8x1xi32>  %227 = arith.addi %221, %226 : tensor<7x8x1xi32>
    %228 = tile.splat %arg40 : !tile.ptr<f32> -> tensor<7x8x1x!tile.ptr<f32>>  %229 = tile.splat %207 : i32 -> tensor<7x8x1xi32>
    %230 = arith.addi %229, %227 : tensor<7x8x1xi32>  %231 = tile.addptr %228, %230 : tensor<7x8x1x!tile.ptr<f32>>, tensor<7x8x1xi32>
    tile.store %231, %86 : tensor<7x8x1x!tile.ptr<f32>>
    %c56_i32_23 = arith.constant 56 : i32  %232 = arith.muli %7, %c56_i32_23 : i32
    %233 = tile.range 0, 7 : tensor<7xi32>  %234 = tile.expand_dims %233 {axis = 1 : i32} : tensor<7xi32> -> tensor<7x1xi32>
    %235 = tile.broadcast %234 : tensor<7x1xi32> -> tensor<7x8xi32>  %236 = tile.range 0, 8 : tensor<8xi32>
    %c7_i32 = arith.constant 7 : i32  %237 = tile.splat %c7_i32 : i32 -> tensor<8xi32>
    %238 = arith.muli %236, %237 : tensor<8xi32>  %239 = tile.expand_dims %238 {axis = 0 : i32} : tensor<8xi32> -> tensor<1x8xi32>
    %240 = tile.broadcast %239 : tensor<1x8xi32> -> tensor<7x8xi32>  %241 = arith.addi %235, %240 : tensor<7x8xi32>
    %242 = tile.splat %arg41 : !tile.ptr<f16> -> tensor<7x8x!tile.ptr<f16>>  %243 = tile.splat %232 : i32 -> tensor<7x8xi32>
    %244 = arith.addi %243, %241 : tensor<7x8xi32>  %245 = tile.addptr %242, %244 : tensor<7x8x!tile.ptr<f16>>, tensor<7x8xi32>
    %246 = tile.range 0, 7 : tensor<7xi32>  %247 = tile.splat %arg42 : i32 -> tensor<7xi32>
    %248 = arith.cmpi slt, %246, %247 : tensor<7xi32>  %249 = tile.expand_dims %248 {axis = 1 : i32} : tensor<7xi1> -> tensor<7x1xi1>
    %250 = tile.broadcast %249 : tensor<7x1xi1> -> tensor<7x8xi1>  %251 = tile.range 0, 8 : tensor<8xi32>
    %252 = tile.splat %arg43 : i32 -> tensor<8xi32>  %253 = arith.cmpi slt, %251, %252 : tensor<8xi32>
    %254 = tile.reshape %253 : tensor<8xi1> -> tensor<1x8xi1>  %255 = tile.broadcast %254 : tensor<1x8xi1> -> tensor<7x8xi1>
    %256 = arith.andi %250, %255 : tensor<7x8xi1>
    tile.store %245, %81, %256 : tensor<7x8x!tile.ptr<f16>>
    return
  }
}
