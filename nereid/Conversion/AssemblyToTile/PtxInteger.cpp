//===- PtxInteger.cpp - Integers and bits -----------------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Meanings as in the PTX ISA 8.x, sections "Integer Arithmetic", "Logic and
// Shift" and "Data Movement".
//
//===----------------------------------------------------------------------===//

#include "nereid/Conversion/AssemblyToTile/PtxTranslator.h"

using namespace mlir;
using llvm::StringRef;

namespace nereid::ptx {

using P = arith::CmpIPredicate;

/// Operands 1 and 2, lane by lane, into operand 0.
bool Translator::binary(Binary combine) {
  unsigned lanes = type().lanes;
  SmallVector<Value> results;
  Value x = read(1), y = read(2);
  for (unsigned lane = 0; lane < lanes; ++lane) {
    results.push_back(combine(part(x, lane, lanes), part(y, lane, lanes)));
  }
  return write(joinParts(results), type().isSigned());
}

bool Translator::logic() {
  StringRef opcode = statement->opcode;
  if (opcode == "not" || opcode == "cnot") {
    if (!expect(2, {})) {
      return false;
    }
    Value x = read(1);
    if (opcode == "not") {
      return write(complement(x));
    }
    Value isZero = compare(P::eq, x, constant(width(), 0));
    return write(resize(isZero, width()));
  }
  if (!expect(3, {})) {
    return false;
  }
  return binary([&](Value x, Value y) {
    return opcode == "and"  ? make<arith::AndIOp>(x, y)
           : opcode == "or" ? make<arith::OrIOp>(x, y)
                            : make<arith::XOrIOp>(x, y);
  });
}

/// The amount is a u32 whatever the type; every amount is defined.
bool Translator::shift() {
  if (!expect(3, {})) {
    return false;
  }
  unsigned bits = width();
  Value amount = read(2, 32);
  if (bits < 32) {
    amount = make<arith::MinUIOp>(amount, constant(32, bits));
  }
  amount = resize(amount, bits);
  Value x = read(1);
  return write(statement->opcode == "shl"
                   ? shiftLeft(x, amount)
                   : shiftRight(x, amount, type().isSigned()),
               type().isSigned());
}

/// shf.l takes the high word of b:a << n, shf.r the low one of b:a >> n.
bool Translator::funnelShift() {
  bool isLeft = statement->has("l");
  if (!expect(4, {"l", "r", "wrap", "clamp"}) ||
      isLeft == statement->has("r") || width() != 32) {
    return refuse();
  }
  Value amount = read(3, 32);
  amount = statement->has("wrap")
               ? make<arith::AndIOp>(amount, constant(32, 31))
               : make<arith::MinUIOp>(amount, constant(32, 32));
  Value both = joinParts({read(1, 32), read(2, 32)});
  Value wide = resize(amount, 64);
  return write(isLeft ? part(make<arith::ShLIOp>(both, wide), 1, 2)
                      : part(make<arith::ShRUIOp>(both, wide), 0, 2));
}

bool Translator::integerArithmetic() {
  StringRef opcode = statement->opcode;
  bool isSigned = type().isSigned();
  if (opcode == "neg" || opcode == "abs") {
    if (!expect(2, {}) || type().lanes != 1) {
      return refuse();
    }
    Value x = read(1), zero = constant(width(), 0);
    Value negative = make<arith::SubIOp>(zero, x);
    return write(opcode == "neg"
                     ? negative
                     : select(compare(P::slt, x, zero), negative, x),
                 isSigned);
  }
  if (opcode == "sad") {
    if (!expect(4, {})) {
      return false;
    }
    Value x = read(1), y = read(2);
    Value more = compare(isSigned ? P::sgt : P::ugt, x, y);
    Value distance =
        select(more, make<arith::SubIOp>(x, y), make<arith::SubIOp>(y, x));
    return write(make<arith::AddIOp>(distance, read(3)), isSigned);
  }
  bool saturates = statement->has("sat");
  if (!expect(3, {"sat"}) || (saturates && (!isSigned || width() != 32))) {
    return refuse();
  }
  return binary([&](Value x, Value y) -> Value {
    if (saturates) {
      Value wideX = resize(x, 64, true), wideY = resize(y, 64, true);
      Value sum = opcode == "add" ? make<arith::AddIOp>(wideX, wideY)
                                  : make<arith::SubIOp>(wideX, wideY);
      sum = make<arith::MaxSIOp>(sum, constant(64, INT32_MIN));
      return resize(make<arith::MinSIOp>(sum, constant(64, INT32_MAX)), 32);
    }
    if (opcode == "add" || opcode == "sub") {
      return opcode == "add" ? make<arith::AddIOp>(x, y)
                             : make<arith::SubIOp>(x, y);
    }
    if (opcode == "min") {
      return isSigned ? make<arith::MinSIOp>(x, y) : make<arith::MinUIOp>(x, y);
    }
    if (opcode == "max") {
      return isSigned ? make<arith::MaxSIOp>(x, y) : make<arith::MaxUIOp>(x, y);
    }
    if (opcode == "div") {
      return isSigned ? make<arith::DivSIOp>(x, y) : make<arith::DivUIOp>(x, y);
    }
    return isSigned ? make<arith::RemSIOp>(x, y) : make<arith::RemUIOp>(x, y);
  });
}

/// mul and mad: .lo, .hi, or .wide, whose result is twice as wide.
bool Translator::product(bool isMad) {
  unsigned bits = width();
  bool is24 = StringRef(statement->opcode).ends_with("24");
  bool isWide = statement->has("wide"), isHigh = statement->has("hi");
  if (!expect(isMad ? 4 : 3, {"lo", "hi", "wide"}) || type().lanes != 1 ||
      (is24 && (isWide || isHigh)) || (isWide && bits == 64)) {
    return refuse();
  }
  bool isSigned = type().isSigned();
  Value x = read(1), y = read(2);
  if (is24) {
    auto low24 = [&](Value v) {
      Value high = make<arith::ShLIOp>(v, constant(32, 8));
      return isSigned ? make<arith::ShRSIOp>(high, constant(32, 8))
                      : make<arith::ShRUIOp>(high, constant(32, 8));
    };
    x = low24(x);
    y = low24(y);
  }
  Value result;
  unsigned resultBits = isWide ? 2 * bits : bits;
  if (isWide) {
    result = make<arith::MulIOp>(resize(x, resultBits, isSigned),
                                 resize(y, resultBits, isSigned));
  } else if (!isHigh) {
    result = make<arith::MulIOp>(x, y);
  } else if (bits < 64) {
    Value wide = make<arith::MulIOp>(resize(x, 2 * bits, isSigned),
                                     resize(y, 2 * bits, isSigned));
    result = part(wide, 1, 2);
  } else {
    result =
        isSigned
            ? Value(arith::MulSIExtendedOp::create(b, loc, x, y).getHigh())
            : Value(arith::MulUIExtendedOp::create(b, loc, x, y).getHigh());
  }
  if (isMad) {
    result = make<arith::AddIOp>(result, read(3, resultBits));
  }
  return write(result, isSigned);
}

/// Bit i of the table says what (a, b, c) = the bits of i become.
bool Translator::lookupLogic() {
  if (!expect(5, {}) || statement->operands[4].kind != Operand::Integer) {
    return refuse();
  }
  unsigned table = statement->operands[4].bits & 0xff, bits = width();
  Value inputs[] = {read(1), read(2), read(3)};
  Value result;
  for (unsigned i = 0; i < 8; ++i) {
    if (!(table >> i & 1)) {
      continue;
    }
    Value term;
    for (unsigned k = 0; k < 3; ++k) {
      Value one = i >> (2 - k) & 1 ? inputs[k] : complement(inputs[k]);
      term = term ? make<arith::AndIOp>(term, one) : one;
    }
    result = result ? make<arith::OrIOp>(result, term) : term;
  }
  return write(result ? result : constant(bits, 0));
}

/// Each nibble of the selector picks one of the eight bytes of b:a, or with its
/// high bit that byte's sign, eight times.
bool Translator::permuteBytes() {
  if (!expect(4, {}) || width() != 32) {
    return refuse();
  }
  Value both = joinParts({read(1, 32), read(2, 32)});
  Value selector = resize(read(3, 32), 64);
  SmallVector<Value> bytes;
  for (unsigned i = 0; i < 4; ++i) {
    Value nibble = make<arith::ShRUIOp>(selector, constant(64, 4 * i));
    Value place = make<arith::ShLIOp>(
        make<arith::AndIOp>(nibble, constant(64, 7)), constant(64, 3));
    Value byte = resize(make<arith::ShRUIOp>(both, place), 8);
    Value sign = make<arith::ShRSIOp>(byte, constant(8, 7));
    Value takesSign = compare(
        P::ne, make<arith::AndIOp>(nibble, constant(64, 8)), constant(64, 0));
    bytes.push_back(select(takesSign, sign, byte));
  }
  return write(joinParts(bytes));
}

/// Ones in the low `length` (i64) of `bits` bits.
Value Translator::fieldMask(Value length, unsigned bits) {
  Value ones =
      make<arith::SubIOp>(shiftLeft(constant(64, 1), length), constant(64, 1));
  return resize(ones, bits);
}

/// bfe: the field that begins at bit b and has c bits, extended as the type
/// says; what lies beyond the word is its sign, or zero.
bool Translator::extractField() {
  unsigned bits = width();
  if (!expect(4, {}) || bits < 32) {
    return refuse();
  }
  bool isSigned = type().isSigned();
  Value low = constant(32, 255);
  Value start = resize(make<arith::AndIOp>(read(2, 32), low), 64);
  Value length = resize(make<arith::AndIOp>(read(3, 32), low), 64);
  Value x = shiftRight(resize(read(1), 64, isSigned), start, isSigned);
  if (!isSigned) {
    return write(resize(make<arith::AndIOp>(x, fieldMask(length, 64)), bits));
  }
  Value spare = make<arith::SubIOp>(
      constant(64, 64), make<arith::MinUIOp>(length, constant(64, 64)));
  Value field = shiftRight(shiftLeft(x, spare), spare, true);
  Value isEmpty = compare(P::eq, length, constant(64, 0));
  return write(resize(select(isEmpty, constant(64, 0), field), bits), true);
}

/// bfi: the low d bits of a take the place of those of b from bit c on.
bool Translator::insertField() {
  unsigned bits = width();
  if (!expect(5, {}) || bits < 32) {
    return refuse();
  }
  Value low = constant(32, 255);
  Value start = resize(make<arith::AndIOp>(read(3, 32), low), 64);
  Value length = resize(make<arith::AndIOp>(read(4, 32), low), 64);
  Value mask = shiftLeft(fieldMask(length, 64), start);
  Value moved = shiftLeft(resize(read(1), 64), start);
  Value kept = make<arith::AndIOp>(resize(read(2), 64), complement(mask));
  Value result = make<arith::OrIOp>(kept, make<arith::AndIOp>(moved, mask));
  return write(resize(result, bits));
}

bool Translator::countBits() {
  StringRef opcode = statement->opcode;
  unsigned bits = width();
  if (!expect(2, {}) || bits < 32) {
    return refuse();
  }
  Value x = read(1);
  if (opcode == "popc") {
    return write(resize(make<math::CtPopOp>(x), 32));
  }
  if (opcode == "clz") {
    return write(resize(make<math::CountLeadingZerosOp>(x), 32));
  }
  if (opcode == "bfind") {
    if (type().isSigned()) {
      x = make<arith::XOrIOp>(x, shiftRight(x, constant(bits, bits - 1), true));
    }
    // Of zero it is -1.
    return write(resize(make<arith::SubIOp>(constant(bits, bits - 1),
                                            make<math::CountLeadingZerosOp>(x)),
                        32));
  }
  for (unsigned step = 1; step < bits; step *= 2) {
    // Ones in every second group of `step` bits.
    uint64_t mask = ~uint64_t{0} / ((uint64_t{1} << step) + 1);
    Value ones = constant(bits, mask), amount = constant(bits, step);
    Value up = make<arith::ShLIOp>(make<arith::AndIOp>(x, ones), amount);
    Value down = make<arith::AndIOp>(make<arith::ShRUIOp>(x, amount), ones);
    x = make<arith::OrIOp>(up, down);
  }
  return write(x);
}

/// dp4a: c plus the products of four pairs of bytes.
bool Translator::byteProduct() {
  if (!expect(4, {})) {
    return false;
  }
  bool xSigned = type(0).isSigned(), ySigned = type(1).isSigned();
  Value x = read(1, 32), y = read(2, 32), sum = read(3, 32);
  for (unsigned i = 0; i < 4; ++i) {
    Value one = make<arith::MulIOp>(resize(part(x, i, 4), 32, xSigned),
                                    resize(part(y, i, 4), 32, ySigned));
    sum = make<arith::AddIOp>(sum, one);
  }
  return write(sum);
}

} // namespace nereid::ptx
