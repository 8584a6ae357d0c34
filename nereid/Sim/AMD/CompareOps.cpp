//===- CompareOps.cpp - Comparisons of lanes ------------------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/Sim/AMD/Functions.h"
#include "nereid/Sim/AMD/MemoryRows.h"

#include <cmath>

namespace nereid::sim::amd {

namespace {
/// Which of less, equal, greater and unordered it holds for.
enum Outcome : unsigned { Less = 1, Equal = 2, Greater = 4, Unordered = 8 };

struct Condition {
  const char *name;
  unsigned outcomes;
};
} // namespace

static constexpr Condition conditions[] = {
    {"f", 0},
    {"lt", Less},
    {"eq", Equal},
    {"le", Less | Equal},
    {"gt", Greater},
    {"lg", Less | Greater},
    {"ge", Greater | Equal},
    {"o", Less | Equal | Greater},
    {"u", Unordered},
    {"nge", Less | Unordered},
    {"nlg", Equal | Unordered},
    {"ngt", Less | Equal | Unordered},
    {"nle", Greater | Unordered},
    {"neq", Less | Greater | Unordered},
    {"nlt", Greater | Equal | Unordered},
    {"t", Less | Equal | Greater | Unordered},
    {"tru", Less | Equal | Greater | Unordered},
    {"ne", Less | Greater},
};

template <typename T>
static double numberOf(T value) {
  return double(value);
}
template <>
double numberOf(Half value) {
  return value.value();
}

template <typename T, unsigned Outcomes>
static bool compare(T a, T b) {
  if constexpr (std::is_integral_v<T>) {
    return (a < b ? Less : a > b ? Greater : Equal) & Outcomes;
  } else {
    double x = numberOf(a), y = numberOf(b);
    unsigned outcome = x < y    ? Less
                       : x > y  ? Greater
                       : x == y ? Equal
                                : Unordered;
    return outcome & Outcomes;
  }
}

template <typename T, unsigned Outcomes>
static void add(std::vector<Semantics> &rows, const char *type) {
  std::string plain, writing;
  for (const Condition &condition : conditions) {
    if (condition.outcomes == Outcomes) {
      std::string end = std::string("_") + condition.name + "_" + type + " ";
      plain += "v_cmp" + end;
      writing += "v_cmpx" + end;
    }
  }
  rows.push_back(lanesOf<compare<T, Outcomes>>(keep(plain)));
  rows.push_back(lanesOf<compare<T, Outcomes>>(keep(writing), WritesExec));
}

template <typename T, unsigned... Outcomes>
static void addAll(std::vector<Semantics> &rows, const char *type,
                   std::integer_sequence<unsigned, Outcomes...>) {
  (add<T, Outcomes>(rows, type), ...);
}

std::span<const Semantics> compareFamily() {
  static const std::vector<Semantics> rows = [] {
    std::vector<Semantics> all;
    auto every = std::make_integer_sequence<unsigned, 16>();
    addAll<float>(all, "f32", every);
    addAll<double>(all, "f64", every);
    addAll<Half>(all, "f16", every);
    addAll<int16_t>(all, "i16", every);
    addAll<uint16_t>(all, "u16", every);
    addAll<int32_t>(all, "i32", every);
    addAll<uint32_t>(all, "u32", every);
    addAll<int64_t>(all, "i64", every);
    addAll<uint64_t>(all, "u64", every);
    return all;
  }();
  return rows;
}

} // namespace nereid::sim::amd
