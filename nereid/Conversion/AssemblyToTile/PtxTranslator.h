//===- PtxTranslator.h - PTX as operations of Tile --------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A register is a block of integers (or one integer), as wide as it is
// declared; floats are those bits. An instruction reads its operands at the
// width of its type, computes, and writes.
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_CONVERSION_ASSEMBLYTOTILE_PTXTRANSLATOR_H
#define NEREID_CONVERSION_ASSEMBLYTOTILE_PTXTRANSLATOR_H

#include "nereid/Conversion/AssemblyToTile/PtxText.h"
#include "nereid/Dialect/Tile/IR/Tile.h"

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringMap.h"

namespace nereid::ptx {

class Translator {
public:
  /// Values have the shape of `like`. `registers` are those of the
  /// constraints, "$0" first.
  Translator(mlir::OpBuilder &b, mlir::Location loc, mlir::Type like,
             llvm::ArrayRef<Constraint> registers);

  void set(unsigned number, mlir::Value bits) {
    assembly[places[number]].value = bits;
  }
  mlir::Value get(unsigned number) { return valueOf(assembly[places[number]]); }

  /// False where a statement has no meaning here; `error` says which.
  bool run(llvm::ArrayRef<Statement> statements);
  std::string error;

private:
  struct Register {
    unsigned bits = 0;
    mlir::Value value; ///< null: never written
  };

  /// The rest of the statement was not understood.
  bool refuse();
  bool fail(const llvm::Twine &message);
  bool run(const Statement &statement);
  /// Only these modifiers, and so many operands, the first written.
  bool expect(unsigned operands, llvm::ArrayRef<llvm::StringRef> modifiers);

  // Registers
  Register *find(llvm::StringRef name);
  mlir::Value valueOf(Register &known);
  /// The low bits of an operand; a narrower register is extended with zeros.
  mlir::Value read(const Operand &operand, unsigned bits);
  mlir::Value read(unsigned operand, unsigned bits) {
    return read(statement->operands[operand], bits);
  }
  mlir::Value read(unsigned operand) { return read(operand, width()); }
  /// A float, of lane 0 of a scalar type.
  mlir::Value readFloat(unsigned operand, const Type &type);
  mlir::Value special(llvm::StringRef name, unsigned bits);
  bool write(const Operand &operand, mlir::Value value, bool isSigned = false);
  bool write(mlir::Value value, bool isSigned = false) {
    return write(statement->operands[0], value, isSigned);
  }

  // Values
  mlir::Type ofBits(unsigned bits) {
    return tile::withElement(like, b.getIntegerType(bits));
  }
  mlir::Type ofFloat(const Type &type);
  mlir::Value constant(unsigned bits, uint64_t value);
  mlir::Value constantLike(mlir::Value like, double value);
  static unsigned bitsOf(mlir::Value value) {
    return tile::getElement(value.getType()).getIntOrFloatBitWidth();
  }
  mlir::Value resize(mlir::Value value, unsigned bits, bool isSigned = false);
  mlir::Value asFloat(mlir::Value bits, const Type &type);
  mlir::Value asBits(mlir::Value real);
  mlir::Value convertFloat(mlir::Value real, mlir::Type element,
                           bool towardZero = false);
  mlir::Value select(mlir::Value condition, mlir::Value x, mlir::Value y) {
    return mlir::arith::SelectOp::create(b, loc, condition, x, y);
  }
  mlir::Value compare(mlir::arith::CmpIPredicate predicate, mlir::Value x,
                      mlir::Value y) {
    return mlir::arith::CmpIOp::create(b, loc, predicate, x, y);
  }
  mlir::Value compare(mlir::arith::CmpFPredicate predicate, mlir::Value x,
                      mlir::Value y) {
    return mlir::arith::CmpFOp::create(b, loc, predicate, x, y);
  }
  template <typename Op>
  mlir::Value make(mlir::Value x, mlir::Value y) {
    return Op::create(b, loc, x, y);
  }
  template <typename Op>
  mlir::Value make(mlir::Value x) {
    return Op::create(b, loc, x);
  }
  mlir::Value complement(mlir::Value x);
  /// Shifts by any amount (of the value's width): bits leave at the end.
  mlir::Value shiftLeft(mlir::Value x, mlir::Value amount);
  mlir::Value shiftRight(mlir::Value x, mlir::Value amount, bool isSigned);
  /// Part `i` of `count` equal ones, and back.
  mlir::Value part(mlir::Value bits, unsigned i, unsigned count);
  mlir::Value joinParts(llvm::ArrayRef<mlir::Value> parts);

  const Type &type(unsigned i = 0) const {
    static const Type none;
    return i < statement->types.size() ? statement->types[i] : none;
  }
  unsigned width() const { return type().width(); }

  // PtxInteger.cpp
  using Binary = llvm::function_ref<mlir::Value(mlir::Value, mlir::Value)>;
  bool binary(Binary combine);
  bool logic();
  bool shift();
  bool funnelShift();
  bool integerArithmetic();
  bool product(bool isMad);
  bool lookupLogic();
  bool permuteBytes();
  bool extractField();
  bool insertField();
  bool countBits();
  bool byteProduct();
  mlir::Value fieldMask(mlir::Value length, unsigned bits);

  // PtxFloat.cpp
  bool floatArithmetic();
  mlir::Value floatLane(llvm::ArrayRef<mlir::Value> operands, const Type &type);
  mlir::Value flushed(mlir::Value real);
  mlir::Value finished(mlir::Value real);
  bool setPredicate();
  bool selectByPredicate();

  // PtxConvert.cpp
  bool move();
  bool convert();
  bool convertPair();
  mlir::Value packFloat(mlir::Value real, const Type &to);
  mlir::Value unpackFloat(mlir::Value bits, const Type &from);
  mlir::Value packFp4(mlir::Value real);
  mlir::Value unpackFp4(mlir::Value bits);
  mlir::Value floatToInteger(mlir::Value real, const Type &to);
  mlir::Value rounded(mlir::Value real, llvm::StringRef mode);

  mlir::OpBuilder &b;
  mlir::Location loc;
  mlir::Type like;
  const Statement *statement = nullptr;
  mlir::Value guard; ///< of the running instruction; null: always
  std::vector<Register> assembly;
  std::vector<unsigned>
      places; ///< of "$n" in it: a tied input has the output's
  std::vector<llvm::StringMap<Register>> scopes;
};

} // namespace nereid::ptx

#endif // NEREID_CONVERSION_ASSEMBLYTOTILE_PTXTRANSLATOR_H
