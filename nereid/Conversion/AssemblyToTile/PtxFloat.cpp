//===- PtxFloat.cpp - Floats and predicates ---------------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The approximations of the hardware (ex2.approx and its like) are the full
// functions here: PTX bounds their errors and does not say their values.
//
//===----------------------------------------------------------------------===//

#include "nereid/Conversion/AssemblyToTile/PtxTranslator.h"

#include "llvm/ADT/StringSwitch.h"

using namespace mlir;
using llvm::StringRef;

namespace nereid::ptx {

/// Under .ftz a denormal f32 is a zero of its sign.
Value Translator::flushed(Value real) {
  if (!statement->has("ftz") || !tile::getElement(real.getType()).isF32()) {
    return real;
  }
  Value isTiny = compare(arith::CmpFPredicate::OLT, make<math::AbsFOp>(real),
                         constantLike(real, 0x1p-126));
  Value zero = make<math::CopySignOp>(constantLike(real, 0), real);
  return select(isTiny, zero, real);
}

/// A result as .ftz, .sat and .relu leave it.
Value Translator::finished(Value real) {
  real = flushed(real);
  if (statement->has("sat")) { // NaN becomes 0
    real = make<arith::MaxNumFOp>(real, constantLike(real, 0));
    real = make<arith::MinNumFOp>(real, constantLike(real, 1));
  }
  if (statement->has("relu")) {
    real = make<arith::MaximumFOp>(real, constantLike(real, 0));
  }
  return real;
}

/// The functions that are computed in f32 and rounded.
template <typename Op>
static Value inSingle(OpBuilder &b, Location loc, Value x) {
  mlir::Type own = x.getType();
  mlir::Type single = tile::withElement(own, b.getF32Type());
  if (tile::getElement(own).getIntOrFloatBitWidth() >= 32) {
    return Op::create(b, loc, x);
  }
  Value wide = arith::ExtFOp::create(b, loc, single, x);
  return arith::TruncFOp::create(b, loc, own, Op::create(b, loc, wide));
}

/// Null for what is not understood.
Value Translator::floatLane(ArrayRef<Value> bits, const Type &type) {
  StringRef opcode = statement->opcode;
  SmallVector<Value> x;
  for (Value one : bits) {
    x.push_back(flushed(asFloat(one, type)));
  }
  if (x.size() == 1) {
    if (opcode == "neg") {
      return make<arith::NegFOp>(x[0]);
    }
    if (opcode == "abs") {
      return make<math::AbsFOp>(x[0]);
    }
    if (opcode == "rcp") {
      return make<arith::DivFOp>(constantLike(x[0], 1), x[0]);
    }
    using Function = Value (*)(OpBuilder &, Location, Value);
    auto function = llvm::StringSwitch<Function>(opcode)
                        .Case("sqrt", inSingle<math::SqrtOp>)
                        .Case("rsqrt", inSingle<math::RsqrtOp>)
                        .Case("ex2", inSingle<math::Exp2Op>)
                        .Case("lg2", inSingle<math::Log2Op>)
                        .Case("sin", inSingle<math::SinOp>)
                        .Case("cos", inSingle<math::CosOp>)
                        .Case("tanh", inSingle<math::TanhOp>)
                        .Default(nullptr);
    return function ? function(b, loc, x[0]) : Value();
  }
  if (x.size() == 2) {
    bool propagates = statement->has("NaN");
    if (opcode == "add") {
      return make<arith::AddFOp>(x[0], x[1]);
    }
    if (opcode == "sub") {
      return make<arith::SubFOp>(x[0], x[1]);
    }
    if (opcode == "mul") {
      return make<arith::MulFOp>(x[0], x[1]);
    }
    if (opcode == "div") {
      return make<arith::DivFOp>(x[0], x[1]);
    }
    if (opcode == "min") {
      return propagates ? make<arith::MinimumFOp>(x[0], x[1])
                        : make<arith::MinNumFOp>(x[0], x[1]);
    }
    if (opcode == "max") {
      return propagates ? make<arith::MaximumFOp>(x[0], x[1])
                        : make<arith::MaxNumFOp>(x[0], x[1]);
    }
    if (opcode == "copysign") { // the sign of the first
      return make<math::CopySignOp>(x[1], x[0]);
    }
    return {};
  }
  if (opcode == "fma" || opcode == "mad") {
    return math::FmaOp::create(b, loc, x[0], x[1], x[2]);
  }
  return {};
}

bool Translator::floatArithmetic() {
  const Type &type = this->type();
  size_t operands = statement->operands.size();
  bool isKnown = type.kind == 'f' || type.kind == 'h';
  if (!isKnown || operands < 2 || operands > 4 ||
      statement->types.size() != 1 ||
      !expect(operands,
              {"rn", "ftz", "sat", "approx", "full", "relu", "NaN"})) {
    return refuse();
  }
  SmallVector<Value> inputs;
  for (size_t i = 1; i < operands; ++i) {
    inputs.push_back(read(i, type.width()));
  }
  SmallVector<Value> lanes;
  for (unsigned lane = 0; lane < type.lanes; ++lane) {
    SmallVector<Value> parts;
    for (Value input : inputs) {
      parts.push_back(part(input, lane, type.lanes));
    }
    Value result = floatLane(parts, type);
    if (!result) {
      return refuse();
    }
    lanes.push_back(asBits(finished(result)));
  }
  return write(joinParts(lanes));
}

//===----------------------------------------------------------------------===//
// Predicates
//===----------------------------------------------------------------------===//

static std::optional<arith::CmpFPredicate> floatPredicate(StringRef name) {
  using F = arith::CmpFPredicate;
  return llvm::StringSwitch<std::optional<F>>(name)
      .Case("eq", F::OEQ)
      .Case("ne", F::ONE)
      .Case("lt", F::OLT)
      .Case("le", F::OLE)
      .Case("gt", F::OGT)
      .Case("ge", F::OGE)
      .Case("equ", F::UEQ)
      .Case("neu", F::UNE)
      .Case("ltu", F::ULT)
      .Case("leu", F::ULE)
      .Case("gtu", F::UGT)
      .Case("geu", F::UGE)
      .Case("num", F::ORD)
      .Case("nan", F::UNO)
      .Default(std::nullopt);
}

static std::optional<arith::CmpIPredicate> integerPredicate(StringRef name,
                                                            bool isSigned) {
  using I = arith::CmpIPredicate;
  return llvm::StringSwitch<std::optional<I>>(name)
      .Case("eq", I::eq)
      .Case("ne", I::ne)
      .Case("lt", isSigned ? I::slt : I::ult)
      .Case("le", isSigned ? I::sle : I::ule)
      .Case("gt", isSigned ? I::sgt : I::ugt)
      .Case("ge", isSigned ? I::sge : I::uge)
      .Case("lo", I::ult)
      .Case("ls", I::ule)
      .Case("hi", I::ugt)
      .Case("hs", I::uge)
      .Default(std::nullopt);
}

/// setp.lt.and.f32 p|q, a, b, c: p is (a < b) and c, q is !(a < b) and c. Of
/// two lanes p is the first and q the second. set.lt.u32.f32 gives ones, or
/// 1.0, in a register.
bool Translator::setPredicate() {
  bool isSet = statement->opcode == "set";
  const Type &type = this->type(isSet ? 1 : 0);
  StringRef combination;
  StringRef name;
  for (const std::string &modifier : statement->modifiers) {
    if (modifier == "and" || modifier == "or" || modifier == "xor") {
      combination = modifier;
    } else if (modifier != "ftz") {
      name = name.empty() ? StringRef(modifier) : StringRef("?");
    }
  }
  size_t operands = combination.empty() ? 3 : 4;
  if (statement->operands.size() != operands || type.lanes > 2 ||
      (isSet && (type.lanes > 1 || statement->types.size() != 2))) {
    return refuse();
  }
  SmallVector<Value> results;
  Value x = read(1, type.width()), y = read(2, type.width());
  for (unsigned lane = 0; lane < type.lanes; ++lane) {
    Value px = part(x, lane, type.lanes), py = part(y, lane, type.lanes);
    if (type.isFloat()) {
      auto predicate = floatPredicate(name);
      if (!predicate) {
        return refuse();
      }
      results.push_back(compare(*predicate, flushed(asFloat(px, type)),
                                flushed(asFloat(py, type))));
    } else {
      auto predicate = integerPredicate(name, type.isSigned());
      if (!predicate) {
        return refuse();
      }
      results.push_back(compare(*predicate, px, py));
    }
  }
  if (results.size() == 1) {
    results.push_back(complement(results[0]));
  }
  if (!combination.empty()) {
    Value other = read(3, 1);
    for (Value &one : results) {
      one = combination == "and"  ? make<arith::AndIOp>(one, other)
            : combination == "or" ? make<arith::OrIOp>(one, other)
                                  : make<arith::XOrIOp>(one, other);
    }
  }
  if (isSet) {
    const Type &to = this->type(0);
    Value one = to.isFloat()
                    ? asBits(constantLike(asFloat(constant(to.bits, 0), to), 1))
                    : constant(to.bits, ~uint64_t{0});
    return write(select(results[0], one, constant(to.bits, 0)));
  }
  const Operand &target = statement->operands[0];
  if (target.kind == Operand::Pair) {
    return write(target.parts[0], results[0]) &&
           write(target.parts[1], results[1]);
  }
  return write(results[0]);
}

bool Translator::selectByPredicate() {
  if (!expect(4, {})) {
    return false;
  }
  Value condition = read(3, 1);
  return write(select(condition, read(1), read(2)));
}

} // namespace nereid::ptx
