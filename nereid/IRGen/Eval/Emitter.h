//===- Emitter.h - Emitting Tile IR under the language's rules -*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The layer between values of the language and Tile IR: numbers to scalars,
// broadcasting, promotion, casts, operators. Built-ins are written with it.
// Every operation gets the location of the expression being evaluated, with
// the chain of calls that led to it.
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_IRGEN_EVAL_EMITTER_H
#define NEREID_IRGEN_EVAL_EMITTER_H

#include "nereid/ABI/LanguageVersion.h"
#include "nereid/IRGen/Eval/Diagnostics.h"
#include "nereid/IRGen/Eval/Value.h"
#include "nereid/Syntax/Ast.h"

#include "mlir/IR/Builders.h"

namespace nereid::irgen {

enum class Rounding { Nearest, TowardZero };

class Emitter {
public:
  /// Without a context nothing dynamic can be made (describe, evaluate).
  Emitter(mlir::MLIRContext *context, Diagnostics &diag);

  Diagnostics &diag;
  mlir::OpBuilder builder;
  /// Whose rules count where versions differ.
  LanguageVersion language = newestLanguage;
  bool means(LanguageVersion since) const { return language >= since; }
  /// Asserts that sums, differences and products of integers do not overflow
  /// (CheckOverflow).
  bool checksOverflow = false;

  mlir::MLIRContext *context() const { return builder.getContext(); }
  /// Of the expression being evaluated.
  mlir::Location loc();

  template <typename Op, typename... Args>
  Op create(Args &&...args) {
    return Op::create(builder, loc(), std::forward<Args>(args)...);
  }
  mlir::Type typeOf(ScalarType type, llvm::ArrayRef<int64_t> shape = {}) {
    return toMlir(context(), type, shape);
  }

  //===--------------------------------------------------------------------===//
  // Numbers (Constants.cpp)
  //===--------------------------------------------------------------------===//

  /// A Python number as a run-time scalar (rule B3); a Tensor as it is. None,
  /// strings, tuples, ... are an error that says `what` ("argument 'x' of
  /// tl.exp"; default "a value").
  FailureOr<Tensor> toTensor(const Value &value, llvm::StringRef what = {});
  /// The value that a plain variable gets: numbers become scalars, also inside
  /// tuples; everything else stays. (rule B2)
  FailureOr<Value> decay(const Value &value);
  /// A constant of `type` in every element. Integers wrap to the type; a number
  /// for a float type is rounded to it.
  Tensor constant(ScalarType type, Int value,
                  llvm::ArrayRef<int64_t> shape = {});
  Tensor constant(ScalarType type, double value,
                  llvm::ArrayRef<int64_t> shape = {});
  /// All bits zero; a null pointer.
  Tensor zero(ScalarType type, llvm::ArrayRef<int64_t> shape = {});
  /// A static number as a constant of `type`, converted as `cast` would.
  Tensor numberAs(const Value &number, ScalarType type,
                  llvm::ArrayRef<int64_t> shape = {});

  //===--------------------------------------------------------------------===//
  // Shapes (Broadcast.cpp, rule B8)
  //===--------------------------------------------------------------------===//

  /// To exactly `shape`: splats a scalar, adds leading axes, repeats size-1
  /// axes. `what` names the operand in the error.
  FailureOr<Tensor> broadcastTo(Tensor x, llvm::ArrayRef<int64_t> shape,
                                llvm::StringRef what = {});
  /// Both to their common shape.
  LogicalResult broadcast(Tensor &a, Tensor &b, llvm::StringRef what = {});
  Tensor splat(Tensor scalar, llvm::ArrayRef<int64_t> shape);
  /// The element of a block of one, as a reduction that never combines; a
  /// scalar as it is.
  Tensor toScalar(Tensor x);
  Tensor expandDims(Tensor x, int64_t axis);
  /// Checks extents (>= 1) and the number of elements.
  LogicalResult checkShape(llvm::ArrayRef<int64_t> shape);

  //===--------------------------------------------------------------------===//
  // Casts (Cast.cpp, rule B5)
  //===--------------------------------------------------------------------===//

  FailureOr<Tensor> cast(Tensor x, ScalarType to,
                         std::optional<Rounding> rounding = {});
  FailureOr<Tensor> bitcast(Tensor x, ScalarType to);
  /// `x != 0` as int1.
  FailureOr<Tensor> toBool(Tensor x);

  //===--------------------------------------------------------------------===//
  // Operators (Arithmetic.cpp, rule B4)
  //===--------------------------------------------------------------------===//

  /// At least one operand is dynamic.
  FailureOr<Value> binary(ast::Operator op, const Value &a, const Value &b);
  FailureOr<Value> compare(ast::CompareOperator op, const Value &a,
                           const Value &b);
  FailureOr<Value> unary(ast::UnaryOperator op, const Tensor &x);

  /// How a static number meets a tensor.
  enum class NumberRule {
    Adopt, ///< takes the tensor's type where its kind allows: + - * / where
    Own,   ///< has its own type first
  };
  /// Of comparisons, minimum, maximum, clamp, fma, fdiv, div_rn, umulhi.
  NumberRule ruleOfFunctions() const {
    return means(LanguageVersion::V3_9) ? NumberRule::Adopt : NumberRule::Own;
  }
  /// The type in which operands meet. Null: an error was recorded, which begins
  /// with `what`.
  std::optional<ScalarType> commonType(llvm::ArrayRef<Value> operands,
                                       llvm::StringRef what, NumberRule rule,
                                       OperatorClass cls);
  /// Two operands in one type and one shape. `what` names the operation.
  FailureOr<std::pair<Tensor, Tensor>>
  promoteOperands(const Value &a, const Value &b, llvm::StringRef what,
                  NumberRule rule = NumberRule::Adopt,
                  OperatorClass cls = OperatorClass::Plain);

  // The operations themselves, on operands of one type and one shape.
  Tensor add(Tensor a, Tensor b);
  Tensor sub(Tensor a, Tensor b);
  Tensor mul(Tensor a, Tensor b);
  /// Signed or unsigned as the type says; floats as maxNum (the number wins
  /// over NaN), or with NaN winning.
  Tensor minimum(Tensor a, Tensor b, bool propagateNan = false);
  Tensor maximum(Tensor a, Tensor b, bool propagateNan = false);
  /// Element-wise choice; all three of one shape.
  Tensor select(Tensor condition, Tensor a, Tensor b);

private:
  mlir::Location locationOf(size_t frame);

  /// One a frame of the call stack: consecutive operations share most of it.
  struct CachedLocation {
    ast::Span span;
    const SourceText *source;
    std::optional<mlir::Location> caller;
    mlir::Location location;
  };
  std::vector<CachedLocation> cached;
};

} // namespace nereid::irgen

#endif // NEREID_IRGEN_EVAL_EMITTER_H
