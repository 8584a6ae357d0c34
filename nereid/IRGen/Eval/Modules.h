//===- Modules.h - Source files as modules ---------------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A module's globals are evaluated when they are first read, one by one: host
// code that no kernel reaches is never looked at. A name may be bound more than
// once (try/except imports, `f = jit(f)`); `bindings` lists the statements that
// do, in order.
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_IRGEN_EVAL_MODULES_H
#define NEREID_IRGEN_EVAL_MODULES_H

#include "nereid/IRGen/Eval/Diagnostics.h"
#include "nereid/IRGen/Eval/Value.h"
#include "nereid/Syntax/Parser.h"

#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"

namespace nereid::irgen {

/// One statement that binds a global.
struct GlobalBinding {
  const ast::Stmt *statement = nullptr;
  const ast::Alias *alias = nullptr; ///< of an import
  /// The `if` tests it stands under, with the side; and whether it stands in
  /// the handler of a `try` (used only if the body's binding fails).
  std::vector<std::pair<const ast::Expr *, bool>> conditions;
  bool inHandler = false;
  /// The `try` statements around it, with whether it stands in a handler.
  std::vector<std::pair<const ast::TryLike *, bool>> tries;
};

/// A statement that changes lists, dicts, objects and classes of the module
/// without binding them: `configs.append(...)`, `TABLE["x"] = ...`,
/// `loader.size = 3`, a loop that does so.
struct GlobalEffect {
  GlobalBinding where;
  enum class State { Pending, Running, Done, Failed } state = State::Pending;
};

struct Scope;

struct SourceModule {
  std::string name; ///< dotted, as imported; "" for the kernel's own file
  std::string path; ///< of the file; "<nereid>/standard.py" for the library
  bool isLibrary = false;
  bool isPackage = false; ///< an __init__.py, or a folder without one
  std::shared_ptr<const ParsedModule> parsed;
  llvm::StringMap<std::vector<GlobalBinding>> bindings;
  /// Functions decorated with jit inside other functions (test files do that),
  /// by name; the first of equals. Their closures are not known.
  llvm::StringMap<GlobalBinding> nestedKernels;
  /// Names that some function assigns through `global`: their values are a
  /// matter of what the host program has run.
  llvm::StringMap<bool> changedByFunctions;
  /// In order; which of them change a name; and which of those are still to
  /// run, once the name is bound.
  std::vector<GlobalEffect> effects;
  llvm::StringMap<std::vector<size_t>> effectsOn, pendingEffects;
  /// Loops at module level that run, or have run: their variables.
  struct Loop {
    std::shared_ptr<Scope> variables;
    bool isRunning = false;
  };
  std::map<const ast::Stmt *, Loop> loops;
  /// Names whose values the host language gave (Source::bindings).
  std::map<std::string, StaticValue> given;
  /// `from x import *`, in order.
  std::vector<const ast::ImportFrom *> starImports;

  /// Evaluated globals, and for each name the binding that is being evaluated
  /// right now (one past its index; a cycle otherwise).
  llvm::StringMap<Value> values;
  /// What functions of the host assigned through `global`, and code that exec
  /// ran: functions of the host see it, kernels and constants do not.
  llvm::StringMap<Value> state;
  /// What names of several bindings meant to statements between them, by name
  /// and number of bindings before.
  std::map<std::pair<std::string, size_t>, Value> earlier;
  llvm::StringMap<size_t> inProgress;
  /// Names that are being looked for in `starImports` right now: modules may
  /// import each other, and themselves.
  llvm::StringSet<> soughtInStarImports;
};

/// All modules of one request. Not thread-safe.
class ModuleTable {
public:
  ModuleTable() = default;
  ModuleTable(const ModuleTable &) = delete;
  /// Functions keep their module, which keeps them among its values.
  ~ModuleTable();

  /// Parses the kernel's own file.
  FailureOr<std::shared_ptr<SourceModule>> addMain(const Source &source,
                                                   Diagnostics &diag);
  /// stdlib/<name>.py; null when there is none.
  std::shared_ptr<SourceModule> library(llvm::StringRef name);
  /// `import name` seen from `from` (level: leading dots). Null when no file is
  /// found; a file that does not parse is an error.
  FailureOr<std::shared_ptr<SourceModule>> import(const SourceModule &from,
                                                  llvm::StringRef name,
                                                  int level, Diagnostics &diag);

  /// Whether a file that was read imports `name`, and it is found as a file or
  /// a folder. Nothing is read for it.
  bool imports(llvm::StringRef name) const;

  std::shared_ptr<SourceModule> main;
  /// Of the source, and part of its hash. Files of stdlib are written in
  /// another one, and mean the same beside every source.
  LanguageVersion language = newestLanguage;
  static constexpr LanguageVersion libraryLanguage = LanguageVersion::V3_7;
  LanguageVersion languageOf(const SourceModule *module) const {
    return module && module->isLibrary ? libraryLanguage : language;
  }
  /// Every module that was read, in order: part of the source hash.
  std::vector<std::shared_ptr<SourceModule>> all;

private:
  void giveBindings(SourceModule &module) const;

  llvm::StringMap<std::shared_ptr<SourceModule>> byPath;
};

/// Modules that are part of the compiler: triton and its own, math.
bool isBuiltinModule(llvm::StringRef path);

/// Lists the statements that bind names at a module's top level.
void collectBindings(SourceModule &module);

/// The last name of a decorator: `triton.autotune(...)` -> "autotune".
llvm::StringRef decoratorName(const ast::Expr *expr);

/// By syntax: `@...jit`, `@...jit(...)`.
bool saysJit(const ast::Expr *decorator);

} // namespace nereid::irgen

#endif // NEREID_IRGEN_EVAL_MODULES_H
