//===- CodeEmission.h - LLVM dialect to machine code or PTX -----*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What is the same for every processor: translation, LLVM's passes, code
// generation, and that LLVM's fatal errors come back as failures.
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_TARGET_CODEEMISSION_H
#define NEREID_TARGET_CODEEMISSION_H

#include "nereid/ABI/KernelImage.h"
#include "nereid/ABI/Status.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/DialectRegistry.h"

#include <functional>
#include <memory>
#include <string>

namespace llvm {
class LLVMContext;
class Module;
class OptPassGate;
class Pass;
class StringRef;
class TargetMachine;
} // namespace llvm

namespace nereid::target {

enum class CodeKind { Object, Assembly, LlvmText };

struct CodeEmission {
  std::string name;   ///< of the processor, for messages
  std::string triple; ///< of LLVM
  /// The LLVM passes for a module, as opt's -passes takes them; empty: none.
  std::function<std::string(const llvm::Module &)> pipeline;
  CodeKind kind = CodeKind::Object;
  /// Null with the reason added to `errors`.
  std::function<std::unique_ptr<llvm::TargetMachine>(std::string &errors)>
      createMachine;
  /// Facts about every function, before LLVM's passes.
  std::function<void(llvm::Module &)> prepare;
  /// Passes that code generation begins with itself, for a module that is then
  /// changed by `finish` in a way that they would undo. Empty: none.
  std::function<std::string(const llvm::Module &)> latePipeline;
  /// What code generation gets wrong, said in another way: after LLVM's
  /// passes, which would undo it. Empty: nothing.
  std::function<void(llvm::Module &)> finish;
  /// Says which of code generation's optional passes run, each by LLVM's name
  /// or its title; null: all. What is refused by its title is not scheduled,
  /// nor the analyses that it asks for. Outlives the emission.
  llvm::OptPassGate *gate = nullptr;
  /// A pass of ours that runs right after the one of code generation with this
  /// title, or null. Empty: none.
  std::function<llvm::Pass *(llvm::StringRef title)> follow;
  /// Asked after LLVM's other passes: a pass of ours in place of the one of
  /// code generation with this title, or null. Empty: none.
  std::function<llvm::Pass *(llvm::StringRef title)> replace;
};

/// `module` holds `llvm` (and `nvvm`) operations only and is not changed.
/// `times` gets the stages translate, llvm-opt and codegen.
Expected<std::string> emitCode(mlir::ModuleOp module,
                               const CodeEmission &emission,
                               StageTimes *times = nullptr);

/// The same for a module that is made by `make`, which gives null with the
/// reason added to `errors`.
using ModuleMaker = std::function<std::unique_ptr<llvm::Module>(
    llvm::LLVMContext &, std::string &errors)>;
Expected<std::string> emitCode(const ModuleMaker &make,
                               const CodeEmission &emission,
                               StageTimes *times = nullptr);

/// Lets a context translate the dialects that emitCode accepts. Contexts made
/// without it are given it by emitCode, which is not safe while another thread
/// uses the context.
void registerTranslations(mlir::DialectRegistry &registry);

} // namespace nereid::target

#endif // NEREID_TARGET_CODEEMISSION_H
