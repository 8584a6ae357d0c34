// Each message of the verifiers.
// RUN: nereid-opt %s --split-input-file --verify-diagnostics

llvm.func @address_of_lds(%s: i64) {
  // expected-error@+1 {{expects an address of i32 in lds memory, got 'i64'}}
  %a = amd.load lds %s : i64 -> i32
  llvm.return
}

// -----

llvm.func @three_words(%g: i64) {
  // expected-error@+1 {{expects 1, 2 or 4 words, got 3}}
  %a:3 = amd.load global %g : i64 -> i32, i32, i32
  llvm.return
}

// -----

llvm.func @mixed_words(%g: i64) {
  // expected-error@+1 {{expects words of one type, got 'i32', 'i64'}}
  %a:2 = amd.load global %g : i64 -> i32, i64
  llvm.return
}

// -----

llvm.func @too_wide(%g: i64, %l: i64) {
  // expected-error@+1 {{expects at most 16 bytes, got 32}}
  amd.store global %g, %l, %l, %l, %l : i64, i64, i64, i64, i64
  llvm.return
}

// -----

llvm.func @byte_of_word(%g: i64) {
  // expected-error@+1 {{expects one word of i16 for a byte, got 'i32'}}
  %a = amd.load global %g {byte} : i64 -> i32
  llvm.return
}

// -----

llvm.func @others_without_predicate(%g: i64, %w: i32) {
  // expected-error@+1 {{expects a predicate where there are other values}}
  %a = amd.load global %g else %w : i32 : i64 -> i32
  llvm.return
}

// -----

llvm.func @others_of_another_type(%g: i64, %p: i1, %l: i64) {
  // expected-error@+1 {{expects other values of 'i32', got 'i64'}}
  %a = amd.load global %g if %p else %l : i64 : i64 -> i32
  llvm.return
}

// -----

llvm.func @order_in_lds(%s: i32) {
  // expected-error@+1 {{expects neither cache nor order in LDS}}
  %a = amd.load lds %s {order = #amd<order volatile>} : i32 -> i32
  llvm.return
}

// -----

llvm.func @order_of_loads(%g: i64) {
  // expected-error@+1 {{expects weak, volatile or relaxed, got acq_rel}}
  %a = amd.load global %g {order = #amd<order acq_rel>} : i64 -> i32
  llvm.return
}

// -----

llvm.func @words_of_an_atomic_load(%g: i64) {
  // expected-error@+1 {{expects one word with order relaxed, got 2}}
  %a:2 = amd.load global %g {order = #amd<order relaxed>, scope = #amd<scope agent>} : i64 -> i32, i32
  llvm.return
}

// -----

llvm.func @no_scope(%g: i64) {
  // expected-error@+1 {{expects a scope with order relaxed}}
  %a = amd.load global %g {order = #amd<order relaxed>} : i64 -> i32
  llvm.return
}

// -----

llvm.func @scope_without_order(%g: i64) {
  // expected-error@+1 {{expects no scope with order weak}}
  %a = amd.load global %g {scope = #amd<scope agent>} : i64 -> i32
  llvm.return
}

// -----

llvm.func @cache_in_lds(%s: i32, %w: i32) {
  // expected-error@+1 {{expects no cache in LDS}}
  amd.store lds %s, %w {cache = #amd<cache streamed>} : i32, i32
  llvm.return
}

// -----

llvm.func @weak_swap(%g: i64, %w: i32, %p: i1) {
  // expected-error@+1 {{expects an order of atomic operations, got weak}}
  %a = amd.compare_and_swap %g, %w, %w if %p weak agent : i32
  llvm.return
}

// -----

llvm.func @sum_of_integers(%g: i64, %w: i32) {
  // expected-error@+1 {{expects sums of floats, and else integers, got fadd of 'i32'}}
  amd.atomic fadd %g, %w of i32 relaxed agent : i32
  llvm.return
}

// -----

llvm.func @word_of_another_size(%g: i64, %w: i32) {
  // expected-error@+1 {{expects a word of the element, or of two of 16 bits, got 'i32' of 'i64'}}
  amd.atomic add %g, %w of i64 relaxed agent : i32
  llvm.return
}

// -----

llvm.func @old_of_another_type(%g: i64, %w: i32) {
  // expected-error@+1 {{expects what was there in a word like the value, got 'i64'}}
  %a = amd.atomic add %g, %w of i32 relaxed agent : i32 -> i64
  llvm.return
}

// -----

llvm.func @signless_target(%f: f32) {
  // expected-error@+1 {{expects a target with a sign or without, got 'i32'}}
  %a = amd.float_to_int zero %f to i32 : f32 -> i32
  llvm.return
}

// -----

llvm.func @odd_width(%f: f32) {
  // expected-error@+1 {{expects a target of 8, 16, 32 or 64 bits, got 12}}
  %a = amd.float_to_int zero %f to si12 : f32 -> i16
  llvm.return
}

// -----

llvm.func @result_of_another_width(%f: f32) {
  // expected-error@+1 {{expects a result of i16 for 'si8', got 'i32'}}
  %a = amd.float_to_int zero %f to si8 : f32 -> i32
  llvm.return
}

// -----

llvm.func @product_of_integers(%w: i32) {
  // expected-error@+1 {{expects operands of f16, bf16, f32, tf32, f64, si8, f8E4M3FN or f8E5M2, got 'ui8'}}
  %a:4 = amd.mfma 16 deep 16 ui8 %w : i32 times ui8 %w : i32 plus %w, %w, %w, %w : i32, i32, i32, i32
  llvm.return
}

// -----

llvm.func @product_of_another_size(%w: i32, %f: f32) {
  // expected-error@+1 {{expects a size of 16, or of 32 but for f64, got 4}}
  %a:4 = amd.mfma 4 deep 4 f16 %w, %w : i32, i32 times f16 %w, %w : i32, i32 plus %f, %f, %f, %f : f32, f32, f32, f32
  llvm.return
}

// -----

llvm.func @product_of_another_depth(%w: i32, %f: f32) {
  // expected-error@+1 {{of 16 x 16 of 'f16' has no depth of 8}}
  %a:4 = amd.mfma 16 deep 8 f16 %w : i32 times f16 %w : i32 plus %f, %f, %f, %f : f32, f32, f32, f32
  llvm.return
}

// -----

llvm.func @product_of_two_types(%w: i32, %f: f32) {
  // expected-error@+1 {{expects operands that go together, got 'f16' times 'bf16'}}
  %a:4 = amd.mfma 16 deep 16 f16 %w, %w : i32, i32 times bf16 %w, %w : i32, i32 plus %f, %f, %f, %f : f32, f32, f32, f32
  llvm.return
}

// -----

llvm.func @words_of_a_product(%w: i32, %f: f32) {
  // expected-error@+1 {{expects 2 words of B of 'i32', got 'i32'}}
  %a:4 = amd.mfma 16 deep 16 f16 %w, %w : i32, i32 times f16 %w : i32 plus %f, %f, %f, %f : f32, f32, f32, f32
  llvm.return
}

// -----

llvm.func @sums_of_a_product(%w: i32, %f: f32) {
  // expected-error@+1 {{expects 4 sums of 'i32', got 'f32', 'f32', 'f32', 'f32'}}
  %a:4 = amd.mfma 16 deep 32 si8 %w, %w : i32, i32 times si8 %w, %w : i32, i32 plus %f, %f, %f, %f : f32, f32, f32, f32
  llvm.return
}

// -----

llvm.func @size_of_a_wave_of_32(%w: i32, %f: f32) {
  // expected-error@+1 {{expects a size of 16 and a depth of 16, got 16 and 32}}
  %a:8 = amd.wmma 16 deep 32 f16 %w, %w, %w, %w : i32, i32, i32, i32 times f16 %w, %w, %w, %w : i32, i32, i32, i32 plus %f, %f, %f, %f, %f, %f, %f, %f : f32, f32, f32, f32, f32, f32, f32, f32
  llvm.return
}

// -----

llvm.func @type_of_a_wave_of_32(%f: f32) {
  // expected-error@+1 {{expects operands of f16, bf16, si8, ui8, f8E4M3FN or f8E5M2, got 'f32'}}
  %a:8 = amd.wmma 16 deep 16 f32 %f : f32 times f32 %f : f32 plus %f, %f, %f, %f, %f, %f, %f, %f : f32, f32, f32, f32, f32, f32, f32, f32
  llvm.return
}
