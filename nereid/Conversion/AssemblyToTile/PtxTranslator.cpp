//===- PtxTranslator.cpp - Registers and statements -------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/Conversion/AssemblyToTile/PtxTranslator.h"

#include "llvm/ADT/StringSwitch.h"

using namespace mlir;
using llvm::APInt;
using llvm::StringRef;

namespace nereid::ptx {

Translator::Translator(OpBuilder &b, Location loc, mlir::Type like,
                       ArrayRef<Constraint> registers)
    : b(b), loc(loc), like(like) {
  for (const Constraint &one : registers) {
    places.push_back(one.tiedTo.value_or(assembly.size()));
    assembly.push_back({one.bits, {}});
  }
  scopes.emplace_back();
}

bool Translator::fail(const Twine &message) {
  if (error.empty()) {
    error = message.str();
  }
  return false;
}

bool Translator::refuse() {
  return fail("'" + StringRef(statement->text) +
              "' is not among the instructions that other devices than NVIDIA "
              "GPUs understand");
}

bool Translator::expect(unsigned operands, ArrayRef<StringRef> modifiers) {
  if (statement->operands.size() != operands) {
    return refuse();
  }
  for (const std::string &modifier : statement->modifiers) {
    if (!llvm::is_contained(modifiers, StringRef(modifier))) {
      return refuse();
    }
  }
  return true;
}

bool Translator::run(ArrayRef<Statement> statements) {
  for (const Statement &next : statements) {
    statement = &next;
    switch (next.kind) {
    case Statement::Open:
      scopes.emplace_back();
      break;
    case Statement::Close:
      if (scopes.size() == 1) {
        return fail("'}' without '{'");
      }
      scopes.pop_back();
      break;
    case Statement::Declaration:
      for (const std::string &name : next.names) {
        scopes.back()[name] = {next.type.width(), {}};
      }
      break;
    case Statement::Instruction:
      if (!run(next)) {
        refuse();
      }
    }
    if (!error.empty()) {
      return false;
    }
  }
  return true;
}

bool Translator::run(const Statement &next) {
  guard = {};
  if (!next.guard.empty()) {
    Operand name;
    name.name = next.guard;
    name.isNegated = next.isGuardNegated;
    guard = read(name, 1);
  }
  StringRef opcode = next.opcode;
  if (type().isFloat()) {
    if (opcode == "mov" || opcode == "selp" || opcode == "setp" ||
        opcode == "set" || opcode == "cvt") {
      return opcode == "mov"    ? move()
             : opcode == "selp" ? selectByPredicate()
             : opcode == "cvt"  ? convert()
                                : setPredicate();
    }
    return floatArithmetic();
  }
  // What orders memory or starts launches does nothing to a program that runs
  // by itself.
  if (llvm::is_contained({"membar", "fence", "nanosleep", "griddepcontrol"},
                         opcode)) {
    return true;
  }
  using Method = bool (Translator::*)();
  Method method =
      llvm::StringSwitch<Method>(opcode)
          .Case("mov", &Translator::move)
          .Case("cvt", &Translator::convert)
          .Cases({"and", "or", "xor", "not", "cnot"}, &Translator::logic)
          .Cases({"shl", "shr"}, &Translator::shift)
          .Case("shf", &Translator::funnelShift)
          .Cases(
              {"add", "sub", "min", "max", "div", "rem", "neg", "abs", "sad"},
              &Translator::integerArithmetic)
          .Case("lop3", &Translator::lookupLogic)
          .Case("prmt", &Translator::permuteBytes)
          .Case("bfe", &Translator::extractField)
          .Case("bfi", &Translator::insertField)
          .Cases({"popc", "clz", "brev", "bfind"}, &Translator::countBits)
          .Case("dp4a", &Translator::byteProduct)
          .Cases({"setp", "set"}, &Translator::setPredicate)
          .Case("selp", &Translator::selectByPredicate)
          .Default(nullptr);
  if (opcode == "mul" || opcode == "mad" || opcode == "mul24" ||
      opcode == "mad24") {
    return product(opcode.starts_with("mad"));
  }
  return method ? (this->*method)() : refuse();
}

//===----------------------------------------------------------------------===//
// Registers
//===----------------------------------------------------------------------===//

Translator::Register *Translator::find(StringRef name) {
  StringRef digits = name;
  unsigned number;
  if (digits.consume_front("$") && !digits.getAsInteger(10, number) &&
      number < assembly.size()) {
    return &assembly[places[number]];
  }
  for (auto &scope : llvm::reverse(scopes)) {
    auto known = scope.find(name);
    if (known != scope.end()) {
      return &known->second;
    }
  }
  fail("the register '" + name + "' is not declared");
  return nullptr;
}

Value Translator::valueOf(Register &known) {
  if (!known.value) {
    known.value = constant(known.bits, 0);
  }
  return known.value;
}

Value Translator::special(StringRef name, unsigned bits) {
  Value scalar;
  if (name == "%globaltimer" || name == "%clock64") {
    scalar = tile::GlobalTimerOp::create(b, loc);
  } else if (name == "%smid") {
    scalar = tile::ProcessorIdOp::create(b, loc);
  } else {
    bool isSize = name.consume_front("%nctaid.");
    bool isPlace = !isSize && name.consume_front("%ctaid.");
    size_t axis =
        name.size() == 1 ? StringRef("xyz").find(name[0]) : StringRef::npos;
    if (axis == StringRef::npos || !(isSize || isPlace)) {
      return {};
    }
    scalar = isSize ? Value(tile::NumProgramsOp::create(b, loc, axis))
                    : Value(tile::ProgramIdOp::create(b, loc, axis));
  }
  Value value = scalar;
  if (auto shaped = dyn_cast<RankedTensorType>(like)) {
    value = tile::SplatOp::create(
        b, loc, RankedTensorType::get(shaped.getShape(), scalar.getType()),
        scalar);
  }
  return resize(value, bits);
}

Value Translator::read(const Operand &operand, unsigned bits) {
  Value value;
  switch (operand.kind) {
  case Operand::Integer:
    return constant(bits, operand.bits);
  case Operand::Float: {
    llvm::APFloat number(operand.number);
    if (operand.isExact) {
      number =
          llvm::APFloat(llvm::APFloat::IEEEsingle(), APInt(32, operand.bits));
    }
    bool lost;
    number.convert(bits == 64 ? llvm::APFloat::IEEEdouble()
                              : llvm::APFloat::IEEEsingle(),
                   llvm::APFloat::rmNearestTiesToEven, &lost);
    return constant(bits, number.bitcastToAPInt().getZExtValue());
  }
  case Operand::Vector: {
    if (operand.parts.empty() || bits % operand.parts.size()) {
      refuse();
      return constant(bits, 0);
    }
    SmallVector<Value> parts;
    for (const Operand &one : operand.parts) {
      parts.push_back(read(one, bits / operand.parts.size()));
    }
    return joinParts(parts);
  }
  case Operand::Register:
    if (StringRef(operand.name).starts_with("%")) {
      value = special(operand.name, bits);
    }
    if (!value) {
      Register *known = find(operand.name);
      value = known ? valueOf(*known) : constant(bits, 0);
    }
    value = resize(value, bits);
    return operand.isNegated ? complement(value) : value;
  case Operand::Pair:
  case Operand::Address:
    refuse();
  }
  return constant(bits, 0);
}

Value Translator::readFloat(unsigned operand, const Type &type) {
  return asFloat(read(operand, type.width()), type);
}

bool Translator::write(const Operand &operand, Value value, bool isSigned) {
  if (operand.kind == Operand::Vector) {
    for (auto [i, one] : llvm::enumerate(operand.parts)) {
      if (!write(one, part(value, i, operand.parts.size()))) {
        return false;
      }
    }
    return true;
  }
  if (operand.kind != Operand::Register) {
    return refuse();
  }
  if (operand.name == "_") {
    return true;
  }
  Register *known = find(operand.name);
  if (!known) {
    return false;
  }
  value = resize(value, known->bits, isSigned);
  known->value = guard ? select(guard, value, valueOf(*known)) : value;
  return true;
}

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

mlir::Type Translator::ofFloat(const Type &type) {
  mlir::Type element;
  switch (type.kind) {
  case 'h':
    element = b.getBF16Type();
    break;
  case 'e':
    element = Float8E4M3FNType::get(b.getContext());
    break;
  case 'E':
    element = Float8E5M2Type::get(b.getContext());
    break;
  default:
    element = type.bits == 16   ? mlir::Type(b.getF16Type())
              : type.bits == 64 ? mlir::Type(b.getF64Type())
                                : mlir::Type(b.getF32Type());
  }
  return tile::withElement(like, element);
}

static Value constantOf(OpBuilder &b, Location loc, mlir::Type type,
                        TypedAttr element) {
  if (auto shaped = dyn_cast<RankedTensorType>(type)) {
    return arith::ConstantOp::create(
        b, loc, DenseElementsAttr::get(shaped, Attribute(element)));
  }
  return arith::ConstantOp::create(b, loc, element);
}

Value Translator::constant(unsigned bits, uint64_t value) {
  auto element = b.getIntegerType(bits);
  return constantOf(b, loc, ofBits(bits),
                    IntegerAttr::get(element, APInt(bits, value, false,
                                                    /*implicitTrunc=*/true)));
}

Value Translator::constantLike(Value like, double value) {
  return constantOf(b, loc, like.getType(),
                    FloatAttr::get(tile::getElement(like.getType()), value));
}

Value Translator::resize(Value value, unsigned bits, bool isSigned) {
  unsigned own = bitsOf(value);
  if (own == bits) {
    return value;
  }
  if (own > bits) {
    return arith::TruncIOp::create(b, loc, ofBits(bits), value);
  }
  return isSigned ? Value(arith::ExtSIOp::create(b, loc, ofBits(bits), value))
                  : Value(arith::ExtUIOp::create(b, loc, ofBits(bits), value));
}

Value Translator::asFloat(Value bits, const Type &type) {
  return arith::BitcastOp::create(b, loc, ofFloat(type), bits);
}

Value Translator::asBits(Value real) {
  return arith::BitcastOp::create(b, loc, ofBits(bitsOf(real)), real);
}

Value Translator::complement(Value x) {
  return make<arith::XOrIOp>(x, constant(bitsOf(x), ~uint64_t{0}));
}

Value Translator::shiftLeft(Value x, Value amount) {
  unsigned bits = bitsOf(x);
  Value fits = compare(arith::CmpIPredicate::ult, amount, constant(bits, bits));
  Value safe = make<arith::AndIOp>(amount, constant(bits, bits - 1));
  return select(fits, make<arith::ShLIOp>(x, safe), constant(bits, 0));
}

Value Translator::shiftRight(Value x, Value amount, bool isSigned) {
  unsigned bits = bitsOf(x);
  if (isSigned) {
    Value most = constant(bits, bits - 1);
    return make<arith::ShRSIOp>(x, make<arith::MinUIOp>(amount, most));
  }
  Value fits = compare(arith::CmpIPredicate::ult, amount, constant(bits, bits));
  Value safe = make<arith::AndIOp>(amount, constant(bits, bits - 1));
  return select(fits, make<arith::ShRUIOp>(x, safe), constant(bits, 0));
}

Value Translator::part(Value bits, unsigned i, unsigned count) {
  unsigned width = bitsOf(bits), each = width / count;
  if (i) {
    bits = make<arith::ShRUIOp>(bits, constant(width, i * each));
  }
  return resize(bits, each);
}

Value Translator::joinParts(ArrayRef<Value> parts) {
  unsigned each = bitsOf(parts[0]), width = each * parts.size();
  Value word;
  for (auto [i, one] : llvm::enumerate(parts)) {
    Value wide = resize(one, width);
    if (i) {
      wide = make<arith::ShLIOp>(wide, constant(width, i * each));
    }
    word = word ? make<arith::OrIOp>(word, wide) : wide;
  }
  return word;
}

} // namespace nereid::ptx
