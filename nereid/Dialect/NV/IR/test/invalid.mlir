// What no processor has an instruction for is refused, with what it is and what
// was expected.
// RUN: nereid-opt %s -split-input-file -verify-diagnostics

llvm.func @address(%a: i32) {
  // expected-error @+1 {{'nv.load' op expects an address of i64 in global memory, got 'i32'}}
  %v = nv.load global %a : i32 -> i32
  llvm.return
}

// -----

llvm.func @shared_address(%a: i64, %v: i32) {
  // expected-error @+1 {{'nv.store' op expects an address of i32 in shared memory, got 'i64'}}
  nv.store shared %a, %v : i64, i32
  llvm.return
}

// -----

llvm.func @three(%a: i64) {
  // expected-error @+1 {{expects 1, 2 or 4 words, got 3}}
  %v:3 = nv.load global %a : i64 -> i32, i32, i32
  llvm.return
}

// -----

llvm.func @types(%a: i64) {
  // expected-error @+1 {{expects words of one type, got 'i32', 'i16'}}
  %v:2 = nv.load global %a : i64 -> i32, i16
  llvm.return
}

// -----

llvm.func @wide(%a: i64) {
  // expected-error @+1 {{expects at most 16 bytes, got 32}}
  %v:4 = nv.load global %a : i64 -> i64, i64, i64, i64
  llvm.return
}

// -----

llvm.func @byte(%a: i64) {
  // expected-error @+1 {{expects one word of i16 for a byte, got 'i32'}}
  %v = nv.load global %a {byte} : i64 -> i32
  llvm.return
}

// -----

llvm.func @unmasked(%a: i64, %o: i32) {
  // expected-error @+1 {{expects a predicate where there are other values}}
  %v = nv.load global %a else %o : i32 : i64 -> i32
  llvm.return
}

// -----

llvm.func @others(%a: i64, %p: i1, %o: i64) {
  // expected-error @+1 {{expects other values of 'i32', got 'i64'}}
  %v = nv.load global %a if %p else %o : i64 : i64 -> i32
  llvm.return
}

// -----

llvm.func @load_cache(%a: i64) {
  // expected-error @+1 {{expects a cache operator of loads, got wt}}
  %v = nv.load global %a {cache = #nv<cache wt>} : i64 -> i32
  llvm.return
}

// -----

llvm.func @load_order(%a: i64) {
  // expected-error @+1 {{expects an order of loads, got release}}
  %v = nv.load global %a {order = #nv<order release>} : i64 -> i32
  llvm.return
}

// -----

llvm.func @scope(%a: i64) {
  // expected-error @+1 {{expects a scope with order relaxed}}
  %v = nv.load global %a {order = #nv<order relaxed>} : i64 -> i32
  llvm.return
}

// -----

llvm.func @hinted(%a: i64) {
  // expected-error @+1 {{expects no cache operator beside order volatile}}
  %v = nv.load global %a {order = #nv<order volatile>, cache = #nv<cache cg>} : i64 -> i32
  llvm.return
}

// -----

llvm.func @shared_cache(%a: i32) {
  // expected-error @+1 {{expects neither cache nor order in shared memory}}
  %v = nv.load shared %a {cache = #nv<cache cg>} : i32 -> i32
  llvm.return
}

// -----

llvm.func @both_hints(%a: i64) {
  // expected-error @+1 {{expects a cache operator or an eviction priority, got cg and evict_last}}
  %v = nv.load global %a {cache = #nv<cache cg>, eviction = #nv<eviction evict_last>} : i64 -> i32
  llvm.return
}

// -----

llvm.func @both_store_hints(%a: i64, %v: i32) {
  // expected-error @+1 {{expects a cache operator or an eviction priority, got wt and evict_first}}
  nv.store global %a, %v {cache = #nv<cache wt>, eviction = #nv<eviction evict_first>} : i64, i32
  llvm.return
}

// -----

llvm.func @store_cache(%a: i64, %v: i32) {
  // expected-error @+1 {{expects a cache operator of stores, got ca}}
  nv.store global %a, %v {cache = #nv<cache ca>} : i64, i32
  llvm.return
}

// -----

llvm.func @copy(%a: i32, %b: i64) {
  // expected-error @+1 {{expects 4, 8 or 16 bytes, got 12}}
  nv.cp_async %a, %b, 12
  llvm.return
}

// -----

llvm.func @atomic(%a: i64, %v: i32, %p: i1) {
  // expected-error @+1 {{expects an order of atomic operations, got weak}}
  %old = nv.compare_and_swap %a, %v, %v if %p weak gpu : i32
  llvm.return
}

// -----

llvm.func @matrices(%a: i32) {
  // expected-error @+1 {{expects 1, 2 or 4 matrices, got 3}}
  %w:3 = nv.ldmatrix %a : i32, i32, i32
  llvm.return
}

// -----

llvm.func @element(%w: i32, %f: f32) {
  // expected-error @+1 {{expects operands of f16, bf16, tf32, f64, f8E4M3FN, f8E5M2, si8 or ui8, got 'f32'}}
  %d:4 = nv.mma f32 %w, %w, %w, %w : i32, i32, i32, i32 times f32 %w, %w : i32, i32 plus %f, %f, %f, %f : f32, f32, f32, f32
  llvm.return
}

// -----

llvm.func @pair(%w: i32, %f: f32) {
  // expected-error @+1 {{expects operands that go together, got 'f16' times 'bf16'}}
  %d:4 = nv.mma f16 %w, %w, %w, %w : i32, i32, i32, i32 times bf16 %w, %w : i32, i32 plus %f, %f, %f, %f : f32, f32, f32, f32
  llvm.return
}

// -----

llvm.func @words(%w: i32, %f: f32) {
  // expected-error @+1 {{expects 4 words of the left operand of 'i32', got 'i32', 'i32'}}
  %d:4 = nv.mma f16 %w, %w : i32, i32 times f16 %w, %w : i32, i32 plus %f, %f, %f, %f : f32, f32, f32, f32
  llvm.return
}

// -----

llvm.func @sums(%w: i32, %f: f32) {
  // expected-error @+1 {{expects 4 sums of 'i32', got 'f32', 'f32', 'f32', 'f32'}}
  %d:4 = nv.mma si8 %w, %w, %w, %w : i32, i32, i32, i32 times si8 %w, %w : i32, i32 plus %f, %f, %f, %f : f32, f32, f32, f32
  llvm.return
}

// -----

llvm.func @columns(%l: i64, %f: f32) {
  // expected-error @+1 {{expects 8 to 256 columns, a multiple of 8, got 12}}
  %d:4 = nv.wgmma f16 %l : i64 times f16 %l plus %f, %f, %f, %f : f32, f32, f32, f32 {columns = 12 : i32, steps = 1 : i32, leftOffsets = array<i32: 0>, leftWords = array<i32>, rightOffsets = array<i32: 0>}
  llvm.return
}

// -----

llvm.func @offsets(%l: i64, %f: f32) {
  // expected-error @+1 {{expects 2 right offsets, got 1}}
  %d:4 = nv.wgmma f16 %l : i64 times f16 %l plus %f, %f, %f, %f : f32, f32, f32, f32 {columns = 8 : i32, steps = 2 : i32, leftOffsets = array<i32: 0, 2>, leftWords = array<i32>, rightOffsets = array<i32: 0>}
  llvm.return
}

// -----

llvm.func @word_numbers(%w: i32, %l: i64, %f: f32) {
  // expected-error @+1 {{expects numbers of 4 left words, got 4}}
  %d:4 = nv.wgmma f16 %w, %w, %w, %w : i32, i32, i32, i32 times f16 %l plus %f, %f, %f, %f : f32, f32, f32, f32 {columns = 8 : i32, steps = 1 : i32, leftOffsets = array<i32>, leftWords = array<i32: 1, 2, 3, 4>, rightOffsets = array<i32: 0>}
  llvm.return
}

// -----

llvm.func @major(%l: i64, %f: f32) {
  // expected-error @+1 {{expects rows along K of operands that are not of 16 bits, got 'f8E4M3FN'}}
  %d:4 = nv.wgmma f8E4M3FN %l : i64 times f8E4M3FN %l plus %f, %f, %f, %f : f32, f32, f32, f32 {columns = 8 : i32, steps = 1 : i32, leftOffsets = array<i32: 0>, leftWords = array<i32>, rightOffsets = array<i32: 0>, rightAlongN}
  llvm.return
}

// -----

llvm.func @uneven(%l: i64, %f: f32) {
  // expected-error @+1 {{expects descriptors that advance by the same each step, and no wait, where it is looped}}
  %d:4 = nv.wgmma f16 %l : i64 times f16 %l plus %f, %f, %f, %f : f32, f32, f32, f32 {columns = 8 : i32, steps = 3 : i32, leftOffsets = array<i32: 0, 2, 4>, leftWords = array<i32>, rightOffsets = array<i32: 0, 2, 5>, looped}
  llvm.return
}

// -----

llvm.func @target(%f: f32) {
  // expected-error @+1 {{expects a target of si8 to si64 or ui8 to ui64, got 'i8'}}
  %i = nv.float_to_int rzi %f : f32 to i8 in i16
  llvm.return
}

// -----

llvm.func @target_register(%f: f32) {
  // expected-error @+1 {{expects 'si8' in i16, got 'i32'}}
  %i = nv.float_to_int rzi %f : f32 to si8 in i32
  llvm.return
}

// -----

llvm.func @pack(%f: f32) {
  // expected-error @+1 {{expects f16 or bf16, got 'f32'}}
  %w = nv.pack_floats %f, %f to f32
  llvm.return
}

// -----

llvm.func @saturated(%w: i32) {
  // expected-error @+1 {{expects si8 or ui8, got 'si16'}}
  %v = nv.pack_saturated %w, %w, %w, %w to si16
  llvm.return
}

// -----

llvm.func @shared_store_cache(%a: i32, %v: i32) {
  // expected-error @+1 {{expects no cache operator in shared memory}}
  nv.store shared %a, %v {eviction = #nv<eviction no_allocate>} : i32, i32
  llvm.return
}

// -----

llvm.func @no_scope(%a: i64) {
  // expected-error @+1 {{expects no scope with order volatile}}
  %v = nv.load global %a {order = #nv<order volatile>, scope = #nv<scope gpu>} : i64 -> i32
  llvm.return
}

// -----

llvm.func @store_matrices(%a: i32, %w: i32) {
  // expected-error @+1 {{expects 1, 2 or 4 matrices, got 3}}
  nv.stmatrix %a, %w, %w, %w
  llvm.return
}

// -----

llvm.func @right_words(%w: i32, %f: f32) {
  // expected-error @+1 {{expects 2 words of the right operand of 'i32', got 'i32'}}
  %d:4 = nv.mma f16 %w, %w, %w, %w : i32, i32, i32, i32 times f16 %w : i32 plus %f, %f, %f, %f : f32, f32, f32, f32
  llvm.return
}

// -----

llvm.func @doubles(%l: i64, %f: f64) {
  // expected-error @+1 {{expects operands of at most 32 bits, got 'f64'}}
  "nv.wgmma"(%l, %l) <{lhsType = f64, rhsType = f64, columns = 8 : i32, steps = 1 : i32, leftOffsets = array<i32: 0>, leftWords = array<i32>, rightOffsets = array<i32: 0>, operandSegmentSizes = array<i32: 1, 1, 0>}> : (i64, i64) -> ()
  llvm.return
}

// -----

llvm.func @integer_columns(%l: i64, %i: i32) {
  // expected-error @+1 {{expects up to 32 columns of integers, or a multiple of 16, got 40}}
  %d:4 = nv.wgmma si8 %l : i64 times si8 %l plus %i, %i, %i, %i : i32, i32, i32, i32 {columns = 40 : i32, steps = 1 : i32, leftOffsets = array<i32: 0>, leftWords = array<i32>, rightOffsets = array<i32: 0>}
  llvm.return
}

// -----

llvm.func @sum_count(%l: i64, %f: f32) {
  // expected-error @+1 {{expects a multiple of 4 sums, got 3}}
  %d:3 = nv.wgmma f16 %l : i64 times f16 %l plus %f, %f, %f : f32, f32, f32 {columns = 8 : i32, steps = 1 : i32, leftOffsets = array<i32: 0>, leftWords = array<i32>, rightOffsets = array<i32: 0>}
  llvm.return
}

// -----

llvm.func @word_count(%w: i32, %l: i64, %f: f32) {
  // expected-error @+1 {{expects 4 numbers of left words and no left offsets, got 2 and 0}}
  %d:4 = nv.wgmma f16 %w, %w : i32, i32 times f16 %l plus %f, %f, %f, %f : f32, f32, f32, f32 {columns = 8 : i32, steps = 1 : i32, leftOffsets = array<i32>, leftWords = array<i32: 0, 1>, rightOffsets = array<i32: 0>}
  llvm.return
}

// -----

llvm.func @left_offsets(%l: i64, %f: f32) {
  // expected-error @+1 {{expects one descriptor and 1 left offsets, got 1 and 0}}
  %d:4 = nv.wgmma f16 %l : i64 times f16 %l plus %f, %f, %f, %f : f32, f32, f32, f32 {columns = 8 : i32, steps = 1 : i32, leftOffsets = array<i32>, leftWords = array<i32>, rightOffsets = array<i32: 0>}
  llvm.return
}

// -----

llvm.func @no_left(%l: i64, %f: f32) {
  // expected-error @+1 {{expects a left operand}}
  %d:4 = "nv.wgmma"(%l, %f, %f, %f, %f) <{lhsType = f16, rhsType = f16, columns = 8 : i32, steps = 1 : i32, leftOffsets = array<i32: 0>, leftWords = array<i32>, rightOffsets = array<i32: 0>, operandSegmentSizes = array<i32: 0, 1, 4>}> : (i64, f32, f32, f32, f32) -> (f32, f32, f32, f32)
  llvm.return
}

// -----

llvm.func @registers_along_m(%w: i32, %l: i64, %f: f32) {
  // expected-error @+1 {{expects no rows along M of an operand in registers}}
  %d:4 = nv.wgmma f16 %w, %w, %w, %w : i32, i32, i32, i32 times f16 %l plus %f, %f, %f, %f : f32, f32, f32, f32 {columns = 8 : i32, steps = 1 : i32, leftOffsets = array<i32>, leftWords = array<i32: 0, 1, 2, 3>, rightOffsets = array<i32: 0>, leftAlongM}
  llvm.return
}

// -----

llvm.func @weak_update(%g: i64, %w: i32) {
  // expected-error @+1 {{expects an order of atomic operations, got weak}}
  nv.atomic add %g, %w of i32 weak gpu : i32
  llvm.return
}

// -----

llvm.func @float_and(%g: i64, %w: i32) {
  // expected-error @+1 {{expects sums of floats, and else integers, got and of 'f32'}}
  nv.atomic and %g, %w of f32 relaxed gpu : i32
  llvm.return
}

// -----

llvm.func @integers_together(%g: i64, %w: i32) {
  // expected-error @+1 {{expects one word, or 2 or 4 of 32 bits to add floats to, got 'i32', 'i32'}}
  nv.atomic add %g, %w, %w of i32 relaxed gpu : i32, i32
  llvm.return
}

// -----

llvm.func @wide_word(%g: i64, %l: i64) {
  // expected-error @+1 {{expects words of the element, or of two of 16 bits, got 'i64' of 'f16'}}
  nv.atomic fadd %g, %l of f16 relaxed gpu : i64
  llvm.return
}

// -----

llvm.func @other_result(%g: i64, %w: i32) {
  // expected-error @+1 {{expects what was there in words like the values, got 'i64'}}
  %a = nv.atomic add %g, %w of i32 relaxed gpu : i32 -> i64
  llvm.return
}

// -----

llvm.func @other_format(%f: f32) {
  // expected-error @+1 {{expects f8E4M3FN or f8E5M2, got 'bf16'}}
  %a = nv.pack_float8 %f, %f to bf16
  llvm.return
}
