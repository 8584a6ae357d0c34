//===- LaunchPlan.h - A launch like an earlier one --------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A plan is what binding, specialising and looking up came to for one way of
// writing a launch, turned into a test of each argument as it stands in the
// call: its name, its kind, a range of its bits, whether they are a multiple of
// 16. A launch that passes all of them has the plan's code, and the test has
// filled in its slots. A launch that fails a test may still be valid; the slow
// path decides.
//
// What a launch touches of a plan is a line for the head, half a line an
// argument, and the names.
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_RUNTIME_LAUNCH_LAUNCHPLAN_H
#define NEREID_RUNTIME_LAUNCH_LAUNCHPLAN_H

#include "nereid/Runtime/Argument.h"
#include "nereid/Support/Knobs.h"

#include <array>
#include <atomic>
#include <bit>
#include <cstring>
#include <optional>
#include <span>

namespace nereid {

struct KernelState;
struct LaunchBinding;
struct Specialization;
struct Specialized;

struct alignas(64) LaunchPlan {
  /// Room that `match` needs; the last entry of each takes what has no place.
  static constexpr size_t places = 64;
  static constexpr size_t nowhere = places - 1;

  /// How the bits of an argument are read.
  enum class Read : uint8_t { Plain, Address, Float32, DType, Text };

  struct Rule {
    uint64_t low = 0, span = 0; ///< bits - low <= span
    uint8_t mask = 0;           ///< (bits & mask) == 0, or not
    bool isMultiple = true;
    Argument::Kind kind = Argument::Kind::None;
    nereid::DType dtype = nereid::DType::Int1; ///< of a tensor or pointer
    Read read = Read::Plain;
    uint8_t slot = nowhere, parameter = nowhere;
    uint8_t nameLength = 0, nameOffset = 0;
  };

  uint32_t knobs = 0; ///< knobsVersion() it was made under
  uint16_t arguments = 0, rules = 0;
  uint16_t parameters = 0, slots = 0;
  bool hasTensor = false;
  Device given;  ///< of the tensors; without any, what Kernel::on said
  Device device; ///< where it runs
  CompileOptions options;
  Specialization *specialization = nullptr;
  const Argument *defaults = nullptr;
  /// Those of the call's arguments, then of the defaults: `low` is the slot.
  std::array<Rule, 62> rule;
  std::array<char, 256> text; ///< names, and strings

  /// Fills in `bound` (by parameter) and `slots`, of `places` each.
  bool match(std::optional<Device> preferred,
             std::span<const LaunchArgument> call, const Argument **bound,
             uint64_t *slots) const {
    if (call.size() != arguments || knobs != knobsVersion()) {
      return false;
    }
    if (!hasTensor && preferred != given) [[unlikely]] {
      return false;
    }
    const Rule *r = rule.data();
    for (const LaunchArgument &argument : call) {
      const Argument &a = argument.value;
      if (a.kind != r->kind || argument.name.size() != r->nameLength ||
          !sameText(argument.name.data(), &text[r->nameOffset],
                    r->nameLength)) {
        return false;
      }
      uint64_t bits;
      if (a.kind == Argument::Kind::Tensor) {
        const Tensor &tensor = *a.tensor;
        if (!tensor.defined() || tensor.dtype() != r->dtype ||
            tensor.device() != given) {
          return false;
        }
        bits = reinterpret_cast<uintptr_t>(tensor.data());
      } else if (r->read == Read::Plain) [[likely]] {
        bits = static_cast<uint64_t>(a.integer);
      } else if (!readOther(*r, a, bits)) {
        return false;
      }
      if (bits - r->low > r->span || ((bits & r->mask) == 0) != r->isMultiple) {
        return false;
      }
      bound[r->parameter] = &a;
      slots[r->slot] = bits;
      ++r;
    }
    for (const Rule *end = rule.data() + rules; r != end; ++r) {
      bound[r->parameter] = &defaults[r->parameter];
      slots[r->slot] = r->low;
    }
    return true;
  }

private:
  template <typename Word>
  static bool differs(const char *a, const char *b) {
    Word x, y;
    std::memcpy(&x, a, sizeof(x));
    std::memcpy(&y, b, sizeof(y));
    return x != y;
  }
  /// Inlined: memcmp would be the fast path's only call.
  static bool sameText(const char *a, const char *b, size_t n) {
    for (; n >= 8; n -= 8, a += 8, b += 8) {
      if (differs<uint64_t>(a, b)) {
        return false;
      }
    }
    if (n & 4) {
      if (differs<uint32_t>(a, b)) {
        return false;
      }
      a += 4;
      b += 4;
    }
    if (n & 2) {
      if (differs<uint16_t>(a, b)) {
        return false;
      }
      a += 2;
      b += 2;
    }
    return !(n & 1) || *a == *b;
  }

  [[gnu::noinline]] bool readOther(const Rule &r, const Argument &a,
                                   uint64_t &bits) const {
    switch (r.read) {
    case Read::Plain:
      break;
    case Read::Address:
      bits = reinterpret_cast<uintptr_t>(a.address);
      return a.pointee == r.dtype;
    case Read::Float32:
      bits = std::bit_cast<uint32_t>(static_cast<float>(a.real));
      return true;
    case Read::DType:
      bits = static_cast<uint64_t>(a.dtype);
      return true;
    case Read::Text:
      bits = r.low; // where the text stands: the rule's range begins there
      return a.length == r.span &&
             sameText(a.characters, &text[r.low], a.length);
    }
    return false;
  }
};

/// Tells apart what a kernel is launched with: of the named arguments, which
/// are constants and options, the numbers, and the lengths of texts. Equal for
/// launches of one plan; never 0.
inline uint64_t markOfLaunch(std::span<const LaunchArgument> call) {
  uint64_t mark = call.size();
  for (size_t i = call.size(); i-- > 0 && !call[i].name.empty();) {
    const Argument &a = call[i].value;
    uint64_t bits = a.kind == Argument::Kind::String  ? a.length
                    : a.kind == Argument::Kind::DType ? uint64_t(a.dtype)
                                                      : uint64_t(a.integer);
    mark = (mark ^ bits) * 0x9e3779b97f4a7c15u;
    mark ^= mark >> 32;
  }
  return mark | 1;
}

/// The plans that a kernel's launches try first. A model's products are a dozen
/// forms of one kernel: those of another mark are passed over.
class LaunchPlans {
public:
  static constexpr size_t count = 16;
  struct Place {
    std::atomic<const LaunchPlan *> plan = nullptr;
    std::atomic<uint64_t> mark = 0; ///< 0: any
  };

  /// Null after the last.
  const LaunchPlan *get(size_t i) const {
    return i < count ? recent[i].plan.load(std::memory_order_acquire) : nullptr;
  }
  /// May it be the plan of a launch of this mark? A place that is being changed
  /// may say either; the plan's own test decides.
  bool mayBe(size_t i, uint64_t mark) const {
    uint64_t own = recent[i].mark.load(std::memory_order_relaxed);
    return own == mark || own == 0;
  }
  /// `mark`: 0 where launches of the plan have different ones.
  void add(const LaunchPlan *plan, uint64_t mark);

private:
  std::array<Place, count> recent = {};
  std::atomic<uint32_t> added = 0; ///< about
};

/// A launch that took the slow path, as it came out.
struct LaunchRecord {
  KernelState &kernel;
  std::optional<Device> preferred;
  std::span<const LaunchArgument> call;
  const LaunchBinding &binding;
  std::span<const Specialized> specialized; ///< by parameter
  Specialization &specialization;
};

/// Creates the specialization's plan, or re-activates it. Does nothing if this
/// call cannot be planned.
void rememberLaunch(const LaunchRecord &record);

} // namespace nereid

#endif // NEREID_RUNTIME_LAUNCH_LAUNCHPLAN_H
