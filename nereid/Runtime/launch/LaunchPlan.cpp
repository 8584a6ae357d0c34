//===- LaunchPlan.cpp - A launch like an earlier one ----------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/Runtime/launch/LaunchPlan.h"

#include "nereid/Runtime/launch/LaunchBinding.h"
#include "nereid/Runtime/launch/Specialize.h"

#include <algorithm>
#include <limits>

namespace nereid {

using Kind = Argument::Kind;
using Rule = LaunchPlan::Rule;
using Read = LaunchPlan::Read;

void LaunchPlans::add(const LaunchPlan *plan, uint64_t mark) {
  for (const Place &one : recent) {
    if (one.plan.load(std::memory_order_relaxed) == plan) {
      return;
    }
  }
  // A kernel launched in ever different specializations should not keep its
  // threads busy with taking this line from each other.
  static constinit thread_local uint32_t turn = 0;
  constexpr uint32_t many = 64;
  uint32_t n = added.load(std::memory_order_relaxed);
  if (n >= many && ++turn % 16) {
    return;
  }
  added.store(n + 1, std::memory_order_relaxed);
  Place &place = recent[n % count];
  place.mark.store(mark, std::memory_order_relaxed);
  place.plan.store(plan, std::memory_order_release);
}

//===----------------------------------------------------------------------===//
// Rules
//===----------------------------------------------------------------------===//

static void onlyThis(Rule &rule, uint64_t bits) {
  rule.low = bits;
  rule.span = 0;
}

static void anything(Rule &rule) {
  rule.low = 0;
  rule.span = ~uint64_t{0};
}

static void range(Rule &rule, int64_t low, int64_t high) {
  rule.low = static_cast<uint64_t>(low);
  rule.span = static_cast<uint64_t>(high) - static_cast<uint64_t>(low);
}

static void alignment(Rule &rule, const ParameterDescription &p,
                      const Specialized &s) {
  if (p.specialize && p.specializeAlignment) {
    rule.mask = 15;
    rule.isMultiple = s.runtime.divisibleBy16;
  }
}

/// An integer that is passed: values around it of the same type, which all fit
/// the parameter.
static void integerRule(Rule &rule, const ParameterDescription &p,
                        const Specialized &s, const Argument &a) {
  DType dtype = s.runtime.dtype;
  unsigned bits = bitWidth(dtype);
  if (a.kind == Kind::UInt) {
    rule.low = uint64_t{1} << 63;
    rule.span = rule.low - 1;
  } else if (a.kind == Kind::Bool) {
    range(rule, 0, 1);
  } else {
    int64_t low = !isSigned(dtype) ? 0
                  : bits == 64     ? std::numeric_limits<int64_t>::min()
                                   : -(int64_t{1} << (bits - 1));
    int64_t high = isSigned(dtype) ? ~low
                   : bits == 64    ? std::numeric_limits<int64_t>::max()
                                   : (int64_t{1} << bits) - 1;
    if (!p.dtype) {
      // 1 is compiled in, and an int64 is what does not fit an int32.
      bool wide = dtype != DType::Int32;
      if (a.integer > 1) {
        low = wide ? int64_t{INT32_MAX} + 1 : 2;
      } else if (a.integer < 1) {
        high = wide ? int64_t{INT32_MIN} - 1 : 0;
      }
    }
    range(rule, low, high);
  }
  if (dtype != DType::Int1) {
    alignment(rule, p, s);
  }
}

namespace {

class PlanMaker {
public:
  explicit PlanMaker(const LaunchRecord &record) : record(record) {}

  /// Null when no plan can express the launch.
  std::unique_ptr<LaunchPlan> make() {
    const LaunchBinding &binding = record.binding;
    const auto &slotParameters = record.specialization.slotParameters;
    if (binding.size() > plan->rule.size() ||
        record.call.size() > plan->rule.size() ||
        slotParameters.size() > plan->rule.size()) {
      return nullptr;
    }
    plan->knobs = knobsVersion();
    plan->arguments = static_cast<uint16_t>(record.call.size());
    plan->parameters = static_cast<uint16_t>(binding.size());
    plan->slots = static_cast<uint16_t>(slotParameters.size());
    plan->device = binding.device;
    plan->options = binding.options;
    plan->specialization = &record.specialization;
    plan->defaults = record.kernel.defaults.data();
    for (const LaunchArgument &argument : record.call) {
      if (!addArgument(argument)) {
        return nullptr;
      }
    }
    if (!plan->hasTensor) {
      if (!record.preferred) {
        return nullptr; // Device::best() may change
      }
      plan->given = *record.preferred;
    }
    return addDefaults() && isRight() ? std::move(plan) : nullptr;
  }

private:
  /// Where the text stands; nothing when it is full.
  std::optional<uint8_t> addText(std::string_view text) {
    if (text.size() > plan->text.size() - textBytes || text.size() > 255) {
      return std::nullopt;
    }
    std::copy(text.begin(), text.end(), plan->text.begin() + textBytes);
    auto begin = static_cast<uint8_t>(textBytes);
    textBytes += text.size();
    return textBytes < plan->text.size() ? std::optional(begin) : std::nullopt;
  }

  Rule *addRule(size_t parameter) {
    if (plan->rules == plan->rule.size()) {
      return nullptr;
    }
    Rule &rule = plan->rule[plan->rules++];
    if (parameter < record.binding.size()) {
      rule.parameter = static_cast<uint8_t>(parameter);
      const auto &slots = record.specialization.slotParameters;
      for (size_t i = 0; i < slots.size(); ++i) {
        if (slots[i] == parameter) {
          rule.slot = static_cast<uint8_t>(i);
        }
      }
    }
    return &rule;
  }

  bool addArgument(const LaunchArgument &argument) {
    std::optional<size_t> parameter =
        argument.name.empty() ? std::optional(position++)
                              : record.kernel.findParameter(argument.name);
    Rule *rule = addRule(parameter.value_or(LaunchPlan::nowhere));
    std::optional<uint8_t> name = addText(argument.name);
    if (!rule || !name) {
      return false;
    }
    rule->nameOffset = *name;
    rule->nameLength = static_cast<uint8_t>(argument.name.size());
    rule->kind = argument.value.kind;
    if (!parameter) { // a launch option
      onlyThis(*rule, static_cast<uint64_t>(argument.value.integer));
      return true;
    }
    return addValue(*rule, argument.value, *parameter);
  }

  bool addValue(Rule &rule, const Argument &a, size_t parameter) {
    const ParameterDescription &p =
        record.kernel.description.parameters[parameter];
    const Specialized &s = record.specialized[parameter];
    switch (a.kind) {
    case Kind::Tensor:
      plan->hasTensor = true;
      plan->given = a.tensor->device();
      rule.dtype = a.tensor->dtype();
      anything(rule);
      alignment(rule, p, s);
      return true;
    case Kind::Pointer:
      rule.read = Read::Address;
      rule.dtype = a.pointee;
      anything(rule);
      alignment(rule, p, s);
      return true;
    case Kind::None:
      onlyThis(rule, 0);
      return true;
    case Kind::DType:
      rule.read = Read::DType;
      onlyThis(rule, static_cast<uint64_t>(a.dtype));
      return true;
    case Kind::String: {
      std::optional<uint8_t> text = addText(a.string());
      rule.read = Read::Text;
      rule.low = text.value_or(0);
      rule.span = a.length;
      return text.has_value();
    }
    case Kind::Static:
    case Kind::Function:
    case Kind::Descriptor:
    case Kind::Tuple:
      return false;
    default:
      break;
    }
    if (s.isStatic) {
      onlyThis(rule, static_cast<uint64_t>(a.integer));
      return true;
    }
    if (a.kind != Kind::Float) {
      integerRule(rule, p, s, a);
      return !isFloat(s.runtime.dtype);
    }
    anything(rule);
    rule.read = s.runtime.dtype == DType::Float32 ? Read::Float32 : Read::Plain;
    return rule.read == Read::Float32 || s.runtime.dtype == DType::Float64;
  }

  bool addDefaults() {
    const Argument *defaults = record.kernel.defaults.data();
    for (size_t i = 0; i < record.binding.size(); ++i) {
      if (record.binding.get(i) != &defaults[i]) {
        continue;
      }
      Rule *rule = addRule(i);
      if (!rule) {
        return false;
      }
      onlyThis(*rule, record.specialized[i].slot);
    }
    return true;
  }

  /// The plan must find of its own launch what the slow path found.
  bool isRight() const {
    const Argument *bound[LaunchPlan::places] = {};
    uint64_t slots[LaunchPlan::places] = {};
    if (!plan->match(record.preferred, record.call, bound, slots)) {
      return false;
    }
    const auto &parameters = record.specialization.slotParameters;
    for (size_t i = 0; i < parameters.size(); ++i) {
      if (slots[i] != record.specialized[parameters[i]].slot) {
        return false;
      }
    }
    for (size_t i = 0; i < record.binding.size(); ++i) {
      if (bound[i] != record.binding.get(i)) {
        return false;
      }
    }
    return true;
  }

  const LaunchRecord &record;
  std::unique_ptr<LaunchPlan> plan = std::make_unique<LaunchPlan>();
  size_t position = 0, textBytes = 0;
};

} // namespace

/// Are all named arguments compiled in? Then launches of the plan have one
/// mark.
static bool hasOneMark(const LaunchRecord &record) {
  return std::ranges::all_of(record.call, [&](const LaunchArgument &argument) {
    std::optional<size_t> parameter =
        argument.name.empty() ? std::nullopt
                              : record.kernel.findParameter(argument.name);
    return !parameter || record.specialized[*parameter].isStatic;
  });
}

void rememberLaunch(const LaunchRecord &record) {
  Specialization &specialization = record.specialization;
  std::call_once(specialization.planned,
                 [&] { specialization.plan = PlanMaker(record).make(); });
  if (specialization.plan) {
    record.kernel.plans.add(specialization.plan.get(),
                            hasOneMark(record) ? markOfLaunch(record.call) : 0);
  }
}

} // namespace nereid
