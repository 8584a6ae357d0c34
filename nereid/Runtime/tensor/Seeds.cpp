//===- Seeds.cpp ----------------------------------------------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/Runtime/Seeds.h"

#include "nereid/Runtime/Error.h"

#include <string>

using namespace nereid;

static thread_local SeedScope *innermost = nullptr;

SeedScope::SeedScope() : outer(innermost) { innermost = this; }
SeedScope::~SeedScope() { innermost = outer; }

bool SeedScope::isRepeating() {
  for (const SeedScope *scope = innermost; scope; scope = scope->outer) {
    if (!scope->kept) {
      return true;
    }
  }
  return false;
}

uint64_t SeedScope::nextOf(SeedScope *scope, Draw draw, void *sequence) {
  if (!scope) {
    return draw(sequence);
  }
  if (scope->kept) {
    scope->kept->push_back(nextOf(scope->outer, draw, sequence));
    return scope->kept->back();
  }
  if (scope->used == scope->repeated.size()) {
    raise({ErrorCode::InvalidArgument,
           "a function that is computed again: expected " +
               std::to_string(scope->repeated.size()) +
               " random seeds, as the first time, got one more; hint: it must "
               "do the same each time",
           {}});
  }
  return scope->repeated[scope->used++];
}

uint64_t SeedScope::next(Draw draw, void *sequence) {
  return nextOf(innermost, draw, sequence);
}
