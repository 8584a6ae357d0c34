//===- CompareOps.cpp - Comparisons and selections ------------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// PTX ISA 9.7.6, "Comparison and Selection Instructions".
//
//===----------------------------------------------------------------------===//

#include "nereid/Sim/Decoder.h"
#include "nereid/Sim/Lanes.h"

#include <cmath>

namespace nereid::sim {

namespace {

/// What holds between two numbers, one of them.
enum Relation : unsigned { Less = 1, Equal = 2, Greater = 4, Unordered = 8 };

} // namespace

template <typename T>
static unsigned relation(T a, T b) {
  if constexpr (std::is_same_v<T, Half> || std::is_same_v<T, BFloat>) {
    return relation(a.value(), b.value());
  } else {
    return a < b ? Less : a == b ? Equal : a > b ? Greater : Unordered;
  }
}

/// The lanes whose sources 0 and 1 stand in one of the relations.
template <typename T>
static uint32_t compare(Warp &warp, const Instruction &instruction) {
  const LaneVector &a = warp.at(instruction.from[0]);
  const LaneVector &b = warp.at(instruction.from[1]);
  auto wanted = unsigned(instruction.detail[0]);
  uint32_t mask = 0;
  for (unsigned lane = 0; lane < lanes; ++lane) {
    unsigned found = relation(fromSlot<T>(a[lane]), fromSlot<T>(b[lane]));
    mask |= uint32_t((found & wanted) != 0) << lane;
  }
  return mask;
}

/// p, q = (a cmp b) op c, !(a cmp b) op c; without c, the comparison itself.
template <typename T>
static void setPredicates(Warp &warp, const Instruction &instruction) {
  uint32_t mask = compare<T>(warp, instruction), inverse = ~mask;
  if (instruction.predicates.size() > 2) {
    uint32_t other = warp.predicates[instruction.predicates[2]];
    other = instruction.detail[2] ? ~other : other;
    auto combine = [&](uint32_t value) {
      return instruction.detail[1] == 0   ? value & other
             : instruction.detail[1] == 1 ? value | other
                                          : value ^ other;
    };
    mask = combine(mask);
    inverse = combine(inverse);
  }
  writePredicate(warp, instruction.predicates[0], mask);
  writePredicate(warp, instruction.predicates[1], inverse);
}

/// 1.0 or all ones, where the comparison holds; else 0.
template <typename T>
static void setNumbers(Warp &warp, const Instruction &instruction) {
  uint32_t mask = compare<T>(warp, instruction);
  LaneVector &to = warp.at(instruction.to[0]);
  forLanes(warp.active, [&](unsigned lane) {
    to[lane] = (mask >> lane) & 1 ? instruction.detail[1] : 0;
  });
}

static unsigned relationsOf(std::string_view name, bool isFloat) {
  struct Row {
    const char *name;
    unsigned relations;
  };
  static constexpr Row common[] = {
      {"eq", Equal},        {"ne", Less | Greater}, {"lt", Less},
      {"le", Less | Equal}, {"gt", Greater},        {"ge", Greater | Equal},
  };
  static constexpr Row ofFloats[] = {
      {"equ", Equal | Unordered},      {"neu", Less | Greater | Unordered},
      {"ltu", Less | Unordered},       {"leu", Less | Equal | Unordered},
      {"gtu", Greater | Unordered},    {"geu", Greater | Equal | Unordered},
      {"num", Less | Equal | Greater}, {"nan", Unordered},
  };
  static constexpr Row ofUnsigned[] = {
      {"lo", Less},
      {"ls", Less | Equal},
      {"hi", Greater},
      {"hs", Greater | Equal},
  };
  for (const Row &row : common) {
    if (name == row.name) {
      return row.relations;
    }
  }
  if (isFloat) {
    for (const Row &row : ofFloats) {
      if (name == row.name) {
        return row.relations;
      }
    }
    return 0;
  }
  for (const Row &row : ofUnsigned) {
    if (name == row.name) {
      return row.relations;
    }
  }
  return 0;
}

namespace {
struct CompareRow {
  const char *type;
  Execute predicates, numbers;
};
} // namespace

#define NEREID_SIM_COMPARE(type, T) {type, setPredicates<T>, setNumbers<T>}

static const CompareRow &compareRow(Decoder &d, std::string_view type) {
  static constexpr CompareRow rows[] = {
      NEREID_SIM_COMPARE("s16", int16_t),  NEREID_SIM_COMPARE("u16", uint16_t),
      NEREID_SIM_COMPARE("b16", uint16_t), NEREID_SIM_COMPARE("s32", int32_t),
      NEREID_SIM_COMPARE("u32", uint32_t), NEREID_SIM_COMPARE("b32", uint32_t),
      NEREID_SIM_COMPARE("s64", int64_t),  NEREID_SIM_COMPARE("u64", uint64_t),
      NEREID_SIM_COMPARE("b64", uint64_t), NEREID_SIM_COMPARE("f32", float),
      NEREID_SIM_COMPARE("f64", double),   NEREID_SIM_COMPARE("f16", Half),
      NEREID_SIM_COMPARE("bf16", BFloat),
  };
  for (const CompareRow &row : rows) {
    if (type == row.type) {
      return row;
    }
  }
  d.refuse();
}

static bool isFloatType(std::string_view type) {
  return type.starts_with("f") || type.starts_with("bf");
}

static void decodeComparison(Decoder &d, std::string_view type,
                             size_t firstSource) {
  d.made->detail[0] = relationsOf(d.word(1), isFloatType(type));
  if (!d.made->detail[0] || d.has("ftz")) {
    d.refuse();
  }
  d.made->from = {d.source(firstSource), d.source(firstSource + 1)};
}

static void decodeSetp(Decoder &d) {
  d.made->execute = compareRow(d, d.lastWord()).predicates;
  decodeComparison(d, d.lastWord(), 1);
  d.writtenPredicates(d.operand(0));
  if (d.operandCount() > 3) {
    d.made->detail[1] = d.has("and") ? 0 : d.has("or") ? 1 : 2;
    d.made->detail[2] = d.operand(3).isNegated;
    d.made->predicates.push_back(d.predicate(d.operand(3)));
  }
}

static void decodeSet(Decoder &d) {
  std::string_view to = d.word(d.statement->words.size() - 2);
  d.made->execute = compareRow(d, d.lastWord()).numbers;
  decodeComparison(d, d.lastWord(), 1);
  d.made->detail[1] = to == "f32" ? 0x3f800000 : 0xffffffff;
  d.made->to = {d.result(0)};
  if (d.operandCount() > 3) {
    d.refuse();
  }
}

static void select(Warp &warp, const Instruction &instruction) {
  uint32_t mask = warp.predicates[instruction.predicates[0]];
  mask = instruction.detail[0] ? ~mask : mask;
  const LaneVector &a = warp.at(instruction.from[0]);
  const LaneVector &b = warp.at(instruction.from[1]);
  LaneVector &to = warp.at(instruction.to[0]);
  uint64_t bits = instruction.detail[1];
  forLanes(warp.active, [&](unsigned lane) {
    to[lane] = ((mask >> lane) & 1 ? a[lane] : b[lane]) & bits;
  });
}

static void decodeSelp(Decoder &d) {
  d.made->execute = select;
  d.made->to = {d.result(0)};
  d.made->from = {d.source(1), d.source(2)};
  d.made->predicates = {d.predicate(d.operand(3))};
  d.made->detail[0] = d.operand(3).isNegated;
  d.made->detail[1] = lowBits(d.bitsOf(d.operand(0)));
}

template <typename T>
static void testNumbers(Warp &warp, const Instruction &instruction) {
  const LaneVector &a = warp.at(instruction.from[0]);
  uint32_t mask = 0;
  for (unsigned lane = 0; lane < lanes; ++lane) {
    switch (std::fpclassify(fromSlot<T>(a[lane]))) {
    case FP_NAN:
      mask |= uint32_t(instruction.detail[0] & 1) << lane;
      break;
    case FP_INFINITE:
      mask |= uint32_t((instruction.detail[0] >> 1) & 1) << lane;
      break;
    case FP_SUBNORMAL:
      mask |= uint32_t((instruction.detail[0] >> 2) & 1) << lane;
      break;
    default:
      mask |= uint32_t((instruction.detail[0] >> 3) & 1) << lane;
      break;
    }
  }
  writePredicate(warp, instruction.predicates[0], mask);
}

static void decodeTestp(Decoder &d) {
  std::string_view what = d.word(1);
  d.made->detail[0] = what == "notanumber"  ? 1
                      : what == "infinite"  ? 2
                      : what == "subnormal" ? 4
                      : what == "normal"    ? 8
                      : what == "finite"    ? 12
                      : what == "number"    ? 14
                                            : 0;
  if (!d.made->detail[0]) {
    d.refuse();
  }
  d.made->execute =
      d.lastWord() == "f64" ? testNumbers<double> : testNumbers<float>;
  d.made->from = {d.source(1)};
  d.made->predicates = {d.predicate(d.operand(0))};
}

void addCompareOps(DecodeTable &table) {
  table["setp"] = decodeSetp;
  table["set"] = decodeSet;
  table["selp"] = decodeSelp;
  table["testp"] = decodeTestp;
}

} // namespace nereid::sim
