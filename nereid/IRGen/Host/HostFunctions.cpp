//===- HostFunctions.cpp - Python's own functions, and the host side of triton
//*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What configuration code calls, and the few of Python's built-in functions
// that kernels may: range, len, min, max, float, int, isinstance, print.
//
//===----------------------------------------------------------------------===//

#include "nereid/IRGen/Host/HostFunctions.h"

#include "nereid/IRGen/Host/HostArguments.h"
#include "nereid/IRGen/Host/Objects.h"

#include "nereid/IRGen/Eval/Evaluator.h"

#include <cmath>

namespace nereid::irgen {

//===----------------------------------------------------------------------===//
// range
//===----------------------------------------------------------------------===//

/// start, stop, step of range(stop), range(start, stop), range(start, stop,
/// step).
static LogicalResult readBounds(CallContext &ctx, const BoundArguments &args,
                                RangeValue &range) {
  const Value &a = args["arg1"], &b = args["arg2"], &step = args["step"];
  range.start = b.isNone() ? Value(0) : a;
  range.stop = b.isNone() ? a : b;
  range.step = step.isNone() ? Value(1) : step;
  std::pair<Value *, llvm::StringRef> parts[] = {
      {&range.start, "arg1"},
      {&range.stop, b.isNone() ? "arg1" : "arg2"},
      {&range.step, "step"}};
  for (auto [part, name] : parts) {
    bool isScalar = part->isTensor() && ctx.evaluator.inKernel();
    if (!part->isIntegral() && !isScalar) {
      return wrongArgument(ctx, args, name, "an integer");
    }
  }
  if (range.step.isIntegral() && range.step.integer() == 0) {
    return ctx.diag.error(
        ctx.name() +
        ": the step must not be 0; expected a positive or a negative integer");
  }
  return success();
}

static FailureOr<Value> emitRange(CallContext &ctx,
                                  const BoundArguments &args) {
  RangeValue range;
  if (failed(readBounds(ctx, args, range))) {
    return failure();
  }
  return Value(std::move(range));
}

static FailureOr<Value> emitTileRange(CallContext &ctx,
                                      const BoundArguments &args) {
  RangeValue range;
  range.kind = RangeValue::Kind::Tile;
  if (failed(readBounds(ctx, args, range))) {
    return failure();
  }
  for (llvm::StringRef hint : {"num_stages", "loop_unroll_factor"}) {
    if (!args.isNone(hint)) {
      range.hints.emplace_back(hint.str(), args.integer(hint));
    }
  }
  for (llvm::StringRef hint : {"disallow_acc_multi_buffer", "flatten",
                               "warp_specialize", "disable_licm"}) {
    if (args.boolean(hint)) {
      range.hints.emplace_back(hint.str(), 1);
    }
  }
  return Value(std::move(range));
}

static FailureOr<Value> emitStaticRange(CallContext &ctx,
                                        const BoundArguments &args) {
  RangeValue range;
  range.kind = RangeValue::Kind::Static;
  if (failed(readBounds(ctx, args, range))) {
    return failure();
  }
  for (const Value *bound : {&range.start, &range.stop, &range.step}) {
    if (bound->isTensor()) {
      return ctx.diag.error(
          "tl.static_range: the bounds must be known while compiling, got " +
              bound->describe(),
          "use range or tl.range, or declare the bound tl.constexpr");
    }
  }
  return Value(std::move(range));
}

//===----------------------------------------------------------------------===//
// min, max, sum, abs
//===----------------------------------------------------------------------===//

/// Before 3.9 bfloat16 was float32 in a minimum.
static LogicalResult widenBeforeTypes(CallContext &ctx, Value &x) {
  if (ctx.emitter.means(LanguageVersion::V3_9) || !x.isTensor() ||
      !(x.tensor().type == ScalarType(DType::BFloat16))) {
    return success();
  }
  FailureOr<Tensor> wide = ctx.emitter.cast(x.tensor(), DType::Float32);
  if (failed(wide)) {
    return failure();
  }
  x = Value(*wide);
  return success();
}

static FailureOr<Value> extremum(CallContext &ctx, const BoundArguments &args,
                                 bool isMin) {
  std::vector<Value> items = args["values"].items();
  if (items.size() == 1 && !items[0].isTensor()) {
    FailureOr<std::vector<Value>> inner =
        ctx.evaluator.iterate(items[0], ctx.name());
    if (failed(inner)) {
      return failure();
    }
    items = std::move(*inner);
  } else if (items.size() == 1) {
    return ctx.diag.error(ctx.name() + " of one run-time value",
                          std::string("the reduction of a block is tl.") +
                              (isMin ? "min(x)" : "max(x)"));
  }
  if (items.empty()) {
    return ctx.diag.error(ctx.name() +
                          ": no values; expected at least one value");
  }
  Value best = items.front();
  for (size_t i = 1; i < items.size(); ++i) {
    if (!best.isTensor() && !items[i].isTensor()) {
      FailureOr<Value> better = ctx.evaluator.staticCompare(
          isMin ? ast::CompareOperator::Lt : ast::CompareOperator::Gt, items[i],
          best);
      if (failed(better)) {
        return failure();
      }
      best = truth(*better) ? items[i] : best;
      continue;
    }
    Value other = items[i];
    if (failed(widenBeforeTypes(ctx, best)) ||
        failed(widenBeforeTypes(ctx, other))) {
      return failure();
    }
    auto pair = ctx.emitter.promoteOperands(best, other, ctx.name(),
                                            ctx.emitter.ruleOfFunctions());
    if (failed(pair)) {
      return failure();
    }
    best = Value(isMin ? ctx.emitter.minimum(pair->first, pair->second)
                       : ctx.emitter.maximum(pair->first, pair->second));
  }
  return best;
}

static FailureOr<Value> emitMin(CallContext &ctx, const BoundArguments &args) {
  return extremum(ctx, args, /*isMin=*/true);
}

static FailureOr<Value> emitMax(CallContext &ctx, const BoundArguments &args) {
  return extremum(ctx, args, /*isMin=*/false);
}

static FailureOr<Value> emitSum(CallContext &ctx, const BoundArguments &args) {
  FailureOr<std::vector<Value>> items =
      ctx.evaluator.iterate(args["values"], "sum");
  if (failed(items)) {
    return failure();
  }
  Value total = args["start"];
  for (const Value &item : *items) {
    FailureOr<Value> next =
        item.isTensor() || total.isTensor()
            ? ctx.emitter.binary(ast::Operator::Add, total, item)
            : ctx.evaluator.staticBinary(ast::Operator::Add, total, item);
    if (failed(next)) {
      return failure();
    }
    total = std::move(*next);
  }
  return total;
}

static FailureOr<Value> emitAbs(CallContext &ctx, const BoundArguments &args) {
  const Value &x = args["x"];
  if (x.isTensor()) {
    return ctx.evaluator.call(Value(BuiltinTable::get().find("tl", "abs")),
                              {Argument{"", x, args.span("x")}});
  }
  if (x.isIntegral()) {
    return Value(x.integer() < 0 ? -x.integer() : x.integer());
  }
  return x.isFloat()
             ? FailureOr<Value>(Value(std::fabs(x.number())))
             : FailureOr<Value>(wrongArgument(ctx, args, "x", "a number"));
}

//===----------------------------------------------------------------------===//
// Questions about values
//===----------------------------------------------------------------------===//

static FailureOr<Value> emitLen(CallContext &ctx, const BoundArguments &args) {
  const Value &x = args["x"];
  if (x.isSequence()) {
    return Value(static_cast<int64_t>(x.items().size()));
  }
  if (x.isString()) {
    return Value(static_cast<int64_t>(x.string().size()));
  }
  if (x.isDict()) {
    return Value(static_cast<int64_t>(x.dict().size()));
  }
  if (x.isTensor() && x.tensor().isBlock()) {
    return Value(x.tensor().shape()[0]);
  }
  if (x.isRange()) {
    FailureOr<std::vector<Value>> items = ctx.evaluator.iterate(x, "len");
    return failed(items)
               ? FailureOr<Value>(failure())
               : FailureOr<Value>(Value(static_cast<int64_t>(items->size())));
  }
  if (x.isClass() && x.pythonClass().isEnum) {
    return Value(static_cast<int64_t>(enumMembers(x.pythonClass()).size()));
  }
  if (auto length = ctx.evaluator.callSpecial(x, "__len__")) {
    return *length;
  }
  return wrongArgument(ctx, args, "x", "a tuple or a list");
}

/// Of tl.pointer_type and tl.block_type, which are functions that make a type.
static bool isOfTypeMaker(const Value &value, const Builtin &maker) {
  if (!value.isType()) {
    return false;
  }
  const TypeValue &type = value.type();
  return maker.name == "block_type"
             ? type.isBlock
             : maker.name == "pointer_type" && type.scalar.isPointer &&
                   !type.isBlock;
}

bool Evaluator::isInstance(const Value &value,
                           const Value &classOrTuple) const {
  if (classOrTuple.isSequence()) {
    return llvm::any_of(classOrTuple.items(), [&](const Value &cls) {
      return isInstance(value, cls);
    });
  }
  if (classOrTuple.isOpaque()) {
    return isHostInstance(value, classOrTuple.opaque().name);
  }
  if (classOrTuple.isBuiltin()) {
    return isOfTypeMaker(value, classOrTuple.builtin());
  }
  if (!classOrTuple.isClass()) {
    return false;
  }
  const PythonClass &cls = classOrTuple.pythonClass();
  llvm::StringRef name(cls.name);
  if (cls.aggregate) {
    return value.isAggregate() &&
           (value.aggregate().type == cls.aggregate ||
            (value.aggregate().type->userClass &&
             value.aggregate().type->userClass->derivesFrom(cls)));
  }
  if (value.isObject() && value.object().cls && name != "object") {
    return llvm::any_of(
        lookupOrder(*value.object().cls), [&](const PythonClass *own) {
          return own == &cls ||
                 (!own->def && !cls.def &&
                  (own->name == cls.name || isCaughtBy(own->name, cls.name)));
        });
  }
  if (name == "object") {
    return true;
  }
  if (name == "constexpr") {
    return inKernel() && (value.isNumber() || value.isString() ||
                          value.isNone() || value.isType());
  }
  return (name == "tensor" && value.isTensor()) ||
         (name == "int" && value.isIntegral()) ||
         (name == "bool" && value.isBool()) ||
         (name == "float" && value.isFloat()) ||
         (name == "str" && value.isString()) ||
         (name == "tuple" && (value.isTuple() || value.isSequence()) &&
          !value.isList()) ||
         (name == "list" && value.isList()) ||
         (name == "dict" && value.isDict()) ||
         (name == "dtype" && value.isType()) ||
         (name == "tensor_descriptor" && value.isAggregate() &&
          value.aggregate().type->name == "tensor_descriptor");
}

static FailureOr<Value> emitIsInstance(CallContext &ctx,
                                       const BoundArguments &args) {
  return Value(ctx.evaluator.isInstance(args["x"], args["cls"]));
}

static FailureOr<Value> emitHasAttr(CallContext &ctx,
                                    const BoundArguments &args) {
  Diagnostics::Mark mark = ctx.diag.mark();
  FailureOr<Value> found =
      ctx.evaluator.attribute(args["x"], args.string("name"));
  if (failed(found) && ctx.diag.dueToHost && ctx.diag.exception.empty()) {
    return failure(); // unknown
  }
  if (failed(found)) {
    ctx.diag.forget(mark);
  }
  return Value(succeeded(found));
}

static FailureOr<Value> emitGetAttr(CallContext &ctx,
                                    const BoundArguments &args) {
  Diagnostics::Mark mark = ctx.diag.mark();
  FailureOr<Value> found =
      ctx.evaluator.attribute(args["x"], args.string("name"));
  bool isUnknown = ctx.diag.dueToHost && ctx.diag.exception.empty();
  if (failed(found) && args.given("default") && !isUnknown) {
    ctx.diag.forget(mark);
    return args["default"];
  }
  return found;
}

static FailureOr<Value> emitCallable(CallContext &ctx,
                                     const BoundArguments &args) {
  const Value &x = args["x"];
  return Value(
      x.isFunction() || x.isBuiltin() || x.isClass() || x.isMethod() ||
      (x.isObject() && x.object().cls && x.object().cls->find("__call__")));
}

//===----------------------------------------------------------------------===//
// print
//===----------------------------------------------------------------------===//

/// In a kernel `print` is tl.device_print; in host code it prints nothing,
/// since host code is evaluated any number of times.
static FailureOr<Value> emitPrint(CallContext &ctx,
                                  const BoundArguments &args) {
  if (!ctx.evaluator.inKernel()) {
    return Value();
  }
  llvm::SmallVector<Argument> arguments;
  for (const Value &value : args["values"].items()) {
    arguments.push_back({"", value, args.span("values")});
  }
  bool hasPrefix = !arguments.empty() && arguments[0].value.isString();
  if (!hasPrefix) {
    arguments.insert(arguments.begin(),
                     Argument{"", Value(""), args.span("values")});
  }
  return ctx.evaluator.call(
      Value(BuiltinTable::get().find("tl", "device_print")), arguments);
}

//===----------------------------------------------------------------------===//
// triton.cdiv, triton.next_power_of_2, type constructors
//===----------------------------------------------------------------------===//

static FailureOr<Value> emitCdiv(CallContext &ctx, const BoundArguments &args) {
  const Value &x = args["x"], &y = args["y"];
  if (x.isTensor() || y.isTensor()) {
    FailureOr<Value> function =
        ctx.evaluator.libraryFunction("standard", "cdiv");
    if (failed(function)) {
      return failure();
    }
    return ctx.evaluator.call(*function, {Argument{"", x, args.span("x")},
                                          Argument{"", y, args.span("y")}});
  }
  if (!x.isIntegral() || !y.isIntegral()) {
    return wrongArgument(ctx, args, x.isIntegral() ? "y" : "x", "an integer");
  }
  if (y.integer() == 0) {
    return ctx.diag.error(
        "triton.cdiv: division by zero; expected a divisor other than 0");
  }
  Evaluator &e = ctx.evaluator;
  FailureOr<Value> sum =
      e.staticBinary(ast::Operator::Add, x, Value(y.integer() - 1));
  return failed(sum) ? sum : e.staticBinary(ast::Operator::FloorDiv, *sum, y);
}

static FailureOr<Value> emitNextPowerOf2(CallContext &ctx,
                                         const BoundArguments &args) {
  const Value &n = args["n"];
  if (n.isTensor()) {
    return ctx.diag.error("triton.next_power_of_2 works while compiling, but "
                          "its argument is " +
                              n.describe(),
                          "compute it in the host code and pass it as a "
                          "tl.constexpr");
  }
  if (!n.isIntegral() || n.integer() > (Int{1} << 100)) {
    return wrongArgument(ctx, args, "n", "an integer");
  }
  Int power = 1;
  while (power < n.integer()) {
    power *= 2;
  }
  // As Triton's bit trick has it.
  return Value(n.integer() <= 0 ? Int{0} : power);
}

/// tl.core.get_int_dtype(16, False): uint16.
static FailureOr<Value> emitIntType(CallContext &ctx,
                                    const BoundArguments &args) {
  for (int i = 0; i < numDTypes; ++i) {
    DType dtype = static_cast<DType>(i);
    if (!isFloat(dtype) &&
        int64_t(bitWidth(dtype)) == args.integer("bitwidth") &&
        (isSigned(dtype) == args.boolean("signed") || bitWidth(dtype) == 1)) {
      return Value(dtype);
    }
  }
  return wrongArgument(ctx, args, "bitwidth", "1, 8, 16, 32 or 64");
}

static FailureOr<Value> emitPointerType(CallContext &ctx,
                                        const BoundArguments &args) {
  ScalarType element = args.dtype("element_ty");
  if (element.isPointer) {
    return ctx.diag.error("tl.pointer_type: pointers to pointers are not "
                          "supported",
                          "store addresses as int64 and convert them: "
                          "p.to(tl.pointer_type(tl.float32))");
  }
  return Value(ScalarType::pointer(element.dtype, args.boolean("const")));
}

static FailureOr<Value> emitBlockType(CallContext &ctx,
                                      const BoundArguments &args) {
  llvm::SmallVector<int64_t> shape = args.ints("shape");
  TypeValue type{args.dtype("element_ty"), !shape.empty(), {}};
  type.shape.assign(shape.begin(), shape.end());
  return Value(std::move(type));
}

//===----------------------------------------------------------------------===//
// Rows
//===----------------------------------------------------------------------===//

void registerHostBuiltins(BuiltinTable &table) {
  registerDecorators(table);
  registerHostArguments(table);
  registerIterationFunctions(table);
  registerMathModule(table);
  registerConversions(table);
  // tl.range's hints are accepted, and ignored.
  table.add({"python",
             "range(arg1, arg2=None, step=None, num_stages=None, "
             "loop_unroll_factor=None, disallow_acc_multi_buffer=None, "
             "flatten=None, warp_specialize=None, disable_licm=None)",
             emitRange,
             "A run-time loop in a kernel, also over constant bounds.",
             HostToo});
  table.add({"tl",
             "range(arg1, arg2=None, step=None, num_stages: int=None, "
             "loop_unroll_factor: int=None, "
             "disallow_acc_multi_buffer: bool=False, flatten: bool=False, "
             "warp_specialize: bool=False, disable_licm: bool=False)",
             emitTileRange, "A run-time loop, with hints for the compiler."});
  table.add({"tl", "static_range(arg1, arg2=None, step=None)", emitStaticRange,
             "A loop that is unrolled; its index is a constant."});
  table.add({"python", "min(*values)", emitMin, "The least of several values.",
             HostToo});
  table.add({"python", "max(*values)", emitMax,
             "The greatest of several values.", HostToo});
  table.add({"python", "sum(values, start=0)", emitSum,
             "The sum of a sequence.", HostToo});
  table.add({"python", "abs(x)", emitAbs, "Magnitude.", HostToo});
  table.add({"python", "len(x)", emitLen, "Number of elements.", HostToo});
  table.add({"python", "isinstance(x, cls)", emitIsInstance,
             "Whether a value is of a class.", HostToo});
  table.add({"python", "hasattr(x, name: str)", emitHasAttr,
             "Whether a value has an attribute.", HostToo});
  table.add({"python", "getattr(x, name: str, default=None)", emitGetAttr,
             "An attribute by name.", HostToo});
  table.add({"python", "callable(x)", emitCallable,
             "Whether a value can be called.", HostToo});
  table.add({"python", "print(*values, sep=None, end=None)", emitPrint,
             "tl.device_print in a kernel.", HostToo});
  table.add({"triton", "cdiv(x, y)", emitCdiv, "ceil(x / y)", HostToo});
  table.add({"triton", "next_power_of_2(n)", emitNextPowerOf2,
             "The least power of two that is at least n.", HostToo});
  table.add({"tl",
             "pointer_type(element_ty: dtype, address_space=1, "
             "const: bool=False)",
             emitPointerType, "The type of pointers to elements of a type.",
             HostToo});
  table.add({"tl", "get_int_dtype(bitwidth: int, signed: bool)", emitIntType,
             "The integer type of a width.", HostToo});
  table.add({"tl", "block_type(element_ty: dtype, shape: ints)", emitBlockType,
             "The type of blocks of a shape.", HostToo});
}

} // namespace nereid::irgen
