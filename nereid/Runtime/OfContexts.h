//===- OfContexts.h - What a library keeps for each context -----*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//   static const OfContexts<Plans> plans;
//   plans.current().find(size);
//
// The context owns it, and it goes with the context. Kernels in it are to be
// `Kernel::uncounted`: others would keep the context that keeps them.
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_RUNTIME_OFCONTEXTS_H
#define NEREID_RUNTIME_OFCONTEXTS_H

#include <cstdint>
#include <memory>

namespace nereid {

namespace detail {
uint64_t nextObjectOfContexts();
void *objectOfContext(uint64_t number, std::shared_ptr<void> (*make)());
} // namespace detail

template <typename T>
class OfContexts {
public:
  OfContexts() : number(detail::nextObjectOfContexts()) {}
  OfContexts(const OfContexts &) = delete;
  OfContexts &operator=(const OfContexts &) = delete;

  /// That of the context that this thread works for, which makes it when it is
  /// first asked for. Thread-safe; takes no lock after that.
  T &current() const {
    return *static_cast<T *>(
        detail::objectOfContext(number, []() -> std::shared_ptr<void> {
          return std::make_shared<T>();
        }));
  }

private:
  uint64_t number; ///< no other has it
};

} // namespace nereid

#endif // NEREID_RUNTIME_OFCONTEXTS_H
