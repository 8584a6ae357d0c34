// Schedules that cannot be expanded.
// RUN: nereid-opt %s --split-input-file --verify-diagnostics --pass-pipeline='builtin.module(tile-to-tilegpu{target=sm_90 warps=4},func.func(tilegpu-expand-loops))'

func.func @nothing_ahead(%x: !tile.ptr<f32> {tile.divisibility = 16 : i32}, %y: !tile.ptr<f32> {tile.divisibility = 16 : i32}, %n: i32) attributes {tile.kernel} {
  %c0 = arith.constant 0 : i32
  %c512 = arith.constant 512 : i32
  %zero = arith.constant dense<0.0> : tensor<512xf32>
  %i = tile.range 0, 512 : tensor<512xi32>
  %xp = tile.splat %x : !tile.ptr<f32> -> tensor<512x!tile.ptr<f32>>
  %yp = tile.splat %y : !tile.ptr<f32> -> tensor<512x!tile.ptr<f32>>
  // expected-error @+1 {{has a schedule in which nothing is copied ahead}}
  %r = scf.for %k = %c0 to %n step %c512 iter_args(%sum = %zero) -> (tensor<512xf32>) : i32 {
    %ks = tile.splat %k {tilegpu.schedule = #tilegpu.schedule<stages = [2], orders = [0]>} : i32 -> tensor<512xi32>
    %o = arith.addi %ks, %i {tilegpu.schedule = #tilegpu.schedule<stages = [2], orders = [0]>} : tensor<512xi32>
    %xq = tile.addptr %xp, %o {tilegpu.schedule = #tilegpu.schedule<stages = [2], orders = [0]>} : tensor<512x!tile.ptr<f32>>, tensor<512xi32>
    %a = tile.load %xq {tilegpu.schedule = #tilegpu.schedule<stages = [2], orders = [1]>} : tensor<512x!tile.ptr<f32>>
    %s = arith.addf %sum, %a {tilegpu.schedule = #tilegpu.schedule<stages = [2], orders = [2]>} : tensor<512xf32>
    scf.yield %s : tensor<512xf32>
  } {tilegpu.slots = 3 : i32}
  tile.store %yp, %r : tensor<512x!tile.ptr<f32>>
  return
}

// -----

func.func @not_ahead(%x: !tile.ptr<f32> {tile.divisibility = 16 : i32}, %y: !tile.ptr<f32> {tile.divisibility = 16 : i32}, %n: i32) attributes {tile.kernel} {
  %c0 = arith.constant 0 : i32
  %c512 = arith.constant 512 : i32
  %zero = arith.constant dense<0.0> : tensor<512xf32>
  %i = tile.range 0, 512 : tensor<512xi32>
  %xp = tile.splat %x : !tile.ptr<f32> -> tensor<512x!tile.ptr<f32>>
  %yp = tile.splat %y : !tile.ptr<f32> -> tensor<512x!tile.ptr<f32>>
  %r = scf.for %k = %c0 to %n step %c512 iter_args(%sum = %zero) -> (tensor<512xf32>) : i32 {
    %ks = tile.splat %k {tilegpu.schedule = #tilegpu.schedule<stages = [2], orders = [0]>} : i32 -> tensor<512xi32>
    %o = arith.addi %ks, %i {tilegpu.schedule = #tilegpu.schedule<stages = [2], orders = [0]>} : tensor<512xi32>
    %xq = tile.addptr %xp, %o {tilegpu.schedule = #tilegpu.schedule<stages = [2], orders = [0]>} : tensor<512x!tile.ptr<f32>>, tensor<512xi32>
    // expected-error @+1 {{is copied ahead; expected one stage, below 2}}
    %a = tile.load %xq {tilegpu.schedule = #tilegpu.schedule<stages = [2], orders = [1], done = [2, 2]>} : tensor<512x!tile.ptr<f32>>
    %s = arith.addf %sum, %a {tilegpu.schedule = #tilegpu.schedule<stages = [2], orders = [2]>} : tensor<512xf32>
    scf.yield %s : tensor<512xf32>
  } {tilegpu.slots = 3 : i32}
  tile.store %yp, %r : tensor<512x!tile.ptr<f32>>
  return
}

// -----

func.func @done_early(%x: !tile.ptr<f32> {tile.divisibility = 16 : i32}, %y: !tile.ptr<f32> {tile.divisibility = 16 : i32}, %n: i32) attributes {tile.kernel} {
  %c0 = arith.constant 0 : i32
  %c512 = arith.constant 512 : i32
  %zero = arith.constant dense<0.0> : tensor<512xf32>
  %i = tile.range 0, 512 : tensor<512xi32>
  %xp = tile.splat %x : !tile.ptr<f32> -> tensor<512x!tile.ptr<f32>>
  %yp = tile.splat %y : !tile.ptr<f32> -> tensor<512x!tile.ptr<f32>>
  %r = scf.for %k = %c0 to %n step %c512 iter_args(%sum = %zero) -> (tensor<512xf32>) : i32 {
    %ks = tile.splat %k {tilegpu.schedule = #tilegpu.schedule<stages = [0], orders = [0]>} : i32 -> tensor<512xi32>
    %o = arith.addi %ks, %i {tilegpu.schedule = #tilegpu.schedule<stages = [0], orders = [0]>} : tensor<512xi32>
    %xq = tile.addptr %xp, %o {tilegpu.schedule = #tilegpu.schedule<stages = [0], orders = [0]>} : tensor<512x!tile.ptr<f32>>, tensor<512xi32>
    // expected-error @+1 {{is done in stage 1; expected the last, 2}}
    %a = tile.load %xq {tilegpu.schedule = #tilegpu.schedule<stages = [0], orders = [1], done = [1, 2]>} : tensor<512x!tile.ptr<f32>>
    %s = arith.addf %sum, %a {tilegpu.schedule = #tilegpu.schedule<stages = [2], orders = [2]>} : tensor<512xf32>
    scf.yield %s : tensor<512xf32>
  } {tilegpu.slots = 3 : i32}
  tile.store %yp, %r : tensor<512x!tile.ptr<f32>>
  return
}

// -----

func.func @few_slots(%x: !tile.ptr<f32> {tile.divisibility = 16 : i32}, %y: !tile.ptr<f32> {tile.divisibility = 16 : i32}, %n: i32) attributes {tile.kernel} {
  %c0 = arith.constant 0 : i32
  %c512 = arith.constant 512 : i32
  %zero = arith.constant dense<0.0> : tensor<512xf32>
  %i = tile.range 0, 512 : tensor<512xi32>
  %xp = tile.splat %x : !tile.ptr<f32> -> tensor<512x!tile.ptr<f32>>
  %yp = tile.splat %y : !tile.ptr<f32> -> tensor<512x!tile.ptr<f32>>
  %r = scf.for %k = %c0 to %n step %c512 iter_args(%sum = %zero) -> (tensor<512xf32>) : i32 {
    %ks = tile.splat %k {tilegpu.schedule = #tilegpu.schedule<stages = [0], orders = [0]>} : i32 -> tensor<512xi32>
    %o = arith.addi %ks, %i {tilegpu.schedule = #tilegpu.schedule<stages = [0], orders = [0]>} : tensor<512xi32>
    %xq = tile.addptr %xp, %o {tilegpu.schedule = #tilegpu.schedule<stages = [0], orders = [0]>} : tensor<512x!tile.ptr<f32>>, tensor<512xi32>
    // expected-error @+1 {{has 2 slots; expected more than the 2 stages that it is ahead}}
    %a = tile.load %xq {tilegpu.schedule = #tilegpu.schedule<stages = [0], orders = [1], done = [2, 2]>} : tensor<512x!tile.ptr<f32>>
    %s = arith.addf %sum, %a {tilegpu.schedule = #tilegpu.schedule<stages = [2], orders = [2]>} : tensor<512xf32>
    scf.yield %s : tensor<512xf32>
  } {tilegpu.slots = 2 : i32}
  tile.store %yp, %r : tensor<512x!tile.ptr<f32>>
  return
}

// -----

func.func @no_address(%x: !tile.ptr<f32> {tile.divisibility = 16 : i32}, %y: !tile.ptr<f32> {tile.divisibility = 16 : i32}, %n: i32) attributes {tile.kernel} {
  %c0 = arith.constant 0 : i32
  %c512 = arith.constant 512 : i32
  %zero = arith.constant dense<0.0> : tensor<512xf32>
  %i = tile.range 0, 512 : tensor<512xi32>
  %xp = tile.splat %x : !tile.ptr<f32> -> tensor<512x!tile.ptr<f32>>
  %yp = tile.splat %y : !tile.ptr<f32> -> tensor<512x!tile.ptr<f32>>
  %r = scf.for %k = %c0 to %n step %c512 iter_args(%sum = %zero) -> (tensor<512xf32>) : i32 {
    %ks = tile.splat %k {tilegpu.schedule = #tilegpu.schedule<stages = [0], orders = [0]>} : i32 -> tensor<512xi32>
    // expected-error @+1 {{is needed in stage 0}}
    %o = arith.addi %ks, %i : tensor<512xi32>
    %xq = tile.addptr %xp, %o {tilegpu.schedule = #tilegpu.schedule<stages = [0], orders = [0]>} : tensor<512x!tile.ptr<f32>>, tensor<512xi32>
    %a = tile.load %xq {tilegpu.schedule = #tilegpu.schedule<stages = [0], orders = [1], done = [2, 2]>} : tensor<512x!tile.ptr<f32>>
    %s = arith.addf %sum, %a {tilegpu.schedule = #tilegpu.schedule<stages = [2], orders = [2]>} : tensor<512xf32>
    scf.yield %s : tensor<512xf32>
  } {tilegpu.slots = 3 : i32}
  tile.store %yp, %r : tensor<512x!tile.ptr<f32>>
  return
}

// -----

func.func @late_address(%x: !tile.ptr<f32> {tile.divisibility = 16 : i32}, %y: !tile.ptr<f32> {tile.divisibility = 16 : i32}, %n: i32) attributes {tile.kernel} {
  %c0 = arith.constant 0 : i32
  %c512 = arith.constant 512 : i32
  %zero = arith.constant dense<0.0> : tensor<512xf32>
  %i = tile.range 0, 512 : tensor<512xi32>
  %xp = tile.splat %x : !tile.ptr<f32> -> tensor<512x!tile.ptr<f32>>
  %yp = tile.splat %y : !tile.ptr<f32> -> tensor<512x!tile.ptr<f32>>
  %r = scf.for %k = %c0 to %n step %c512 iter_args(%sum = %zero) -> (tensor<512xf32>) : i32 {
    %ks = tile.splat %k {tilegpu.schedule = #tilegpu.schedule<stages = [0], orders = [0]>} : i32 -> tensor<512xi32>
    %o = arith.addi %ks, %i {tilegpu.schedule = #tilegpu.schedule<stages = [0], orders = [2]>} : tensor<512xi32>
    // expected-error @+1 {{runs in stage 0, order 0, before its operand 1 is there}}
    %xq = tile.addptr %xp, %o {tilegpu.schedule = #tilegpu.schedule<stages = [0], orders = [0]>} : tensor<512x!tile.ptr<f32>>, tensor<512xi32>
    %a = tile.load %xq {tilegpu.schedule = #tilegpu.schedule<stages = [0], orders = [1], done = [2, 2]>} : tensor<512x!tile.ptr<f32>>
    %s = arith.addf %sum, %a {tilegpu.schedule = #tilegpu.schedule<stages = [2], orders = [2]>} : tensor<512xf32>
    scf.yield %s : tensor<512xf32>
  } {tilegpu.slots = 3 : i32}
  tile.store %yp, %r : tensor<512x!tile.ptr<f32>>
  return
}

// -----

func.func @early_use(%x: !tile.ptr<f32> {tile.divisibility = 16 : i32}, %y: !tile.ptr<f32> {tile.divisibility = 16 : i32}, %n: i32) attributes {tile.kernel} {
  %c0 = arith.constant 0 : i32
  %c512 = arith.constant 512 : i32
  %zero = arith.constant dense<0.0> : tensor<512xf32>
  %i = tile.range 0, 512 : tensor<512xi32>
  %xp = tile.splat %x : !tile.ptr<f32> -> tensor<512x!tile.ptr<f32>>
  %yp = tile.splat %y : !tile.ptr<f32> -> tensor<512x!tile.ptr<f32>>
  %r = scf.for %k = %c0 to %n step %c512 iter_args(%sum = %zero) -> (tensor<512xf32>) : i32 {
    %ks = tile.splat %k {tilegpu.schedule = #tilegpu.schedule<stages = [0], orders = [0]>} : i32 -> tensor<512xi32>
    %o = arith.addi %ks, %i {tilegpu.schedule = #tilegpu.schedule<stages = [0], orders = [0]>} : tensor<512xi32>
    %xq = tile.addptr %xp, %o {tilegpu.schedule = #tilegpu.schedule<stages = [0], orders = [0]>} : tensor<512x!tile.ptr<f32>>, tensor<512xi32>
    %a = tile.load %xq {tilegpu.schedule = #tilegpu.schedule<stages = [0], orders = [1], done = [2, 2]>} : tensor<512x!tile.ptr<f32>>
    // expected-error @+1 {{runs in stage 2, order 1, before its operand 1 is there}}
    %s = arith.addf %sum, %a {tilegpu.schedule = #tilegpu.schedule<stages = [2], orders = [1]>} : tensor<512xf32>
    scf.yield %s : tensor<512xf32>
  } {tilegpu.slots = 3 : i32}
  tile.store %yp, %r : tensor<512x!tile.ptr<f32>>
  return
}

// -----

func.func @no_need(%x: !tile.ptr<f32> {tile.divisibility = 16 : i32}, %y: !tile.ptr<f32> {tile.divisibility = 16 : i32}, %n: i32) attributes {tile.kernel} {
  %c0 = arith.constant 0 : i32
  %c512 = arith.constant 512 : i32
  %zero = arith.constant dense<0.0> : tensor<512xf32>
  %i = tile.range 0, 512 : tensor<512xi32>
  %xp = tile.splat %x : !tile.ptr<f32> -> tensor<512x!tile.ptr<f32>>
  %yp = tile.splat %y : !tile.ptr<f32> -> tensor<512x!tile.ptr<f32>>
  %r = scf.for %k = %c0 to %n step %c512 iter_args(%sum = %zero) -> (tensor<512xf32>) : i32 {
    // expected-error @+1 {{runs in stage 1, in which no copy needs it}}
    %ks = tile.splat %k {tilegpu.schedule = #tilegpu.schedule<stages = [0, 1], orders = [0, 0]>} : i32 -> tensor<512xi32>
    %o = arith.addi %ks, %i {tilegpu.schedule = #tilegpu.schedule<stages = [0], orders = [0]>} : tensor<512xi32>
    %xq = tile.addptr %xp, %o {tilegpu.schedule = #tilegpu.schedule<stages = [0], orders = [0]>} : tensor<512x!tile.ptr<f32>>, tensor<512xi32>
    %a = tile.load %xq {tilegpu.schedule = #tilegpu.schedule<stages = [0], orders = [1], done = [2, 2]>} : tensor<512x!tile.ptr<f32>>
    %s = arith.addf %sum, %a {tilegpu.schedule = #tilegpu.schedule<stages = [2], orders = [2]>} : tensor<512xf32>
    scf.yield %s : tensor<512xf32>
  } {tilegpu.slots = 3 : i32}
  tile.store %yp, %r : tensor<512x!tile.ptr<f32>>
  return
}

// -----

func.func @not_asynchronous(%x: !tile.ptr<f32> {tile.divisibility = 16 : i32}, %y: !tile.ptr<f32> {tile.divisibility = 16 : i32}, %n: i32) attributes {tile.kernel} {
  %c0 = arith.constant 0 : i32
  %c512 = arith.constant 512 : i32
  %zero = arith.constant dense<0.0> : tensor<512xf32>
  %i = tile.range 0, 512 : tensor<512xi32>
  %xp = tile.splat %x : !tile.ptr<f32> -> tensor<512x!tile.ptr<f32>>
  %yp = tile.splat %y : !tile.ptr<f32> -> tensor<512x!tile.ptr<f32>>
  %r = scf.for %k = %c0 to %n step %c512 iter_args(%sum = %zero) -> (tensor<512xf32>) : i32 {
    %ks = tile.splat %k {tilegpu.schedule = #tilegpu.schedule<stages = [0], orders = [0]>} : i32 -> tensor<512xi32>
    %o = arith.addi %ks, %i {tilegpu.schedule = #tilegpu.schedule<stages = [0], orders = [0]>} : tensor<512xi32>
    %xq = tile.addptr %xp, %o {tilegpu.schedule = #tilegpu.schedule<stages = [0], orders = [0]>} : tensor<512x!tile.ptr<f32>>, tensor<512xi32>
    %a = tile.load %xq {tilegpu.schedule = #tilegpu.schedule<stages = [0], orders = [1], done = [2, 2]>} : tensor<512x!tile.ptr<f32>>
    // expected-error @+1 {{is not asynchronous; expected no 'done'}}
    %s = arith.addf %sum, %a {tilegpu.schedule = #tilegpu.schedule<stages = [2], orders = [2], done = [2, 3]>} : tensor<512xf32>
    scf.yield %s : tensor<512xf32>
  } {tilegpu.slots = 3 : i32}
  tile.store %yp, %r : tensor<512x!tile.ptr<f32>>
  return
}
