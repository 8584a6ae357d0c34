//===- Walk.h - Walks over the elements of a block --------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_INTERP_WALK_H
#define NEREID_INTERP_WALK_H

#include "nereid/Interp/TileValue.h"

namespace nereid::interp {

/// Calls f(i, offset) for i = 0, 1, ... over the row-major indices of `shape`,
/// with offset = sum of index[d] * strides[d].
template <typename F>
void walk(llvm::ArrayRef<int64_t> shape, llvm::ArrayRef<int64_t> strides, F f) {
  Shape index(shape.size(), 0);
  int64_t offset = 0;
  for (int64_t i = 0, n = countOf(shape); i < n; ++i) {
    f(i, offset);
    for (size_t d = shape.size(); d-- > 0;) {
      offset += strides[d];
      if (++index[d] < shape[d]) {
        break;
      }
      offset -= shape[d] * strides[d];
      index[d] = 0;
    }
  }
}

/// Element `to` of `target` becomes element `from` of `source`, errors and
/// all.
inline void copyElement(TileValue &target, int64_t to, const TileValue &source,
                        int64_t from) {
  if (source.element.isFloat()) {
    target.floats[to] = source.floats[from];
  } else {
    target.ints[to] = source.ints[from];
  }
  if (!source.errors.empty()) {
    target.errors.resize(target.size());
    target.errors[to] = source.errors[from];
  }
}

/// Makes room for errors in `target` if one of the sources has any.
inline void matchErrors(TileValue &target,
                        std::initializer_list<const TileValue *> sources) {
  for (const TileValue *source : sources) {
    if (!source->errors.empty()) {
      target.errors.resize(target.size());
    }
  }
}

} // namespace nereid::interp

#endif // NEREID_INTERP_WALK_H
