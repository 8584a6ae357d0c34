//===- Spans.h - Sets of intervals ------------------------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_ANALYSIS_SPANS_H
#define NEREID_ANALYSIS_SPANS_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"

namespace nereid {

/// From `begin` to in front of `end`.
struct Span {
  unsigned begin = 0, end = 0;
  bool operator==(const Span &) const = default;
};

/// The union of some: as few spans as it takes, in ascending order.
class Spans {
public:
  void add(Span span);
  void add(const Spans &others);
  void clear() { list.clear(); }
  bool meets(const Spans &others) const;
  /// Forgets the highest spans, or the lowest.
  void keepFirst(unsigned count);
  void keepLast(unsigned count);

  operator llvm::ArrayRef<Span>() const { return list; }

private:
  llvm::SmallVector<Span, 4> list;
};

} // namespace nereid

#endif // NEREID_ANALYSIS_SPANS_H
