//===- ArithOps.cpp - Integer and float arithmetic ------------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Integers wrap. What the dialect leaves undefined is defined here, so that
// nothing a kernel does can stop the process: a divisor of zero counts as one,
// as on every processor; a shift by the width or more gives 0, or the sign.
//
//===----------------------------------------------------------------------===//

#include "nereid/Interp/Elementwise.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

#include <cmath>

namespace nereid::interp {

using mlir::arith::CmpFPredicate;
using mlir::arith::CmpIPredicate;

//===----------------------------------------------------------------------===//
// Integers
//===----------------------------------------------------------------------===//

/// A divisor of 0 counts as 1. -2^63 / -1 overflows in hardware: it wraps.
static int64_t divide(int64_t a, int64_t b) {
  return b == 0    ? a
         : b == -1 ? static_cast<int64_t>(-static_cast<uint64_t>(a))
                   : a / b;
}
static int64_t remainder(int64_t a, int64_t b) {
  return b == 0 || b == -1 ? 0 : a % b;
}

/// Notes where `isUndefined(a, b, width)`, for the oracle; the result is then
/// unspecified.
static Handler checked(Handler handler,
                       bool (*isUndefined)(int64_t, int64_t, unsigned)) {
  auto run = [handler, isUndefined](Machine &m, const Step &step) {
    handler.run(m, step);
    if (!m.tracksErrors()) {
      return;
    }
    const TileValue &x = m.in(step, 0), &y = m.in(step, 1);
    Elements<int64_t> a(x.ints), b(y.ints);
    TileValue &r = m.slot(step.results[0]);
    for (int64_t i = 0, n = r.size(); i < n; ++i) {
      if (isUndefined(a[i], b[i], x.element.width)) {
        m.noteUndefined(step);
        r.setUnknown(i);
      }
    }
  };
  return {run, true};
}

static bool dividesByZero(int64_t, int64_t b, unsigned) { return b == 0; }
/// The quotient of the smallest number by -1 does not exist.
static bool overflows(int64_t a, int64_t b, unsigned w) {
  return b == 0 ||
         (asSigned(w, b) == -1 && asUnsigned(w, a) == uint64_t{1} << (w - 1));
}

static void addDivisions(HandlerTable &table) {
  table["arith.divsi"] = intBinary([](int64_t a, int64_t b, unsigned w) {
    return divide(asSigned(w, a), asSigned(w, b));
  });
  table["arith.remsi"] = intBinary([](int64_t a, int64_t b, unsigned w) {
    return remainder(asSigned(w, a), asSigned(w, b));
  });
  table["arith.floordivsi"] = intBinary([](int64_t a, int64_t b, unsigned w) {
    a = asSigned(w, a), b = asSigned(w, b);
    return divide(a, b) - (b != 0 && remainder(a, b) && (a < 0) != (b < 0));
  });
  table["arith.ceildivsi"] = intBinary([](int64_t a, int64_t b, unsigned w) {
    a = asSigned(w, a), b = asSigned(w, b);
    return divide(a, b) + (b != 0 && remainder(a, b) && (a < 0) == (b < 0));
  });
  table["arith.divui"] = intBinary([](int64_t a, int64_t b, unsigned w) {
    return b == 0 ? a : int64_t(asUnsigned(w, a) / asUnsigned(w, b));
  });
  table["arith.remui"] = intBinary([](int64_t a, int64_t b, unsigned w) {
    return b == 0 ? 0 : int64_t(asUnsigned(w, a) % asUnsigned(w, b));
  });
  table["arith.ceildivui"] = intBinary([](int64_t a, int64_t b, unsigned w) {
    uint64_t x = asUnsigned(w, a), y = asUnsigned(w, b);
    return y == 0 ? 0 : int64_t(x / y + (x % y != 0));
  });
}

static void checkDivisions(HandlerTable &table) {
  for (const char *name : {"arith.floordivsi", "arith.ceildivsi"}) {
    table[name] = checked(table[name], overflows);
  }
  table["arith.ceildivui"] = checked(table["arith.ceildivui"], dividesByZero);
}

/// `f(a, b)` of bits: an operand equal to `deciding`, -1 or 0, is the result
/// whatever the other one is.
template <typename F>
static Handler bitwise(F f, int64_t deciding) {
  Handler plain = intBinary(f);
  auto run = [plain, deciding](Machine &m, const Step &step) {
    plain.run(m, step);
    const TileValue &x = m.in(step, 0), &y = m.in(step, 1);
    if (x.errors.empty() && y.errors.empty()) {
      return;
    }
    Elements<int64_t> a(x.ints), b(y.ints);
    TileValue &r = m.slot(step.results[0]);
    unsigned width = r.element.width;
    for (int64_t i = 0, n = r.size(); i < n; ++i) {
      bool isDecided = (!x.isUnknown(i) && asSigned(width, a[i]) == deciding) ||
                       (!y.isUnknown(i) && asSigned(width, b[i]) == deciding);
      if (!isDecided && (x.isUnknown(i) || y.isUnknown(i))) {
        r.setUnknown(i);
      }
    }
  };
  return {run, true, true};
}

static void addBitOps(HandlerTable &table) {
  table["arith.andi"] =
      bitwise([](int64_t a, int64_t b, unsigned) { return a & b; }, 0);
  table["arith.ori"] =
      bitwise([](int64_t a, int64_t b, unsigned) { return a | b; }, -1);
  table["arith.xori"] =
      intBinary([](int64_t a, int64_t b, unsigned) { return a ^ b; });
  table["arith.shli"] = intBinary([](int64_t a, int64_t b, unsigned w) {
    uint64_t by = asUnsigned(w, b);
    return by >= w ? 0 : static_cast<int64_t>(static_cast<uint64_t>(a) << by);
  });
  table["arith.shrui"] = intBinary([](int64_t a, int64_t b, unsigned w) {
    uint64_t by = asUnsigned(w, b);
    return by >= w ? 0 : static_cast<int64_t>(asUnsigned(w, a) >> by);
  });
  table["arith.shrsi"] = intBinary([](int64_t a, int64_t b, unsigned w) {
    uint64_t by = asUnsigned(w, b);
    return asSigned(w, a) >> (by >= w ? w - 1 : by);
  });
}

/// Low and high half of a product or sum of twice the width.
template <typename F>
static Handler intExtended(F f) {
  auto run = [f](Machine &m, const Step &step) {
    Elements<int64_t> a(m.in(step, 0).ints), b(m.in(step, 1).ints);
    unsigned w = m.in(step, 0).element.width;
    TileValue &low = m.out(step, 0), &high = m.out(step, 1);
    for (int64_t i = 0, n = low.size(); i < n; ++i) {
      unsigned __int128 wide = f(a[i], b[i], w);
      low.ints[i] = wrap(w, static_cast<int64_t>(wide));
      high.ints[i] = wrap(high.element.width, static_cast<int64_t>(wide >> w));
    }
  };
  return {run, true};
}

static void addIntegers(HandlerTable &table) {
  table["arith.addi"] = intBinary(
      [](uint64_t a, uint64_t b, unsigned) { return int64_t(a + b); });
  table["arith.subi"] = intBinary(
      [](uint64_t a, uint64_t b, unsigned) { return int64_t(a - b); });
  table["arith.muli"] = intBinary(
      [](uint64_t a, uint64_t b, unsigned) { return int64_t(a * b); });
  table["arith.maxsi"] = intBinary([](int64_t a, int64_t b, unsigned w) {
    return asSigned(w, a) > asSigned(w, b) ? a : b;
  });
  table["arith.minsi"] = intBinary([](int64_t a, int64_t b, unsigned w) {
    return asSigned(w, a) < asSigned(w, b) ? a : b;
  });
  table["arith.maxui"] = intBinary([](int64_t a, int64_t b, unsigned w) {
    return asUnsigned(w, a) > asUnsigned(w, b) ? a : b;
  });
  table["arith.minui"] = intBinary([](int64_t a, int64_t b, unsigned w) {
    return asUnsigned(w, a) < asUnsigned(w, b) ? a : b;
  });
  using Wide = unsigned __int128;
  table["arith.mului_extended"] =
      intExtended([](int64_t a, int64_t b, unsigned w) {
        return Wide(asUnsigned(w, a)) * asUnsigned(w, b);
      });
  table["arith.mulsi_extended"] =
      intExtended([](int64_t a, int64_t b, unsigned w) {
        return Wide(__int128(asSigned(w, a)) * asSigned(w, b));
      });
  table["arith.addui_extended"] =
      intExtended([](int64_t a, int64_t b, unsigned w) {
        return Wide(asUnsigned(w, a)) + asUnsigned(w, b);
      });
}

//===----------------------------------------------------------------------===//
// Floats
//===----------------------------------------------------------------------===//

/// NaN if either is; -0 below +0.
static double maximum(double a, double b) {
  return std::isnan(a)   ? a
         : std::isnan(b) ? b
         : a == b        ? (std::signbit(a) ? b : a)
                         : std::fmax(a, b);
}
static double minimum(double a, double b) {
  return std::isnan(a)   ? a
         : std::isnan(b) ? b
         : a == b        ? (std::signbit(a) ? a : b)
                         : std::fmin(a, b);
}
/// The other one if one is NaN.
static double maxNumber(double a, double b) {
  return std::isnan(a) ? b : std::isnan(b) ? a : maximum(a, b);
}
static double minNumber(double a, double b) {
  return std::isnan(a) ? b : std::isnan(b) ? a : minimum(a, b);
}

static Handler sumOfFloats() {
  Handler plain =
      floatOp({[](double a, double b, double) { return a + b; }, 0.5});
  auto run = [plain](Machine &m, const Step &step) {
    plain.run(m, step);
    if (m.tracksErrors()) {
      allowForAccumulation(m, step);
    }
  };
  return {run, true};
}

static void addFloats(HandlerTable &table) {
  using D = double;
  table["arith.addf"] = sumOfFloats();
  table["arith.subf"] = floatOp({[](D a, D b, D) { return a - b; }, 0.5});
  table["arith.mulf"] = floatOp({[](D a, D b, D) { return a * b; }, 0.5});
  // PTX promises 2 ulps of div.full.f32.
  table["arith.divf"] = floatOp({.evaluate = [](D a, D b, D) { return a / b; },
                                 .ulps = 0.5,
                                 .approximateUlps = 2.5,
                                 .upstreamUlps = 2.5});
  table["arith.remf"] =
      floatOp({[](D a, D b, D) { return std::fmod(a, b); }, 0});
  table["arith.negf"] = floatOp({[](D a, D, D) { return -a; }, 0});
  table["arith.maximumf"] =
      floatOp({[](D a, D b, D) { return maximum(a, b); }, 0});
  table["arith.minimumf"] =
      floatOp({[](D a, D b, D) { return minimum(a, b); }, 0});
  table["arith.maxnumf"] =
      floatOp({[](D a, D b, D) { return maxNumber(a, b); }, 0});
  table["arith.minnumf"] =
      floatOp({[](D a, D b, D) { return minNumber(a, b); }, 0});
}

//===----------------------------------------------------------------------===//
// Comparison and selection
//===----------------------------------------------------------------------===//

static bool compare(CmpIPredicate predicate, int64_t a, int64_t b, unsigned w) {
  switch (predicate) {
  case CmpIPredicate::eq:
    return a == b;
  case CmpIPredicate::ne:
    return a != b;
  case CmpIPredicate::slt:
    return asSigned(w, a) < asSigned(w, b);
  case CmpIPredicate::sle:
    return asSigned(w, a) <= asSigned(w, b);
  case CmpIPredicate::sgt:
    return asSigned(w, a) > asSigned(w, b);
  case CmpIPredicate::sge:
    return asSigned(w, a) >= asSigned(w, b);
  case CmpIPredicate::ult:
    return asUnsigned(w, a) < asUnsigned(w, b);
  case CmpIPredicate::ule:
    return asUnsigned(w, a) <= asUnsigned(w, b);
  case CmpIPredicate::ugt:
    return asUnsigned(w, a) > asUnsigned(w, b);
  case CmpIPredicate::uge:
    return asUnsigned(w, a) >= asUnsigned(w, b);
  }
  return false;
}

static void runCmpI(Machine &m, const Step &step) {
  CmpIPredicate predicate =
      mlir::cast<mlir::arith::CmpIOp>(step.op).getPredicate();
  Elements<int64_t> a(m.in(step, 0).ints), b(m.in(step, 1).ints);
  unsigned width = m.in(step, 0).element.width;
  TileValue &r = m.out(step);
  for (int64_t i = 0, n = r.size(); i < n; ++i) {
    r.ints[i] = compare(predicate, a[i], b[i], width);
  }
}

/// The ordered predicates are false, the unordered true, where a NaN is.
static bool compare(CmpFPredicate predicate, double a, double b) {
  bool unordered = std::isnan(a) || std::isnan(b);
  switch (predicate) {
  case CmpFPredicate::AlwaysFalse:
    return false;
  case CmpFPredicate::AlwaysTrue:
    return true;
  case CmpFPredicate::ORD:
    return !unordered;
  case CmpFPredicate::UNO:
    return unordered;
  case CmpFPredicate::OEQ:
    return a == b;
  case CmpFPredicate::UEQ:
    return unordered || a == b;
  case CmpFPredicate::ONE:
    return !unordered && a != b;
  case CmpFPredicate::UNE:
    return a != b;
  case CmpFPredicate::OGT:
    return a > b;
  case CmpFPredicate::UGT:
    return unordered || a > b;
  case CmpFPredicate::OGE:
    return a >= b;
  case CmpFPredicate::UGE:
    return unordered || a >= b;
  case CmpFPredicate::OLT:
    return a < b;
  case CmpFPredicate::ULT:
    return unordered || a < b;
  case CmpFPredicate::OLE:
    return a <= b;
  case CmpFPredicate::ULE:
    return unordered || a <= b;
  }
  return false;
}

static void runCmpF(Machine &m, const Step &step) {
  CmpFPredicate predicate =
      mlir::cast<mlir::arith::CmpFOp>(step.op).getPredicate();
  // x != x, as ordered and unordered, depends on no rounding.
  bool asksForNan = predicate == CmpFPredicate::ORD ||
                    predicate == CmpFPredicate::UNO ||
                    step.operands[0] == step.operands[1];
  const TileValue &x = m.in(step, 0), &y = m.in(step, 1);
  Elements<double> a(x.floats), b(y.floats);
  TileValue &r = m.out(step);
  for (int64_t i = 0, n = r.size(); i < n; ++i) {
    r.ints[i] = compare(predicate, a[i], b[i]);
    double error =
        x.errorAt(x.size() == 1 ? 0 : i) + y.errorAt(y.size() == 1 ? 0 : i);
    if (asksForNan) {
      if (std::isinf(error)) {
        r.setUnknown(i);
      }
      continue;
    }
    bool isNan = std::isnan(a[i]) || std::isnan(b[i]);
    if (m.tracksErrors() && ((error > 0 && !(std::fabs(a[i] - b[i]) > error)) ||
                             (isNan && m.isCombining))) {
      r.setUnknown(i);
    }
  }
}

/// How far the value that was not chosen may lie from the one that was.
static double errorOfOther(const TileValue &chosen, const TileValue &other,
                           int64_t i) {
  int64_t c = chosen.size() == 1 ? 0 : i, o = other.size() == 1 ? 0 : i;
  constexpr double anywhere = std::numeric_limits<double>::infinity();
  if (!chosen.element.isFloat()) {
    return chosen.ints[c] == other.ints[o] ? other.errorAt(o) : anywhere;
  }
  double a = chosen.floats[c], b = other.floats[o];
  bool isSame = a == b || (std::isnan(a) && std::isnan(b));
  double apart = isSame ? 0 : std::fabs(a - b);
  return std::isnan(apart) ? anywhere : apart + other.errorAt(o);
}

/// Where the condition depends on a rounding, the result is either of the two.
static void runSelect(Machine &m, const Step &step) {
  const TileValue &which = m.in(step, 0);
  Elements<int64_t> condition(which.ints);
  const TileValue &yes = m.in(step, 1), &no = m.in(step, 2);
  TileValue &r = m.out(step);
  bool isFloat = r.element.isFloat();
  if (!yes.errors.empty() || !no.errors.empty() || !which.errors.empty()) {
    r.errors.resize(r.size());
  }
  for (int64_t i = 0, n = r.size(); i < n; ++i) {
    const TileValue &chosen = condition[i] ? yes : no;
    int64_t j = chosen.size() == 1 ? 0 : i;
    if (isFloat) {
      r.floats[i] = chosen.floats[j];
    } else {
      r.ints[i] = chosen.ints[j];
    }
    if (!r.errors.empty()) {
      r.errors[i] = chosen.errorAt(j);
      if (which.isUnknown(i)) {
        const TileValue &other = condition[i] ? no : yes;
        r.errors[i] = std::max(r.errors[i], errorOfOther(chosen, other, i));
      }
    }
  }
}

//===----------------------------------------------------------------------===//
// Constants
//===----------------------------------------------------------------------===//

static void setConstant(TileValue &r, int64_t i, const llvm::APFloat &value) {
  setBits(r, i, value.bitcastToAPInt().getZExtValue());
}
static void setConstant(TileValue &r, int64_t i, const llvm::APInt &value) {
  setBits(r, i, value.getZExtValue());
}

template <typename T>
static void fillDense(TileValue &r, mlir::DenseElementsAttr dense) {
  if (dense.isSplat()) {
    T value = dense.getSplatValue<T>();
    for (int64_t i = 0, n = r.size(); i < n; ++i) {
      setConstant(r, i, value);
    }
    return;
  }
  for (auto [i, value] : llvm::enumerate(dense.getValues<T>())) {
    setConstant(r, static_cast<int64_t>(i), value);
  }
}

static void runConstant(Machine &m, const Step &step) {
  TileValue &r = m.out(step);
  mlir::Attribute attr =
      mlir::cast<mlir::arith::ConstantOp>(step.op).getValue();
  if (auto dense = mlir::dyn_cast<mlir::DenseElementsAttr>(attr)) {
    r.element.isFloat() ? fillDense<llvm::APFloat>(r, dense)
                        : fillDense<llvm::APInt>(r, dense);
    return;
  }
  for (int64_t i = 0, n = r.size(); i < n; ++i) {
    if (auto number = mlir::dyn_cast<mlir::FloatAttr>(attr)) {
      setConstant(r, i, number.getValue());
    } else {
      setConstant(r, i, mlir::cast<mlir::IntegerAttr>(attr).getValue());
    }
  }
}

/// Any value will do for ub.poison; zeros are repeatable.
static void runPoison(Machine &m, const Step &step) {
  TileValue &r = m.out(step);
  for (int64_t i = 0, n = r.size(); i < n; ++i) {
    setBits(r, i, 0);
  }
}

void addArithHandlers(HandlerTable &table) {
  addIntegers(table);
  addDivisions(table);
  checkDivisions(table);
  addBitOps(table);
  addFloats(table);
  table["arith.cmpi"] = {runCmpI, true};
  table["arith.cmpf"] = {runCmpF, true};
  table["arith.select"] = {runSelect, true, true};
  table["arith.constant"] = {runConstant, true};
  table["ub.poison"] = {runPoison, true};
}

} // namespace nereid::interp
