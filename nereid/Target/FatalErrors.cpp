//===- FatalErrors.cpp - LLVM's fatal errors as values --------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A handler that returns lets LLVM abort, and Debian's LLVM is built without
// exceptions, so that leaves longjmp. It skips destructors: the caller leaks
// the module it was compiling (some 100 KB), which is better than a process
// that is gone.
//
//===----------------------------------------------------------------------===//

#include "nereid/Target/FatalErrors.h"

#include "llvm/Support/ErrorHandling.h"

#include <csetjmp>
#include <mutex>

using namespace nereid;

namespace {

struct Recovery {
  std::jmp_buf resume;
  std::string *message;
};

} // namespace

/// The innermost body being run on this thread.
static thread_local Recovery *current = nullptr;

static void handleFatalError(void *, const char *reason, bool) {
  if (!current) {
    return; // not ours: LLVM prints nothing more and aborts, as it would
  }
  *current->message = reason;
  std::longjmp(current->resume, 1);
}

bool target::runCatchingFatalErrors(llvm::function_ref<void()> body,
                                    std::string &message) {
  static std::once_flag installed;
  std::call_once(installed, [] {
    llvm::install_fatal_error_handler(handleFatalError, nullptr);
  });
  Recovery recovery;
  recovery.message = &message;
  Recovery *volatile outer = current;
  if (setjmp(recovery.resume)) {
    current = outer;
    return false;
  }
  current = &recovery;
  body();
  current = outer;
  return true;
}
