//===- KernelArguments.cpp - From a request to parameters' values *- C++
//-*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/IRGen/KernelArguments.h"

#include "nereid/Dialect/Tile/IR/Tile.h"
#include "nereid/IRGen/Builtins/EmitMemory.h"

namespace nereid::irgen {

static ScalarType typeOf(const RuntimeArgument &argument) {
  return argument.isPointer
             ? ScalarType::pointer(argument.dtype, argument.isConst)
             : ScalarType(argument.dtype);
}

//===----------------------------------------------------------------------===//
// The function
//===----------------------------------------------------------------------===//

namespace {

/// Types and attributes of the leaves that are passed.
struct Signature {
  Emitter &emitter;
  llvm::SmallVector<mlir::Type> types;
  llvm::SmallVector<mlir::DictionaryAttr> attributes;

  void add(const ArgumentSpec &spec, const std::string &name) {
    if (const auto *composite = std::get_if<CompositeArgument>(&spec)) {
      for (size_t i = 0; i < composite->items.size(); ++i) {
        add(composite->items[i], name + "." + composite->itemName(i));
      }
    } else if (const auto *runtime = std::get_if<RuntimeArgument>(&spec)) {
      add(*runtime, name);
    }
  }

  void add(const RuntimeArgument &argument, const std::string &name) {
    mlir::Builder &builder = emitter.builder;
    ScalarType type = typeOf(argument);
    types.push_back(emitter.typeOf(type));
    llvm::SmallVector<mlir::NamedAttribute> named;
    auto set = [&](llvm::StringRef key, mlir::Attribute value) {
      named.push_back(builder.getNamedAttr(key, value));
    };
    set(tile::nameAttr, builder.getStringAttr(name));
    type.isConst = false;
    set(tile::dtypeAttr, builder.getStringAttr(type.signature()));
    if (argument.divisibleBy16) {
      set(tile::divisibilityAttr, builder.getI32IntegerAttr(16));
    }
    if (argument.isConst) {
      set(tile::constAttr, builder.getUnitAttr());
    }
    attributes.push_back(builder.getDictionaryAttr(named));
  }
};

} // namespace

mlir::func::FuncOp
makeKernelFunction(Emitter &emitter, const CompileRequest &request,
                   llvm::ArrayRef<const ast::Arg *> parameters) {
  Signature signature{emitter, {}, {}};
  for (size_t i = 0; i < parameters.size(); ++i) {
    signature.add(request.arguments[i], std::string(parameters[i]->arg));
  }
  mlir::Builder &builder = emitter.builder;
  auto function = emitter.create<mlir::func::FuncOp>(
      request.kernel, builder.getFunctionType(signature.types, {}));
  function->setAttr(tile::kernelAttr, builder.getUnitAttr());
  function.setAllArgAttrs(signature.attributes);
  function.addEntryBlock();
  return function;
}

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

namespace {

class ArgumentValues {
public:
  ArgumentValues(Session &session, mlir::func::FuncOp function)
      : session(session), function(function) {}

  FailureOr<Value> make(const ArgumentSpec &spec) {
    if (const auto *fixed = std::get_if<StaticValue>(&spec)) {
      return constant(*fixed);
    }
    if (const auto *composite = std::get_if<CompositeArgument>(&spec)) {
      return compose(*composite);
    }
    const auto &runtime = std::get<RuntimeArgument>(spec);
    return Value(Tensor{function.getArgument(next++), typeOf(runtime)});
  }

private:
  FailureOr<Value> constant(const StaticValue &value) {
    if (const auto *named = std::get_if<StaticValue::Function>(&value.value)) {
      return namedFunction(named->name);
    }
    const auto *items = std::get_if<StaticValue::Tuple>(&value.value);
    if (!items) {
      return Value::fromStatic(value);
    }
    std::vector<Value> values;
    for (const StaticValue &item : *items) {
      FailureOr<Value> made = constant(item);
      if (failed(made)) {
        return failure();
      }
      values.push_back(std::move(*made));
    }
    return Value::tuple(std::move(values));
  }

  FailureOr<Value> namedFunction(const std::string &name) {
    Failure why;
    std::shared_ptr<const Function> found = session.findKernel(name, why);
    if (!found) {
      return session.diag.error("a function as argument: " + why.message);
    }
    return Value(found);
  }

  FailureOr<Value> compose(const CompositeArgument &composite) {
    std::vector<Value> items;
    for (const ArgumentSpec &item : composite.items) {
      FailureOr<Value> value = make(item);
      if (failed(value)) {
        return failure();
      }
      items.push_back(std::move(*value));
    }
    if (composite.kind == CompositeArgument::Kind::Descriptor) {
      return descriptor(composite, items);
    }
    if (composite.names.empty()) {
      return Value::tuple(std::move(items));
    }
    return Value(Aggregate{namedTupleType(composite), std::move(items)});
  }

  /// The file's class of that name and those fields, where it has one: its
  /// methods are found, and the kernel may make more of the type.
  std::shared_ptr<const AggregateType>
  namedTupleType(const CompositeArgument &composite) {
    const auto &main = session.modules.main;
    if (Evaluator::hasGlobal(*main, composite.type)) {
      Diagnostics::Mark mark = session.diag.mark();
      FailureOr<Value> cls = session.evaluator.global(main, composite.type);
      if (failed(cls)) {
        session.diag.forget(mark);
      } else if (cls->isClass() && cls->pythonClass().aggregate &&
                 cls->pythonClass().aggregate->fields == composite.names) {
        return aggregateTypeOf(cls->pythonClassPtr());
      }
    }
    auto type = std::make_shared<AggregateType>();
    type->name = composite.type.empty() ? "namedtuple" : composite.type;
    type->fields = composite.names;
    type->isTuple = true;
    return type;
  }

  Value descriptor(const CompositeArgument &composite,
                   llvm::ArrayRef<Value> items) {
    Emitter &emitter = session.emitter;
    size_t rank = composite.blockShape.size();
    auto scalars = [&](size_t first, DType type) {
      llvm::SmallVector<Tensor> result;
      for (const Value &item : items.slice(first, rank)) {
        result.push_back(*emitter.cast(*emitter.toTensor(item), type));
      }
      return result;
    };
    return makeDescriptor(items[0].tensor(), scalars(1, DType::Int32),
                          scalars(1 + rank, DType::Int64), composite.blockShape,
                          composite.padsWithNan);
  }

  Session &session;
  mlir::func::FuncOp function;
  unsigned next = 0;
};

} // namespace

FailureOr<std::vector<Value>>
kernelArguments(Session &session, llvm::ArrayRef<ArgumentSpec> arguments,
                mlir::func::FuncOp function, const Function &kernel) {
  session.diag.stack.push_back(
      {&kernel.module->parsed->source, kernel.name, kernel.def->span, false});
  ArgumentValues maker(session, function);
  std::vector<Value> values;
  bool isGood = true;
  for (const ArgumentSpec &argument : arguments) {
    FailureOr<Value> value = maker.make(argument);
    isGood = succeeded(value);
    if (!isGood) {
      break;
    }
    values.push_back(std::move(*value));
  }
  session.diag.stack.pop_back();
  if (!isGood) {
    return failure();
  }
  return values;
}

} // namespace nereid::irgen
