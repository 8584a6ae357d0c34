//===- IRGen.cpp - From source text to Tile IR ------------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/IRGen/IRGen.h"

#include "nereid/Dialect/Tile/IR/Tile.h"
#include "nereid/IRGen/Session.h"

#include "mlir/IR/Verifier.h"

namespace nereid::irgen {

void loadDialects(mlir::MLIRContext &context) {
  context.loadDialect<mlir::arith::ArithDialect, mlir::func::FuncDialect,
                      mlir::math::MathDialect, mlir::scf::SCFDialect,
                      tile::TileDialect>();
}

Failure Session::failure(ErrorCode code, std::string message) {
  if (diag.hasError()) {
    return diag.takeFailure();
  }
  return Failure{code, std::move(message), {}};
}

std::shared_ptr<const Function> Session::findKernel(const std::string &name,
                                                    Failure &why) {
  std::vector<std::string> known = kernelNames();
  auto found = modules.main->bindings.find(name);
  bool isBound = found != modules.main->bindings.end();
  if (!isBound && !modules.main->nestedKernels.contains(name)) {
    why.code = ErrorCode::NotFound;
    why.message = "no kernel '" + name + "' in " + modules.main->path;
    std::string near = suggestion(name, known);
    if (!near.empty()) {
      why.message += "; " + near;
    } else if (!known.empty()) {
      why.message += "; it has " + llvm::join(known, ", ");
    } else {
      why.message += ", which has no function decorated with @triton.jit";
    }
    return nullptr;
  }
  FailureOr<Value> value = evaluator.global(modules.main, name);
  if (failed(value)) {
    why = failure(ErrorCode::CompileError, "");
    return nullptr;
  }
  bool isKernel =
      value->isFunction() && value->function().kind == Function::Kind::Jit;
  if (isKernel) {
    return value->functionPtr();
  }
  const ast::Stmt *statement =
      isBound ? found->second.back().statement
              : modules.main->nestedKernels.lookup(name).statement;
  Diagnostic diagnostic = modules.main->parsed->source.error(
      statement->span,
      "'" + name + "' is not a kernel: it is " + value->describe(),
      value->isFunction() ? "decorate it with @triton.jit" : "");
  why.code = ErrorCode::InvalidArgument;
  why.message = diagnostic.message;
  why.diagnostics.push_back(std::move(diagnostic));
  return nullptr;
}

//===----------------------------------------------------------------------===//
// The kernel's function
//===----------------------------------------------------------------------===//

/// func.func of the kernel, with the attributes that the Tile dialect describes
/// and an empty entry block.
static mlir::func::FuncOp
makeFunction(Emitter &emitter, const CompileRequest &request,
             llvm::ArrayRef<const ast::Arg *> parameters) {
  mlir::Builder &builder = emitter.builder;
  llvm::SmallVector<mlir::Type> types;
  llvm::SmallVector<mlir::DictionaryAttr> attributes;
  for (size_t i = 0; i < parameters.size(); ++i) {
    const auto *runtime = std::get_if<RuntimeArgument>(&request.arguments[i]);
    if (!runtime) {
      continue;
    }
    ScalarType type(runtime->dtype);
    if (runtime->isPointer) {
      type = ScalarType::pointer(runtime->dtype, runtime->isConst);
    }
    types.push_back(emitter.typeOf(type));
    llvm::SmallVector<mlir::NamedAttribute> named;
    auto set = [&](llvm::StringRef name, mlir::Attribute value) {
      named.push_back(builder.getNamedAttr(name, value));
    };
    set(tile::nameAttr,
        builder.getStringAttr(llvm::StringRef(parameters[i]->arg)));
    ScalarType plain = type;
    plain.isConst = false;
    set(tile::dtypeAttr, builder.getStringAttr(plain.signature()));
    if (runtime->divisibleBy16) {
      set(tile::divisibilityAttr, builder.getI32IntegerAttr(16));
    }
    if (runtime->isConst) {
      set(tile::constAttr, builder.getUnitAttr());
    }
    attributes.push_back(builder.getDictionaryAttr(named));
  }
  auto function = emitter.create<mlir::func::FuncOp>(
      request.kernel, builder.getFunctionType(types, {}));
  function->setAttr(tile::kernelAttr, builder.getUnitAttr());
  function.setAllArgAttrs(attributes);
  function.addEntryBlock();
  return function;
}

/// Something that the evaluator let through is not valid IR: our bug, told with
/// what the verifier says.
static std::optional<Failure> verifyModule(mlir::ModuleOp module,
                                           const std::string &kernel) {
  std::string text;
  mlir::ScopedDiagnosticHandler handler(
      module.getContext(), [&](mlir::Diagnostic &diagnostic) {
        text += (text.empty() ? "" : "; ") + diagnostic.str();
        return success();
      });
  if (succeeded(mlir::verify(module))) {
    return std::nullopt;
  }
  return Failure{ErrorCode::Internal,
                 "internal error: the Tile IR of '" + kernel +
                     "' is not valid: " + text,
                 {}};
}

Expected<mlir::OwningOpRef<mlir::ModuleOp>>
generate(mlir::MLIRContext &context, const CompileRequest &request,
         std::vector<Diagnostic> &warnings) {
  loadDialects(context);
  Session session(&context, request.source);
  if (!session.ok()) {
    return session.failure(ErrorCode::CompileError, "");
  }
  session.evaluator.target = request.target;
  session.evaluator.skipsTuning = true;
  Failure why;
  std::shared_ptr<const Function> kernel =
      session.findKernel(request.kernel, why);
  if (!kernel) {
    return why;
  }
  std::vector<const ast::Arg *> parameters = parametersOf(*kernel);
  if (request.arguments.size() != parameters.size()) {
    return Failure{ErrorCode::InvalidArgument,
                   "kernel '" + request.kernel + "' has " +
                       std::to_string(parameters.size()) +
                       " parameters; the request gives " +
                       std::to_string(request.arguments.size()),
                   {}};
  }
  // What is made before the body has the location of the definition.
  session.diag.stack.push_back({&kernel->module->parsed->source, request.kernel,
                                kernel->def->span, false});
  Emitter &emitter = session.emitter;
  mlir::OwningOpRef<mlir::ModuleOp> module =
      mlir::ModuleOp::create(emitter.loc());
  emitter.builder.setInsertionPointToEnd(module->getBody());
  mlir::func::FuncOp function = makeFunction(emitter, request, parameters);
  session.diag.stack.pop_back();
  emitter.builder.setInsertionPointToStart(&function.getBody().front());
  session.evaluator.emitAsserts = request.options.checks & CheckAsserts;
  session.evaluator.numWarps = request.options.numWarps;
  std::vector<Value> values;
  unsigned next = 0;
  for (const ArgumentSpec &argument : request.arguments) {
    if (const auto *fixed = std::get_if<StaticValue>(&argument)) {
      values.push_back(Value::fromStatic(*fixed));
      continue;
    }
    const auto &runtime = std::get<RuntimeArgument>(argument);
    ScalarType type = runtime.isPointer
                          ? ScalarType::pointer(runtime.dtype, runtime.isConst)
                          : ScalarType(runtime.dtype);
    values.emplace_back(Tensor{function.getArgument(next++), type});
  }
  if (failed(session.evaluator.runKernel(kernel, values))) {
    return session.failure(ErrorCode::CompileError, "");
  }
  mlir::func::ReturnOp::create(emitter.builder, function.getLoc());
  warnings.insert(warnings.end(), session.diag.warnings.begin(),
                  session.diag.warnings.end());
  if (std::optional<Failure> invalid = verifyModule(*module, request.kernel)) {
    return *invalid;
  }
  return module;
}

} // namespace nereid::irgen
