//===- IntegerOpsTest.cpp - Integer operations against LLVM's APInt -------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/Interp/KernelRunner.h"

#include "llvm/ADT/APInt.h"

#include <functional>
#include <random>

using namespace nereid::interp;
using llvm::APInt;

namespace {

/// Applies a binary operation to blocks of random values of every width and
/// compares each element with APInt.
template <typename T>
void compare(const std::string &op,
             const std::function<APInt(APInt, APInt)> &expected) {
  std::mt19937_64 random(11);
  std::vector<T> a(128), b(128), r(128);
  for (size_t i = 0; i < a.size(); ++i) {
    // Small values as often as large ones: shifts and divisions need both.
    a[i] = static_cast<T>(random() >> (random() % 64));
    b[i] = static_cast<T>(random() >> (random() % 64));
  }
  std::string type = "i" + std::to_string(8 * sizeof(T));
  std::string block = "tensor<128x" + type + ">";
  std::string pointers = "tensor<128x!tile.ptr<" + type + ">>";
  std::string body = "%i = tile.range 0, 128 : tensor<128xi32>\n";
  for (const char *name : {"a", "b", "r"}) {
    std::string n = name;
    body += "%" + n + "s = tile.splat %" + n + " : !tile.ptr<" + type +
            "> -> " + pointers + "\n%" + n + "p = tile.addptr %" + n +
            "s, %i : " + pointers + ", tensor<128xi32>\n";
  }
  body += "%x = tile.load %ap : " + pointers + "\n";
  body += "%y = tile.load %bp : " + pointers + "\n";
  body += "%z = " + op + " %x, %y : " + block + "\n";
  body += "tile.store %rp, %z : " + pointers + "\n";
  std::string pointer = "!tile.ptr<" + type + ">";
  KernelRunner runner(
      "%a: " + pointer + ", %b: " + pointer + ", %r: " + pointer, body);
  runner.pass(a).pass(b).pass(r).run();
  unsigned width = 8 * sizeof(T);
  for (size_t i = 0; i < a.size(); ++i) {
    APInt x(width, static_cast<uint64_t>(a[i]), false, true);
    APInt y(width, static_cast<uint64_t>(b[i]), false, true);
    ASSERT_EQ(expected(x, y), APInt(width, uint64_t(r[i]), false, true))
        << op << " on " << type << ": " << int64_t(a[i]) << ", "
        << int64_t(b[i]);
  }
}

void compareAll(const std::string &op,
                const std::function<APInt(APInt, APInt)> &expected) {
  compare<int8_t>(op, expected);
  compare<int16_t>(op, expected);
  compare<int32_t>(op, expected);
  compare<int64_t>(op, expected);
}

TEST(IntegerOpsTest, Arithmetic) {
  compareAll("arith.addi", [](APInt a, APInt b) { return a + b; });
  compareAll("arith.subi", [](APInt a, APInt b) { return a - b; });
  compareAll("arith.muli", [](APInt a, APInt b) { return a * b; });
  compareAll("arith.andi", [](APInt a, APInt b) { return a & b; });
  compareAll("arith.ori", [](APInt a, APInt b) { return a | b; });
  compareAll("arith.xori", [](APInt a, APInt b) { return a ^ b; });
  compareAll("arith.maxsi", llvm::APIntOps::smax);
  compareAll("arith.minsi", llvm::APIntOps::smin);
  compareAll("arith.maxui", llvm::APIntOps::umax);
  compareAll("arith.minui", llvm::APIntOps::umin);
}

/// A divisor of 0 counts as 1.
TEST(IntegerOpsTest, DivisionsDefineWhatTheDialectDoesNot) {
  auto zero = [](const APInt &a) { return APInt(a.getBitWidth(), 0); };
  compareAll("arith.divsi",
             [&](APInt a, APInt b) { return b.isZero() ? a : a.sdiv(b); });
  compareAll("arith.remsi", [&](APInt a, APInt b) {
    return b.isZero() ? zero(a) : a.srem(b);
  });
  compareAll("arith.divui",
             [&](APInt a, APInt b) { return b.isZero() ? a : a.udiv(b); });
  compareAll("arith.remui", [&](APInt a, APInt b) {
    return b.isZero() ? zero(a) : a.urem(b);
  });
  compareAll("arith.floordivsi", [&](APInt a, APInt b) {
    return b.isZero()
               ? a
               : llvm::APIntOps::RoundingSDiv(a, b, APInt::Rounding::DOWN);
  });
  compareAll("arith.ceildivsi", [&](APInt a, APInt b) {
    return b.isZero() ? a
                      : llvm::APIntOps::RoundingSDiv(a, b, APInt::Rounding::UP);
  });
  compareAll("arith.ceildivui", [&](APInt a, APInt b) {
    return b.isZero() ? zero(a)
                      : llvm::APIntOps::RoundingUDiv(a, b, APInt::Rounding::UP);
  });
}

TEST(IntegerOpsTest, ShiftsPastTheWidth) {
  compareAll("arith.shli", [](APInt a, APInt b) { return a.shl(b); });
  compareAll("arith.shrui", [](APInt a, APInt b) { return a.lshr(b); });
  compareAll("arith.shrsi", [](APInt a, APInt b) { return a.ashr(b); });
}

TEST(IntegerOpsTest, Powers) {
  compareAll("math.ipowi", [](APInt a, APInt b) {
    unsigned width = a.getBitWidth();
    if (b.isNegative()) {
      return a.isOne()       ? a
             : a.isAllOnes() ? (b[0] ? a : APInt(width, 1))
                             : APInt(width, 0);
    }
    APInt r(width, 1);
    for (unsigned bit = width; bit-- > 0;) {
      r *= r;
      r = b[bit] ? r * a : r;
    }
    return r;
  });
}

} // namespace
