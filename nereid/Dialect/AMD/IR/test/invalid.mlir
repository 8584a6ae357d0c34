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
