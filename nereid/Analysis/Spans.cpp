//===- Spans.cpp - Sets of intervals --------------------------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/Analysis/Spans.h"

#include "llvm/ADT/STLExtras.h"

#include <algorithm>

namespace nereid {

void Spans::add(Span span) {
  // Spans that touch become one.
  auto *first = llvm::partition_point(
      list, [&](Span known) { return known.end < span.begin; });
  auto *last = first;
  for (; last != list.end() && last->begin <= span.end; ++last) {
    span.begin = std::min(span.begin, last->begin);
    span.end = std::max(span.end, last->end);
  }
  if (first == last) {
    list.insert(first, span);
    return;
  }
  *first = span;
  list.erase(first + 1, last);
}

void Spans::add(const Spans &others) {
  for (Span span : others.list) {
    add(span);
  }
}

bool Spans::meets(const Spans &others) const {
  const auto *a = list.begin(), *b = others.list.begin();
  while (a != list.end() && b != others.list.end()) {
    if (a->end <= b->begin) {
      ++a;
    } else if (b->end <= a->begin) {
      ++b;
    } else {
      return true;
    }
  }
  return false;
}

void Spans::keepFirst(unsigned count) {
  if (list.size() > count) {
    list.truncate(count);
  }
}

void Spans::keepLast(unsigned count) {
  if (list.size() > count) {
    list.erase(list.begin(), list.end() - count);
  }
}

} // namespace nereid
