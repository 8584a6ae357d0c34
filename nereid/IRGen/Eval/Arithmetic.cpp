//===- Arithmetic.cpp - Operators on run-time values ------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Rule B4 of the language: how operands of different types meet, and which
// operation each operator is for which type. Integer `//` and `%` truncate
// toward zero as in C; `/` on integers divides float32s; `%` on floats is fmod.
//
//===----------------------------------------------------------------------===//

#include "nereid/Dialect/Tile/IR/Tile.h"
#include "nereid/IRGen/Eval/Emitter.h"
#include "nereid/IRGen/Host/HostAnswers.h"

namespace nereid::irgen {

using namespace mlir::arith;
using ast::Operator;

static OperatorClass classOf(Operator op) {
  return op == Operator::Div || op == Operator::FloorDiv || op == Operator::Mod
             ? OperatorClass::Division
             : OperatorClass::Plain;
}

//===----------------------------------------------------------------------===//
// Promotion
//===----------------------------------------------------------------------===//

/// Where a number's kind stands among bool < int < float.
static int kindOf(const Value &number) {
  return number.isBool() ? 0 : number.isInt() ? 1 : 2;
}
static int kindOf(ScalarType type) {
  return type.isBool() ? 0 : type.isInteger() ? 1 : 2;
}

/// An integer must be a value of the integer type it takes.
static LogicalResult checkRange(Diagnostics &diag, const Value &number,
                                ScalarType type, llvm::StringRef what) {
  if (!type.isInteger() || !number.isIntegral()) {
    return success();
  }
  if (number.integer() < 0 && type.isUnsignedInt()) {
    return diag.error(what.str() + ": the negative number " + number.repr() +
                          " meets the unsigned type " + type.str(),
                      "cast the operand first: x.to(tl.int32)");
  }
  if (number.integer() < minValue(type.dtype) ||
      number.integer() > maxValue(type.dtype)) {
    return diag.error(what.str() + ": the number " + number.repr() +
                          " is out of range for " + type.str(),
                      "cast the operand to a wider type first: x.to(tl.int64)");
  }
  return success();
}

/// A number has no place beside a pointer, and only numbers meet here.
static LogicalResult checkOperand(Diagnostics &diag, const Value &value,
                                  llvm::StringRef what) {
  if (value.isTensor() || value.isNumber()) {
    return success();
  }
  std::string message =
      what.str() + ": expected numbers or tensors, got " + value.describe();
  if (value.isOpaque()) {
    return diag.hostError(message, unknownGlobalHint);
  }
  std::string hint;
  if (value.isNone()) {
    hint = "the value is None here; test it first: if x is not None";
  }
  return diag.error(message, hint);
}

/// The common type of `types`, which are not none.
static std::optional<ScalarType> promoteAll(Emitter &e,
                                            llvm::ArrayRef<ScalarType> types,
                                            OperatorClass cls,
                                            std::string &why) {
  std::optional<ScalarType> common = types.front();
  if (llvm::all_of(types, [&](ScalarType type) { return type == *common; }) &&
      common->isPointer) {
    return common;
  }
  if (types.size() == 1) {
    return promote(*common, *common, cls, why, e.language);
  }
  for (ScalarType type : types.drop_front()) {
    common = promote(*common, type, cls, why, e.language);
    if (!common) {
      break;
    }
  }
  return common;
}

std::optional<ScalarType> Emitter::commonType(llvm::ArrayRef<Value> operands,
                                              llvm::StringRef what,
                                              NumberRule rule,
                                              OperatorClass cls) {
  // Numbers of no greater kind than the tensors' type leave it as it is.
  llvm::SmallVector<ScalarType> types, own;
  llvm::SmallVector<const Value *> numbers;
  for (const Value &operand : operands) {
    if (failed(checkOperand(diag, operand, what))) {
      return std::nullopt;
    }
    if (operand.isTensor()) {
      types.push_back(operand.tensor().type);
    } else {
      numbers.push_back(&operand);
    }
  }
  std::string why;
  std::optional<ScalarType> common;
  bool adopts = rule == NumberRule::Adopt && !types.empty();
  if (adopts) {
    common = promoteAll(*this, types, cls, why);
    adopts = common && llvm::all_of(numbers, [&](const Value *number) {
               return !common->isPointer && kindOf(*number) <= kindOf(*common);
             });
  }
  if (!adopts) {
    types.clear();
    for (const Value &operand : operands) {
      FailureOr<Tensor> typed = toTensor(operand);
      if (failed(typed)) {
        return std::nullopt;
      }
      types.push_back(typed->type);
    }
    common = promoteAll(*this, types, cls, why);
  }
  if (!common) {
    bool hasPointer =
        llvm::any_of(types, [](ScalarType type) { return type.isPointer; });
    (void)diag.error(what.str() + ": " + why,
                     hasPointer ? "load from the pointer first (tl.load), or "
                                  "convert it with .to(tl.int64)"
                                : "cast one of them: x.to(tl.float32)");
    return std::nullopt;
  }
  for (const Value *number : numbers) {
    if (rule == NumberRule::Adopt &&
        failed(checkRange(diag, *number, *common, what))) {
      return std::nullopt;
    }
  }
  return common;
}

FailureOr<std::pair<Tensor, Tensor>>
Emitter::promoteOperands(const Value &a, const Value &b, llvm::StringRef what,
                         NumberRule rule, OperatorClass cls) {
  std::optional<ScalarType> common = commonType({a, b}, what, rule, cls);
  if (!common) {
    return failure();
  }
  auto side = [&](const Value &v) -> FailureOr<Tensor> {
    return v.isTensor() ? cast(v.tensor(), *common) : numberAs(v, *common);
  };
  FailureOr<Tensor> x = side(a), y = side(b);
  if (failed(x) || failed(y) || failed(broadcast(*x, *y, what))) {
    return failure();
  }
  return std::make_pair(*x, *y);
}

//===----------------------------------------------------------------------===//
// The operations
//===----------------------------------------------------------------------===//

Tensor Emitter::add(Tensor a, Tensor b) {
  return {a.type.isFloat() ? create<AddFOp>(a.value, b.value).getResult()
                           : create<AddIOp>(a.value, b.value).getResult(),
          a.type};
}

Tensor Emitter::sub(Tensor a, Tensor b) {
  return {a.type.isFloat() ? create<SubFOp>(a.value, b.value).getResult()
                           : create<SubIOp>(a.value, b.value).getResult(),
          a.type};
}

Tensor Emitter::mul(Tensor a, Tensor b) {
  return {a.type.isFloat() ? create<MulFOp>(a.value, b.value).getResult()
                           : create<MulIOp>(a.value, b.value).getResult(),
          a.type};
}

template <typename FloatOp, typename FloatNanOp, typename SignedOp,
          typename UnsignedOp>
static Tensor extremum(Emitter &e, Tensor a, Tensor b, bool propagateNan) {
  mlir::Value result;
  if (a.type.isFloat()) {
    result = propagateNan ? e.create<FloatNanOp>(a.value, b.value).getResult()
                          : e.create<FloatOp>(a.value, b.value).getResult();
  } else if (a.type.isSignedInt()) {
    result = e.create<SignedOp>(a.value, b.value);
  } else {
    result = e.create<UnsignedOp>(a.value, b.value);
  }
  return {result, a.type};
}

Tensor Emitter::minimum(Tensor a, Tensor b, bool propagateNan) {
  return extremum<MinNumFOp, MinimumFOp, MinSIOp, MinUIOp>(*this, a, b,
                                                           propagateNan);
}

Tensor Emitter::maximum(Tensor a, Tensor b, bool propagateNan) {
  return extremum<MaxNumFOp, MaximumFOp, MaxSIOp, MaxUIOp>(*this, a, b,
                                                           propagateNan);
}

Tensor Emitter::select(Tensor condition, Tensor a, Tensor b) {
  return {create<SelectOp>(condition.value, a.value, b.value), a.type};
}

//===----------------------------------------------------------------------===//
// Pointers
//===----------------------------------------------------------------------===//

static FailureOr<Value> pointerArithmetic(Emitter &e, Operator op,
                                          const Value &a, const Value &b) {
  auto isPointer = [](const Value &v) {
    return v.isTensor() && v.tensor().type.isPointer;
  };
  bool swapped = !isPointer(a);
  const Value &other = swapped ? a : b;
  std::string what = "operator '" + std::string(spelling(op)) + "'";
  if (failed(checkOperand(e.diag, other, what))) {
    return failure();
  }
  Tensor pointer = (swapped ? b : a).tensor();
  bool legal = op == Operator::Add || (op == Operator::Sub && !swapped);
  if (!legal || isPointer(other)) {
    return e.diag.error(
        what + " is not defined for " + a.describe() + " and " + b.describe(),
        isPointer(other) ? "to get a distance, convert both: p.to(tl.int64)"
                         : "pointers take + and - with integer offsets, in "
                           "elements; load the values with tl.load first");
  }
  FailureOr<Tensor> offset = e.toTensor(other);
  if (failed(offset)) {
    return failure();
  }
  if (!offset->type.isInteger()) {
    return e.diag.error(what + ": a pointer's offset must be an integer, got " +
                            offset->typeStr(),
                        "convert it: offset.to(tl.int32)");
  }
  bool widen = offset->type.bits() < 64 &&
               (offset->type.isUnsignedInt() || op == Operator::Sub);
  if (widen) {
    offset = e.cast(*offset, DType::Int64);
  }
  if (op == Operator::Sub) {
    offset = e.sub(e.zero(offset->type, offset->shape()), *offset);
  }
  if (failed(e.broadcast(pointer, *offset, what))) {
    return failure();
  }
  return Value(Tensor{e.create<tile::AddPtrOp>(pointer.value.getType(),
                                               pointer.value, offset->value),
                      pointer.type});
}

//===----------------------------------------------------------------------===//
// Binary operators
//===----------------------------------------------------------------------===//

/// The language's `/` may be less exact than div_rn: a GPU takes an instruction
/// of 2 ulps, where the exact one calls a subroutine.
static FailureOr<Tensor> divide(Emitter &e, Tensor a, Tensor b) {
  ScalarType type = a.type.isFloat() ? a.type : ScalarType(DType::Float32);
  for (Tensor *x : {&a, &b}) {
    if (!x->type.isFloat() || x->type.bits() < 32) {
      FailureOr<Tensor> wide = e.cast(*x, DType::Float32);
      if (failed(wide)) {
        return failure();
      }
      *x = *wide;
    }
  }
  auto quotient = e.create<DivFOp>(a.value, b.value);
  quotient.setFastmath(FastMathFlags::afn);
  return e.cast(Tensor{quotient, a.type}, type);
}

static FailureOr<Tensor> divideIntegers(Emitter &e, Operator op, Tensor a,
                                        Tensor b) {
  mlir::Value result;
  if (op == Operator::FloorDiv) {
    result = a.type.isSignedInt()
                 ? e.create<DivSIOp>(a.value, b.value).getResult()
                 : e.create<DivUIOp>(a.value, b.value).getResult();
  } else {
    result = a.type.isSignedInt()
                 ? e.create<RemSIOp>(a.value, b.value).getResult()
                 : e.create<RemUIOp>(a.value, b.value).getResult();
  }
  return Tensor{result, a.type};
}

/// a and b have one type and one shape. `>>` copies the sign where `own`, the
/// type of the left operand before promotion, is signed: int32 >> uint32 is an
/// arithmetic shift whose result is a uint32.
static FailureOr<Tensor> apply(Emitter &e, Operator op, Tensor a, Tensor b,
                               ScalarType own) {
  bool isFloat = a.type.isFloat();
  if (a.type.isFp8()) {
    return e.diag.error("operator '" + std::string(spelling(op)) +
                            "' is not defined for " + a.type.str(),
                        "compute in a wider type: x.to(tl.float16)");
  }
  switch (op) {
  case Operator::Add:
    return e.add(a, b);
  case Operator::Sub:
    return e.sub(a, b);
  case Operator::Mult:
    return e.mul(a, b);
  case Operator::Div:
    return divide(e, a, b);
  case Operator::Mod:
    return isFloat ? Tensor{e.create<RemFOp>(a.value, b.value), a.type}
                   : divideIntegers(e, op, a, b);
  case Operator::FloorDiv:
    if (isFloat) {
      return e.diag.error("operator '//' is not defined for floats (" +
                              a.typeStr() + ")",
                          "write tl.floor(a / b)");
    }
    return divideIntegers(e, op, a, b);
  case Operator::BitAnd:
  case Operator::BitOr:
  case Operator::BitXor:
  case Operator::LShift:
  case Operator::RShift:
    break;
  case Operator::Pow:
    return e.diag.error("operator '**' is not defined for run-time values",
                        "write x * x, or libdevice.pow(x, y)");
  case Operator::MatMult:
    return e.diag.error("operator '@' is not defined for blocks",
                        "write tl.dot(a, b)");
  }
  if (isFloat) {
    return e.diag.error("operator '" + std::string(spelling(op)) +
                            "' is not defined for floats (" + a.typeStr() + ")",
                        "it works on integers; parenthesise comparisons: "
                        "(x < a) & (y < b)");
  }
  switch (op) {
  case Operator::BitAnd:
    return Tensor{e.create<AndIOp>(a.value, b.value), a.type};
  case Operator::BitOr:
    return Tensor{e.create<OrIOp>(a.value, b.value), a.type};
  case Operator::BitXor:
    return Tensor{e.create<XOrIOp>(a.value, b.value), a.type};
  case Operator::LShift:
    return Tensor{e.create<ShLIOp>(a.value, b.value), a.type};
  default:
    return Tensor{own.isSignedInt()
                      ? e.create<ShRSIOp>(a.value, b.value).getResult()
                      : e.create<ShRUIOp>(a.value, b.value).getResult(),
                  a.type};
  }
}

/// Does the language look whether `op` overflows here? Not in its own library,
/// whose hashes wrap, nor in the functions of reductions and scans.
static bool looksForOverflow(Emitter &e, Operator op, ScalarType type) {
  bool canOverflow =
      op == Operator::Add || op == Operator::Sub || op == Operator::Mult;
  if (!e.checksOverflow || !canOverflow || !type.isInteger() ||
      type.bits() == 1 || type.bits() > 32 || e.diag.stack.back().isLibrary) {
    return false;
  }
  mlir::Operation *around = e.builder.getInsertionBlock()->getParentOp();
  return !isa<tile::TileDialect>(around->getDialect());
}

/// Computes again in 64 bits, which hold the exact result but for a product of
/// two uint32: that wraps to a negative number, and is noticed as well.
static LogicalResult assertNoOverflow(Emitter &e, Operator op, Tensor a,
                                      Tensor b) {
  ScalarType type = a.type, wide(DType::Int64);
  FailureOr<Tensor> x = e.cast(a, wide), y = e.cast(b, wide);
  if (failed(x) || failed(y)) {
    return failure();
  }
  FailureOr<Tensor> exact = apply(e, op, *x, *y, wide);
  FailureOr<Tensor> held = failed(exact) ? exact : e.cast(*exact, type);
  FailureOr<Tensor> back = failed(held) ? held : e.cast(*held, wide);
  if (failed(back)) {
    return failure();
  }
  FailureOr<Value> same =
      e.compare(ast::CompareOperator::Eq, Value(*exact), Value(*back));
  if (failed(same)) {
    return failure();
  }
  e.create<tile::AssertOp>(same->tensor().value,
                           type.str() + " overflow in '" +
                               std::string(spelling(op)) +
                               "'; sanitize_overflow=False turns this check "
                               "off");
  return success();
}

FailureOr<Value> Emitter::binary(Operator op, const Value &a, const Value &b) {
  auto isPointer = [](const Value &v) {
    return v.isTensor() && v.tensor().type.isPointer;
  };
  if (isPointer(a) || isPointer(b)) {
    return pointerArithmetic(*this, op, a, b);
  }
  std::string what = "operator '" + std::string(spelling(op)) + "'";
  auto operands = promoteOperands(a, b, what, NumberRule::Adopt, classOf(op));
  if (failed(operands)) {
    return failure();
  }
  bool isShift = op == Operator::LShift || op == Operator::RShift;
  if (isShift && b.isInt() && operands->first.type.isInteger() &&
      b.integer() >= operands->first.type.bits()) {
    diag.warning("shifting " + operands->first.type.str() + " by " + b.repr() +
                     " bits is undefined",
                 "widen it first: x.to(tl.int64)");
  }
  // A number on the left takes part through the method of the right operand.
  ScalarType own = (a.isTensor() ? a : b).tensor().type;
  FailureOr<Tensor> result =
      apply(*this, op, operands->first, operands->second, own);
  if (failed(result) || (looksForOverflow(*this, op, operands->first.type) &&
                         failed(assertNoOverflow(*this, op, operands->first,
                                                 operands->second)))) {
    return failure();
  }
  return Value(*result);
}

//===----------------------------------------------------------------------===//
// Comparisons and unary operators
//===----------------------------------------------------------------------===//

static CmpIPredicate integerPredicate(ast::CompareOperator op, bool isSigned) {
  switch (op) {
  case ast::CompareOperator::Eq:
    return CmpIPredicate::eq;
  case ast::CompareOperator::NotEq:
    return CmpIPredicate::ne;
  case ast::CompareOperator::Lt:
    return isSigned ? CmpIPredicate::slt : CmpIPredicate::ult;
  case ast::CompareOperator::LtE:
    return isSigned ? CmpIPredicate::sle : CmpIPredicate::ule;
  case ast::CompareOperator::Gt:
    return isSigned ? CmpIPredicate::sgt : CmpIPredicate::ugt;
  default:
    return isSigned ? CmpIPredicate::sge : CmpIPredicate::uge;
  }
}

/// Ordered, except that != holds for NaN.
static CmpFPredicate floatPredicate(ast::CompareOperator op) {
  switch (op) {
  case ast::CompareOperator::Eq:
    return CmpFPredicate::OEQ;
  case ast::CompareOperator::NotEq:
    return CmpFPredicate::UNE;
  case ast::CompareOperator::Lt:
    return CmpFPredicate::OLT;
  case ast::CompareOperator::LtE:
    return CmpFPredicate::OLE;
  case ast::CompareOperator::Gt:
    return CmpFPredicate::OGT;
  default:
    return CmpFPredicate::OGE;
  }
}

FailureOr<Value> Emitter::compare(ast::CompareOperator op, const Value &a,
                                  const Value &b) {
  std::string what = "operator '" + std::string(spelling(op)) + "'";
  if (op == ast::CompareOperator::In || op == ast::CompareOperator::NotIn) {
    return diag.error(
        what + " is not defined for run-time values; expected a tuple, a list "
               "or a dict on the right, all known while compiling",
        "compare run-time values with == and |");
  }
  auto operands = promoteOperands(a, b, what, ruleOfFunctions());
  if (failed(operands)) {
    return failure();
  }
  auto [x, y] = *operands;
  ScalarType boolean(DType::Int1);
  if (x.type.isPointer) {
    FailureOr<Tensor> p = cast(x, DType::UInt64), q = cast(y, DType::UInt64);
    if (failed(p) || failed(q)) {
      return failure();
    }
    x = *p;
    y = *q;
  }
  if (x.type.isFp8()) {
    FailureOr<Tensor> p = cast(x, DType::Float32), q = cast(y, DType::Float32);
    if (failed(p) || failed(q)) {
      return failure();
    }
    x = *p;
    y = *q;
  }
  if (x.type.isFloat()) {
    return Value(
        Tensor{create<CmpFOp>(floatPredicate(op), x.value, y.value), boolean});
  }
  CmpIPredicate predicate = integerPredicate(op, x.type.isSignedInt());
  return Value(Tensor{create<CmpIOp>(predicate, x.value, y.value), boolean});
}

FailureOr<Value> Emitter::unary(ast::UnaryOperator op, const Tensor &x) {
  std::string what = "operator '" + std::string(spelling(op)) + "'";
  if (x.type.isPointer) {
    return diag.error(what + " is not defined for " + x.typeStr(),
                      "load the values with tl.load first");
  }
  switch (op) {
  case ast::UnaryOperator::UAdd:
    return Value(x);
  case ast::UnaryOperator::USub:
    if (x.type.isFp8()) {
      return diag.error(what + " is not defined for " + x.typeStr(),
                        "compute in a wider type: x.to(tl.float16)");
    }
    if (x.type.isFloat() && means(LanguageVersion::V3_8)) {
      return Value(Tensor{create<NegFOp>(x.value), x.type});
    }
    // 0 - x: before 3.8 for floats, too, which gave 0.0 for 0.0.
    return Value(sub(zero(x.type, x.shape()), x));
  case ast::UnaryOperator::Invert: {
    if (!x.type.isInteger()) {
      return diag.error(what + " is not defined for floats (" + x.typeStr() +
                            "); expected integers or booleans",
                        "convert with x.to(tl.int32)");
    }
    Tensor ones = constant(x.type, Int{-1}, x.shape());
    return Value(Tensor{create<XOrIOp>(x.value, ones.value), x.type});
  }
  case ast::UnaryOperator::Not: {
    if (!x.type.isBool()) {
      return diag.error("'not' needs a boolean, got " + x.typeStr(),
                        "write x == 0");
    }
    Tensor ones = constant(x.type, Int{1}, x.shape());
    return Value(Tensor{create<XOrIOp>(x.value, ones.value), x.type});
  }
  }
  return failure();
}

} // namespace nereid::irgen
