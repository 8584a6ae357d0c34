//===- Function.h - Functions and classes of the source ---------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_IRGEN_EVAL_FUNCTION_H
#define NEREID_IRGEN_EVAL_FUNCTION_H

#include "nereid/ABI/Status.h"
#include "nereid/IRGen/Eval/Value.h"
#include "nereid/Syntax/Ast.h"

namespace nereid::irgen {

struct Scope;

/// One argument of @triton.jit that concerns parameters.
struct ParameterSelection {
  std::vector<std::string> names;
  std::vector<int64_t> indices;

  bool contains(llvm::StringRef name, size_t index) const;
};

/// What decorators say. Kept as values; `describe` turns it into plain data.
struct Decorations {
  ParameterSelection doNotSpecialize, doNotSpecializeOnAlignment;
  /// The list given to @triton.autotune: triton.Config aggregates.
  std::vector<Value> configs;
  std::vector<std::string> tuneKey, resetToZero, restoreValue;
  /// Functions given to @triton.autotune, or None.
  Value preHook, postHook, pruneConfigsBy;
  bool isAutotuned = false;
  /// @triton.must_use_result: what it says beside that; empty: nothing more.
  std::optional<std::string> mustUse;
  /// @triton.heuristics: parameter -> function of the arguments' dict, in the
  /// order in which they are computed (outermost decorator first).
  std::vector<std::pair<std::string, Value>> heuristics;
  /// Why configurations or heuristics could not be evaluated.
  std::vector<Diagnostic> unknown;
};

/// A `def` or a lambda.
struct Function {
  enum class Kind {
    Host,      ///< plain Python: runs while compiling, not in kernels
    Jit,       ///< @triton.jit
    Constexpr, ///< @triton.constexpr_function: host code that kernels may call
    Extern,    ///< @tl.core.extern: host code that emits operations
  };
  Kind kind = Kind::Host;
  std::string name; ///< "<lambda>" for a lambda
  const ast::FunctionLike *def = nullptr;
  const ast::Lambda *lambda = nullptr;
  std::shared_ptr<SourceModule> module;
  /// Variables of the enclosing host function; null at module level.
  std::shared_ptr<Scope> closure;
  std::shared_ptr<const Decorations> decorations;
  /// Set for a method: the class that defines it.
  std::weak_ptr<const PythonClass> owner;

  const ast::Arguments &arguments() const {
    return def ? *def->args : *lambda->args;
  }
};

/// The parameters in the order of CompileRequest::arguments: positional ones,
/// then keyword-only ones.
std::vector<const ast::Arg *> parametersOf(const Function &function);

/// A class: Python's own (`int`, `tl.tensor`), by name only, or the source's.
struct PythonClass {
  std::string name;
  const ast::ClassDef *def = nullptr;
  std::shared_ptr<SourceModule> module;
  /// Fields and defaults of instances; null for Python's own.
  std::shared_ptr<AggregateType> aggregate;
  std::vector<std::optional<Value>> defaults;
  /// Methods and constants. Host code may assign to them: Class.x = value.
  mutable std::vector<std::pair<std::string, Value>> members;
  std::vector<std::shared_ptr<const PythonClass>> bases;
  bool isEnum = false;
  std::vector<std::string> enumMembers; ///< their names, in order
  /// Why nothing is known of its instances (a base class of the host, an
  /// __init__ that could not be evaluated); empty: they are objects.
  mutable std::string unknown;

  const Value *ownMember(llvm::StringRef name) const;
  void setMember(llvm::StringRef name, Value value) const;
  /// In the class or in what it derives from.
  const Value *find(llvm::StringRef name) const;
  bool derivesFrom(const PythonClass &other) const;
};

/// The class and what it derives from, in the order in which names are looked
/// up: depth first, a base after all that derive from it.
std::vector<const PythonClass *> lookupOrder(const PythonClass &cls);

/// An instance of a class of the host: a member of an enum, an exception, what
/// `Class(...)` makes outside of kernels. An Evaluator owns what it made:
/// afterwards its objects are empty.
struct HostObject {
  std::shared_ptr<const PythonClass> cls;
  std::vector<std::pair<std::string, Value>> attributes;

  const Value *find(llvm::StringRef name) const;
  void set(llvm::StringRef name, Value value);
};

/// The aggregate type of a class's instances, which knows the class, so that
/// methods are found.
std::shared_ptr<const AggregateType>
aggregateTypeOf(const std::shared_ptr<const PythonClass> &cls);

} // namespace nereid::irgen

#endif // NEREID_IRGEN_EVAL_FUNCTION_H
