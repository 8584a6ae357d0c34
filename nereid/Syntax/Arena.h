//===- Arena.h - Where a syntax tree lives ----------------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A bump allocator: a tree of any depth is freed in O(blocks), with no
// recursion, because nothing in it has a destructor.
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_SYNTAX_ARENA_H
#define NEREID_SYNTAX_ARENA_H

#include "nereid/Syntax/Node.h"

#include <cstring>
#include <memory>
#include <vector>

namespace nereid {

class Arena {
public:
  Arena() = default;
  Arena(const Arena &) = delete;
  Arena &operator=(const Arena &) = delete;

  /// `align` is a power of two, at most alignof(std::max_align_t).
  void *allocate(size_t bytes, size_t align) {
    size_t start = (used + align - 1) & ~(align - 1);
    if (start + bytes > capacity) {
      return allocateSlow(bytes);
    }
    used = start + bytes;
    return block + start;
  }

  template <typename T>
  T *create() {
    static_assert(std::is_trivially_destructible_v<T>);
    return new (allocate(sizeof(T), alignof(T))) T();
  }

  template <typename T>
  ast::Seq<T> copy(const T *data, size_t count) {
    static_assert(std::is_trivially_copyable_v<T>);
    if (count == 0) {
      return {};
    }
    T *out = static_cast<T *>(allocate(count * sizeof(T), alignof(T)));
    std::memcpy(static_cast<void *>(out), data, count * sizeof(T));
    return {out, count};
  }

  std::string_view copy(std::string_view text) {
    ast::Seq<char> out = copy(text.data(), text.size());
    return {out.begin(), out.size()};
  }

private:
  void *allocateSlow(size_t bytes);

  std::vector<std::unique_ptr<std::byte[]>> blocks;
  std::byte *block = nullptr;
  size_t used = 0, capacity = 0;
};

} // namespace nereid

#endif // NEREID_SYNTAX_ARENA_H
