//===- LaunchMemo.h - A launch like an earlier one --------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What putting one call's arguments to parameters, reading them and looking its
// form up came to, turned into a test of each argument where it stands in the
// call: is it the same object, an integer of the same class, an array with the
// same dtype on the same device. A call that passes all of them has the memo's
// arguments, but for the values that the tests read, and the memo's form.
//
// Calls with tuples, descriptors, arrays without a C table, and values of other
// classes than Python's own have no memo. The runtime makes a plan
// (Runtime/launch/LaunchPlan.h) of what the memo gives it.
//
// Needs the GIL. A launch without the GIL pins its memo, since another thread
// may throw it out meanwhile.
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_PYTHON_NATIVE_LAUNCHMEMO_H
#define NEREID_PYTHON_NATIVE_LAUNCHMEMO_H

#include "python/native/Arguments.h"

#include "nereid/Runtime/Kernel.h"

#include <array>
#include <cstring>
#include <memory>
#include <span>
#include <type_traits>

namespace nereid::python {

struct Call;

/// The arguments of one launch, on the stack.
class LaunchArguments {
public:
  static constexpr size_t most = 64;
  static_assert(std::is_trivially_copyable_v<LaunchArgument>);

  LaunchArguments() {} // leaves `room` as it is
  void assign(std::span<const LaunchArgument> from) {
    count = from.size();
    std::memcpy(room, from.data(), from.size_bytes());
  }
  Argument &operator[](size_t i) { return data()[i].value; }
  std::span<const LaunchArgument> all() { return {data(), count}; }

private:
  LaunchArgument *data() {
    return std::launder(reinterpret_cast<LaunchArgument *>(room));
  }
  alignas(LaunchArgument) std::byte room[most * sizeof(LaunchArgument)];
  size_t count = 0;
};

struct LaunchMemo {
  /// Of the call: what names it gives, and how many arguments without one.
  Ref names;
  Py_ssize_t positional = 0;
  std::vector<ArgumentRule> rules; ///< those of arrays last
  /// Of the launch: parameters in their order, then options.
  std::vector<LaunchArgument> arguments;
  std::vector<Ref> kept; ///< what the two above look at
  Kernel kernel;         ///< on `device`
  Device device;
  bool asAddresses = false;
  Ref form;
  /// What grid functions get, between launches without arrays; null while one
  /// has it.
  Ref meta;
  uint32_t pins = 0;
  bool isThrownOut = false;

  /// Is the call one like it? Then its values are in `found`, which looks at
  /// `held`. No exception is set.
  bool match(const Call &call, Held &held, LaunchArguments &found) const;
};

/// Of a few ways in which a kernel is launched, the latest first.
class LaunchMemos {
public:
  static constexpr size_t most = 4;

  LaunchMemos() = default;
  ~LaunchMemos() { clear(); }
  LaunchMemos(const LaunchMemos &) = delete;
  LaunchMemos &operator=(const LaunchMemos &) = delete;

  /// Null: none. Fills in `held` and `found`.
  LaunchMemo *find(const Call &call, Held &held, LaunchArguments &found) {
    for (size_t i = 0; i < count; ++i) {
      if (latest[i]->match(call, held, found)) {
        if (i) [[unlikely]] {
          toFront(i);
        }
        return latest[0];
      }
      held.forgetArrays();
    }
    return nullptr;
  }
  /// Is another memo welcome? Of a kernel whose calls are ever different, now
  /// and then only.
  bool isOpen() { return ++offered <= 64 || offered % 16 == 0; }
  void add(std::unique_ptr<LaunchMemo> memo);
  void clear();
  int traverse(visitproc visit, void *arg) const;

private:
  void toFront(size_t i);
  static void throwOut(LaunchMemo *memo);

  std::array<LaunchMemo *, most> latest = {};
  size_t count = 0;
  uint64_t offered = 0;
};

/// Keeps a memo for a scope.
class PinnedMemo {
public:
  explicit PinnedMemo(LaunchMemo &memo) : memo(memo) { ++memo.pins; }
  ~PinnedMemo() {
    if (!--memo.pins && memo.isThrownOut) {
      delete &memo;
    }
  }
  PinnedMemo(const PinnedMemo &) = delete;
  PinnedMemo &operator=(const PinnedMemo &) = delete;

private:
  LaunchMemo &memo;
};

} // namespace nereid::python

#endif // NEREID_PYTHON_NATIVE_LAUNCHMEMO_H
