//===- SanitizerOptions.cpp - How every sanitized program runs ------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Debian's LLVM is built without sanitizers, and headers of it are compiled
// here with them. A slab of LLVM's arena that our code allocates is then
// poisoned and what the library takes from it is never unpoisoned
// (allow_user_poisoning); memory of operator new comes back through the
// library's free (alloc_dealloc_mismatch); and its singletons look like leaks.
//
//===----------------------------------------------------------------------===//

extern "C" const char *__asan_default_options() {
  return "allow_user_poisoning=0:alloc_dealloc_mismatch=0:detect_leaks=0";
}

extern "C" const char *__ubsan_default_options() {
  return "print_stacktrace=1:halt_on_error=1";
}
