//===- Expressions.cpp - Evaluating expressions -----------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/Dialect/Tile/IR/Tile.h"
#include "nereid/IRGen/Eval/Evaluator.h"

namespace nereid::irgen {

bool Evaluator::emits() const {
  return frame &&
         (frame->isKernel ||
          (frame->function && frame->function->kind == Function::Kind::Extern));
}

/// Expressions inside expressions, calls included.
static constexpr unsigned maxNesting = 500;

LogicalResult Evaluator::step() {
  Budget::step();
  return withinBudget();
}

LogicalResult Evaluator::withinBudget() {
  const Budget::Problem *problem = Budget::exceeded();
  return problem ? diag.error(problem->message, problem->hint) : success();
}

FailureOr<Value> Evaluator::evaluate(const ast::Expr *expr) {
  SpanScope at(diag, expr->span);
  if (failed(step())) {
    return failure();
  }
  if (nesting >= maxNesting) {
    return diag.error("the expression is nested too deeply",
                      "split it into several assignments");
  }
  ++nesting;
  FailureOr<Value> value = evaluateKind(expr);
  --nesting;
  if (succeeded(value) && failed(withinBudget())) {
    return failure();
  }
  return value;
}

FailureOr<Value> Evaluator::evaluateKind(const ast::Expr *expr) {
  switch (expr->kind) {
  case ast::Kind::Constant:
    return constant(ast::cast<ast::Constant>(expr));
  case ast::Kind::Name:
    return readName(ast::cast<ast::Name>(expr)->id);
  case ast::Kind::BinOp:
    return binOp(ast::cast<ast::BinOp>(expr));
  case ast::Kind::UnaryOp:
    return unaryOp(ast::cast<ast::UnaryOp>(expr));
  case ast::Kind::BoolOp:
    return boolOp(ast::cast<ast::BoolOp>(expr));
  case ast::Kind::Compare:
    return compare(ast::cast<ast::Compare>(expr));
  case ast::Kind::IfExp:
    return ifExp(ast::cast<ast::IfExp>(expr));
  case ast::Kind::Call:
    return callExpr(ast::cast<ast::Call>(expr));
  case ast::Kind::Attribute: {
    const auto *attr = ast::cast<ast::Attribute>(expr);
    FailureOr<Value> object = evaluate(attr->value);
    return failed(object) ? object : attribute(*object, attr->attr);
  }
  case ast::Kind::Subscript:
    return subscript(ast::cast<ast::Subscript>(expr));
  case ast::Kind::Slice:
    return slice(ast::cast<ast::Slice>(expr));
  case ast::Kind::Tuple: {
    const auto &elts = ast::cast<ast::Tuple>(expr)->elts;
    return sequence({elts.begin(), elts.size()}, /*isTuple=*/true);
  }
  case ast::Kind::List: {
    const auto &elts = ast::cast<ast::List>(expr)->elts;
    return sequence({elts.begin(), elts.size()}, frame->isKernel);
  }
  case ast::Kind::Set: {
    const auto &elts = ast::cast<ast::Set>(expr)->elts;
    FailureOr<Value> set =
        sequence({elts.begin(), elts.size()}, frame->isKernel);
    if (succeeded(set) && set->isList()) {
      removeEquals(set->list());
    }
    return set;
  }
  case ast::Kind::Dict:
    return dict(ast::cast<ast::Dict>(expr));
  case ast::Kind::JoinedStr:
    return joinedStr(ast::cast<ast::JoinedStr>(expr));
  case ast::Kind::ListComp:
  case ast::Kind::SetComp:
  case ast::Kind::GeneratorExp:
  case ast::Kind::DictComp:
    return comprehension(expr);
  case ast::Kind::Lambda:
    return lambda(ast::cast<ast::Lambda>(expr));
  case ast::Kind::NamedExpr:
    return namedExpr(ast::cast<ast::NamedExpr>(expr));
  case ast::Kind::Yield: {
    const ast::Expr *item = ast::cast<ast::Yield>(expr)->value;
    FailureOr<Value> value = item ? evaluate(item) : FailureOr<Value>(Value());
    if (failed(value) || frame->isKernel || !frame->function) {
      return failed(value)
                 ? failure()
                 : diag.error("'yield' is not supported here; expected it in a "
                              "function that runs while compiling");
    }
    frame->yields.push_back(*value);
    return Value();
  }
  case ast::Kind::YieldFrom: {
    FailureOr<Value> source = evaluate(ast::cast<ast::YieldFrom>(expr)->value);
    FailureOr<std::vector<Value>> items = failure();
    if (succeeded(source)) {
      items = iterate(*source, "'yield from'");
    }
    if (failed(items) || frame->isKernel || !frame->function) {
      return failed(items)
                 ? failure()
                 : diag.error("'yield' is not supported here; expected it in a "
                              "function that runs while compiling");
    }
    llvm::append_range(frame->yields, *items);
    return Value();
  }
  case ast::Kind::Starred:
    return diag.error("a starred expression is not allowed here; expected it "
                      "in a call, a tuple or a list: f(*args), (a, *rest)");
  default:
    return diag.error(
        std::string(ast::kindName(expr->kind)) +
        " expressions are not supported; expected those of docs/IRGen.md");
  }
}

FailureOr<Value> Evaluator::constant(const ast::Constant *expr) {
  switch (expr->constantKind) {
  case ast::ConstantKind::None:
    return Value();
  case ast::ConstantKind::True:
    return Value(true);
  case ast::ConstantKind::False:
    return Value(false);
  case ast::ConstantKind::Ellipsis:
    return Value(Value::Ellipsis());
  case ast::ConstantKind::Float:
    return Value(expr->number);
  case ast::ConstantKind::Str:
    return Value(std::string(expr->text));
  case ast::ConstantKind::Int: {
    const ast::Integer &integer = *expr->integer;
    if (integer.fitsInt64) {
      return Value(integer.small);
    }
    if (integer.words.size() > 2) {
      return diag.error("the integer literal does not fit 128 bits; expected "
                        "at most 38 digits");
    }
    unsigned __int128 bits = integer.words[0];
    if (integer.words.size() == 2) {
      bits |= static_cast<unsigned __int128>(integer.words[1]) << 64;
    }
    return Value(static_cast<Int>(bits));
  }
  case ast::ConstantKind::Complex:
  case ast::ConstantKind::Bytes:
    return diag.error("complex numbers and bytes are not supported; expected "
                      "an integer, a float, a bool or a string");
  }
  return failure();
}

FailureOr<Value> Evaluator::sequence(llvm::ArrayRef<ast::Expr *> items,
                                     bool isTuple) {
  std::vector<Value> values;
  for (const ast::Expr *item : items) {
    if (const auto *starred = ast::dynCast<ast::Starred>(item)) {
      FailureOr<Value> inner = evaluate(starred->value);
      FailureOr<std::vector<Value>> spread = failure();
      if (succeeded(inner)) {
        SpanScope at(diag, item->span);
        spread = iterate(*inner, "'*'");
      }
      if (failed(spread)) {
        return failure();
      }
      values.insert(values.end(), spread->begin(), spread->end());
      continue;
    }
    FailureOr<Value> value = evaluate(item);
    if (failed(value)) {
      return failure();
    }
    values.push_back(std::move(*value));
  }
  return isTuple ? Value::tuple(std::move(values))
                 : Value::list(std::move(values));
}

FailureOr<Value> Evaluator::dict(const ast::Dict *expr) {
  if (frame->isKernel) {
    return diag.error("a dict is not supported in a kernel; expected a tuple",
                      "make the dict at module level");
  }
  std::vector<std::pair<Value, Value>> entries;
  auto put = [&](const Value &key, const Value &value) {
    for (auto &[known, old] : entries) {
      if (equal(known, key)) {
        old = value;
        return;
      }
    }
    entries.emplace_back(key, value);
  };
  for (size_t i = 0; i < expr->values.size(); ++i) {
    FailureOr<Value> value = evaluate(expr->values[i]);
    if (failed(value)) {
      return failure();
    }
    if (!expr->keys[i]) {
      if (!value->isDict()) {
        return value->isOpaque()
                   ? diag.hostError("'**' of " + value->describe())
                   : diag.error("'**' needs a dict, got " + value->describe() +
                                "; expected a dict to take entries from");
      }
      for (const auto &[key, item] : value->dict()) {
        put(key, item);
      }
      continue;
    }
    FailureOr<Value> key = evaluate(expr->keys[i]);
    if (failed(key)) {
      return failure();
    }
    put(*key, *value);
  }
  return Value::dict(std::move(entries));
}

//===----------------------------------------------------------------------===//
// Operators
//===----------------------------------------------------------------------===//

using MethodNames = std::pair<llvm::StringRef, llvm::StringRef>;

/// The operator's methods, of its left operand and of its right one.
static MethodNames methodsOf(ast::Operator op) {
  switch (op) {
  case ast::Operator::Add:
    return {"__add__", "__radd__"};
  case ast::Operator::Sub:
    return {"__sub__", "__rsub__"};
  case ast::Operator::Mult:
    return {"__mul__", "__rmul__"};
  case ast::Operator::MatMult:
    return {"__matmul__", "__rmatmul__"};
  case ast::Operator::Div:
    return {"__truediv__", "__rtruediv__"};
  case ast::Operator::FloorDiv:
    return {"__floordiv__", "__rfloordiv__"};
  case ast::Operator::Mod:
    return {"__mod__", "__rmod__"};
  case ast::Operator::Pow:
    return {"__pow__", "__rpow__"};
  case ast::Operator::LShift:
    return {"__lshift__", "__rlshift__"};
  case ast::Operator::RShift:
    return {"__rshift__", "__rrshift__"};
  case ast::Operator::BitAnd:
    return {"__and__", "__rand__"};
  case ast::Operator::BitOr:
    return {"__or__", "__ror__"};
  case ast::Operator::BitXor:
    return {"__xor__", "__rxor__"};
  }
  return {};
}

static MethodNames methodsOf(ast::CompareOperator op) {
  switch (op) {
  case ast::CompareOperator::Eq:
    return {"__eq__", "__eq__"};
  case ast::CompareOperator::NotEq:
    return {"__ne__", "__ne__"};
  case ast::CompareOperator::Lt:
    return {"__lt__", "__gt__"};
  case ast::CompareOperator::LtE:
    return {"__le__", "__ge__"};
  case ast::CompareOperator::Gt:
    return {"__gt__", "__lt__"};
  case ast::CompareOperator::GtE:
    return {"__ge__", "__le__"};
  default:
    return {};
  }
}

static llvm::StringRef methodOf(ast::UnaryOperator op) {
  switch (op) {
  case ast::UnaryOperator::UAdd:
    return "__pos__";
  case ast::UnaryOperator::USub:
    return "__neg__";
  case ast::UnaryOperator::Invert:
    return "__invert__";
  case ast::UnaryOperator::Not:
    return "__not__";
  }
  return {};
}

/// The method of an aggregate for an operator: the left operand's, else the
/// reflected one of the right operand. Absent: neither has one.
static std::optional<FailureOr<Value>>
operatorOfAggregates(Evaluator &evaluator, MethodNames names, const Value &a,
                     const Value &b) {
  const std::pair<const Value *, const Value *> orders[] = {{&a, &b}, {&b, &a}};
  for (auto [owner, other] : orders) {
    llvm::StringRef name = owner == &a ? names.first : names.second;
    if (!owner->isAggregate() || name.empty()) {
      continue;
    }
    auto done = evaluator.callSpecial(*owner, name, {*other});
    bool isMissing = done && succeeded(*done) && (*done)->isOpaque() &&
                     (*done)->opaque().name == "NotImplemented";
    if (done && !isMissing) {
      return done;
    }
  }
  return std::nullopt;
}

FailureOr<Value> Evaluator::binary(ast::Operator op, const Value &a,
                                   const Value &b) {
  if (a.isAggregate() || b.isAggregate()) {
    if (auto done = operatorOfAggregates(*this, methodsOf(op), a, b)) {
      return *done;
    }
  }
  if (a.isTensor() || b.isTensor()) {
    bool concatenates = (a.isSequence() || b.isSequence());
    if (!concatenates) {
      return emitter.binary(op, a, b);
    }
  }
  return staticBinary(op, a, b);
}

FailureOr<Value> Evaluator::binOp(const ast::BinOp *expr) {
  FailureOr<Value> a = evaluate(expr->left);
  FailureOr<Value> b = failed(a) ? a : evaluate(expr->right);
  return failed(b) ? b : binary(expr->op, *a, *b);
}

FailureOr<Value> Evaluator::unaryOp(const ast::UnaryOp *expr) {
  FailureOr<Value> value = evaluate(expr->operand);
  if (succeeded(value) && value->isObject()) {
    value = tested(*value);
  }
  if (failed(value)) {
    return failure();
  }
  if (value->isAggregate()) {
    if (auto done = callSpecial(*value, methodOf(expr->op), {})) {
      return *done;
    }
  }
  return value->isTensor() ? emitter.unary(expr->op, value->tensor())
                           : staticUnary(expr->op, *value);
}

/// An operand of and/or on run-time values, as int1.
static FailureOr<Tensor> logicalOperand(Emitter &emitter, const Value &value,
                                        llvm::StringRef op) {
  if (!value.isTensor()) {
    return emitter.constant(DType::Int1, Int{truth(value)});
  }
  if (!value.tensor().type.isBool()) {
    return emitter.diag.error("'" + op.str() + "' needs booleans, got " +
                                  value.tensor().typeStr(),
                              "compare it: (x != 0) " + op.str() + " ...");
  }
  return value.tensor();
}

/// Static operands short-circuit; run-time ones do not: all are computed.
FailureOr<Value> Evaluator::boolOp(const ast::BoolOp *expr) {
  bool isAnd = expr->op == ast::BoolOperator::And;
  llvm::StringRef op = isAnd ? "and" : "or";
  FailureOr<Value> result = evaluate(expr->values.front());
  for (size_t i = 1; succeeded(result) && i < expr->values.size(); ++i) {
    result = resolved(*result);
    FailureOr<Value> test = tested(*result);
    if (failed(test)) {
      return failure();
    }
    if (result->isOpaque()) {
      return diag.hostError("'" + op.str() + "' of " + result->describe(),
                            bindHint(*result));
    }
    if (!result->isTensor() && truth(*test) != isAnd) {
      return result;
    }
    FailureOr<Value> next = evaluate(expr->values[i]);
    if (failed(next)) {
      return failure();
    }
    if (!result->isTensor()) {
      result = next;
      continue;
    }
    if (next->isOpaque()) {
      return diag.hostError("'" + op.str() + "' of " + next->describe());
    }
    FailureOr<Tensor> a = logicalOperand(emitter, *result, op);
    FailureOr<Tensor> b = failed(a) ? a : logicalOperand(emitter, *next, op);
    if (failed(b) || failed(emitter.broadcast(*a, *b, "'" + op.str() + "'"))) {
      return failure();
    }
    mlir::Value combined =
        isAnd ? emitter.create<mlir::arith::AndIOp>(a->value, b->value)
                    .getResult()
              : emitter.create<mlir::arith::OrIOp>(a->value, b->value)
                    .getResult();
    result = Value(Tensor{combined, DType::Int1});
  }
  return result;
}

FailureOr<Value> Evaluator::compareOne(ast::CompareOperator op, const Value &a,
                                       const Value &b) {
  bool identity =
      op == ast::CompareOperator::Is || op == ast::CompareOperator::IsNot;
  bool equality =
      op == ast::CompareOperator::Eq || op == ast::CompareOperator::NotEq;
  if (a.isAggregate() || b.isAggregate()) {
    if (auto done = operatorOfAggregates(*this, methodsOf(op), a, b)) {
      return *done;
    }
  }
  bool dynamic = a.isTensor() || b.isTensor();
  // A run-time value is never None, a string or a type.
  const Value &other = a.isTensor() ? b : a;
  bool neverEqual = other.isNone() || other.isString() || other.isType();
  if (dynamic && (identity || (equality && neverEqual))) {
    bool negated =
        op == ast::CompareOperator::IsNot || op == ast::CompareOperator::NotEq;
    if (!neverEqual) {
      return diag.error("'is' compares identity, which run-time values do not "
                        "have",
                        "write x == y");
    }
    return Value(negated);
  }
  return dynamic && !a.isSequence() && !b.isSequence()
             ? emitter.compare(op, a, b)
             : staticCompare(op, a, b);
}

/// A chain `a < b < c` is `a < b and b < c`, with b evaluated once; what is
/// known to be false ends it.
FailureOr<Value> Evaluator::compare(const ast::Compare *expr) {
  FailureOr<Value> left = evaluate(expr->left);
  FailureOr<Value> result = left;
  std::optional<Value> earlier; // run-time results
  for (size_t i = 0; succeeded(left) && i < expr->ops.size(); ++i) {
    FailureOr<Value> right = evaluate(expr->comparators[i]);
    if (failed(right)) {
      return failure();
    }
    result = compareOne(expr->ops[i], *left, *right);
    if (failed(result)) {
      return failure();
    }
    if (expr->ops.size() > 1) {
      if (!result->isTensor()) {
        if (!truth(*result)) {
          return result;
        }
      } else if (!earlier) {
        earlier = *result;
      } else {
        result = emitter.binary(ast::Operator::BitAnd, *earlier, *result);
        if (failed(result)) {
          return failure();
        }
        earlier = *result;
      }
    }
    left = right;
  }
  return earlier ? FailureOr<Value>(*earlier) : result;
}

FailureOr<Value> Evaluator::ifExp(const ast::IfExp *expr) {
  FailureOr<Value> test = condition(expr->test, "the condition");
  if (failed(test)) {
    return failure();
  }
  if (!test->isTensor()) {
    return evaluate(truth(*test) ? expr->body : expr->orelse);
  }
  auto arm = [&](const ast::Expr *value) -> FailureOr<Outcome> {
    FailureOr<Value> result = evaluate(value);
    if (failed(result)) {
      return failure();
    }
    return Outcome{Outcome::Returns, *result, {}};
  };
  FailureOr<Outcome> result = runtimeIf(
      test->tensor(), [&] { return arm(expr->body); },
      [&] { return arm(expr->orelse); });
  if (failed(result)) {
    return failure();
  }
  return result->value;
}

FailureOr<Value> Evaluator::namedExpr(const ast::NamedExpr *expr) {
  FailureOr<Value> value = evaluate(expr->value);
  if (failed(value) || failed(assign(expr->target, *value))) {
    return failure();
  }
  return readName(ast::cast<ast::Name>(expr->target)->id);
}

FailureOr<Value> Evaluator::condition(const ast::Expr *expr,
                                      llvm::StringRef what) {
  FailureOr<Value> value = evaluate(expr);
  if (failed(value)) {
    return failure();
  }
  SpanScope at(diag, expr->span);
  value = tested(resolved(*value));
  if (failed(value)) {
    return failure();
  }
  if (value->isOpaque()) {
    return diag.hostError(what.str() + " depends on " + value->describe(),
                          bindHint(*value));
  }
  if (!value->isTensor()) {
    return Value(truth(*value));
  }
  if (value->tensor().numElements() != 1) {
    return diag.error(what.str() + " is a block, " + value->tensor().typeStr() +
                          "; expected a scalar",
                      "choose element by element with tl.where(c, a, b), or "
                      "reduce the block first (tl.sum, tl.max)");
  }
  FailureOr<Tensor> boolean = emitter.toBool(emitter.toScalar(value->tensor()));
  if (failed(boolean)) {
    return failure();
  }
  return Value(*boolean);
}

} // namespace nereid::irgen
