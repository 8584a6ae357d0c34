//===- IRGen.cpp - From source text to Tile IR ------------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/IRGen/IRGen.h"

#include "nereid/Dialect/Tile/IR/Tile.h"
#include "nereid/IRGen/Host/HostAnswers.h"
#include "nereid/IRGen/KernelArguments.h"
#include "nereid/IRGen/Session.h"

#include "mlir/IR/Verifier.h"

namespace nereid::irgen {

void loadDialects(mlir::MLIRContext &context) {
  context.loadDialect<mlir::arith::ArithDialect, mlir::func::FuncDialect,
                      mlir::math::MathDialect, mlir::scf::SCFDialect,
                      tile::TileDialect>();
}

/// An error about a value of the host, which comes from a module that the file
/// imports and that is no library: the module's file was not found.
static void nameMissingImports(const SourceModule &main, Diagnostic &error) {
  for (const auto &entry : main.bindings) {
    for (const GlobalBinding &binding : entry.second) {
      std::string module;
      if (const auto *from = ast::dynCast<ast::ImportFrom>(binding.statement)) {
        module = std::string(from->level, '.') + std::string(from->module);
      } else if (ast::isa<ast::Import>(binding.statement) && binding.alias) {
        module = std::string(binding.alias->name);
      }
      llvm::StringRef text(error.message);
      if (module.empty() ||
          hostHasModule(llvm::StringRef(module).split('.').first) ||
          !(text.contains("'" + module + ".") ||
            text.contains("'" + module + "'"))) {
        continue;
      }
      error.hint = "the file of the module '" + module +
                   "' was not found beside this file or in the folders around "
                   "it" +
                   (error.hint.empty() ? "" : "; or " + error.hint);
      return;
    }
  }
}

Failure Session::failure(ErrorCode code, std::string message) {
  if (diag.hasError()) {
    if (diag.dueToHost && modules.main) {
      nameMissingImports(*modules.main, diag.errors.front());
    }
    return diag.takeFailure();
  }
  return Failure{code, std::move(message), {}};
}

/// The class of the module that has a function `name`, or "Class.name".
static std::string classWith(const SourceModule &module, llvm::StringRef name) {
  llvm::StringRef wanted = name.rsplit('.').second;
  wanted = wanted.empty() ? name : wanted;
  for (const ast::Stmt *statement : module.parsed->module->body) {
    const auto *cls = ast::dynCast<ast::ClassDef>(statement);
    if (cls && llvm::any_of(cls->body, [&](const ast::Stmt *inner) {
          const auto *def = ast::dynCast<ast::FunctionDef>(inner);
          return def && llvm::StringRef(def->name) == wanted;
        })) {
      return std::string(cls->name);
    }
  }
  return "";
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
    std::string member = classWith(*modules.main, name);
    if (!member.empty()) {
      why.code = ErrorCode::InvalidArgument;
      why.message += "; expected a function of the module, and it is a member "
                     "of the class '" +
                     member + "': move it out of the class";
    } else if (!near.empty()) {
      why.message += "; " + near;
    } else if (!known.empty()) {
      why.message += "; expected one of " + llvm::join(known, ", ");
    } else {
      why.message += ", which has no function decorated with @triton.jit; "
                     "expected one";
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
  std::string hint =
      value->isFunction()
          ? "decorate it with @triton.jit"
          : "expected a function that is decorated with @triton.jit";
  if (value->isFunction() && value->function().def) {
    const ast::FunctionLike &def = *value->function().def;
    if (def.kind == ast::Kind::AsyncFunctionDef) {
      hint = "an async function cannot be a kernel: write 'def' without "
             "'async', decorated with @triton.jit";
    } else if (!def.decoratorList.empty()) {
      hint = "none of its decorators is triton.jit: '@" +
             std::string(value->function().module->parsed->source.text(
                 def.decoratorList.front()->span)) +
             "' is not known here";
    }
  } else if (value->isClass()) {
    hint = "a kernel is a function of the module; move it out of the class";
  }
  const ast::Stmt *statement =
      isBound ? found->second.back().statement
              : modules.main->nestedKernels.lookup(name).statement;
  Diagnostic diagnostic = modules.main->parsed->source.error(
      statement->span,
      "'" + name + "' is not a kernel: it is " + value->describe(), hint);
  why.code = ErrorCode::InvalidArgument;
  why.message = diagnostic.message;
  why.diagnostics.push_back(std::move(diagnostic));
  return nullptr;
}

//===----------------------------------------------------------------------===//
// The kernel's function
//===----------------------------------------------------------------------===//

/// Something that the evaluator let through is not valid IR: our bug, reported
/// with what the verifier says.
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
  mlir::func::FuncOp function =
      makeKernelFunction(emitter, request, parameters);
  session.diag.stack.pop_back();
  emitter.builder.setInsertionPointToStart(&function.getBody().front());
  session.evaluator.emitAsserts = request.options.checks & CheckAsserts;
  emitter.checksOverflow = request.options.checks & CheckOverflow;
  session.evaluator.numWarps = request.options.numWarps;
  FailureOr<std::vector<Value>> values =
      kernelArguments(session, request.arguments, function, *kernel);
  if (failed(values)) {
    return session.failure(ErrorCode::CompileError, "");
  }
  if (failed(session.evaluator.runKernel(kernel, *values))) {
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
