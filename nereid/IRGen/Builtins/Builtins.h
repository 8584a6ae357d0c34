//===- Builtins.h - The table of built-in functions ------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Every built-in stands in one table. From a row come the binding and checking
// of arguments, "did you mean", the listing of `nereid builtins` and the
// coverage check. A row:
//
//   {"tl", "load(pointer, mask=None, other=None, boundary_check: ints=(), "
//          "padding_option: str='', cache_modifier: str='', "
//          "eviction_policy: str='', volatile: bool=False)",
//    emitLoad, "Elements read through a pointer.", Member}
//
// The signature is Python's, with these annotations:
//
//   (none)    any value as it is: a number is not converted
//   tensor    a run-time value: a number is converted by rule B3
//   int, float, bool, str    a static value of this type; float takes an int
//   ints      a static tuple of ints; one int stands for a tuple of one
//   dtype     tl.float32, tl.pointer_type(...), or a string naming a type
//   static    any static value
//   function  a function of the language
//   *name     the remaining positional arguments, as a tuple; `*name: ints`
//             accepts f(2, 3) and f((2, 3)); after it, or after a bare `*`,
//             parameters are keyword-only
//
// A default is a literal: None, True, False, a number, a string, (). A
// parameter whose default is None accepts None.
//
// A Member can also be called as x.name(...) on a tensor (or, for a module
// that names an AggregateType's methods, on such an aggregate); x is the first
// parameter.
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_IRGEN_BUILTINS_BUILTINS_H
#define NEREID_IRGEN_BUILTINS_BUILTINS_H

#include "nereid/IRGen/Eval/Emitter.h"

#include "llvm/ADT/StringMap.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

namespace nereid::irgen {

class Evaluator;
class BoundArguments;

/// What a built-in works with. Lives for one call.
struct CallContext {
  Evaluator &evaluator;
  Emitter &emitter;
  Diagnostics &diag;
  const Builtin &builtin;

  /// "tl.load".
  std::string name() const;
};

/// Emits the operations of one call and returns its value (None: Value()).
using EmitFn = FailureOr<Value> (*)(CallContext &, const BoundArguments &);

enum BuiltinFlags : unsigned {
  Member = 1,     ///< also x.name(...)
  MemberOnly = 2, ///< only x.name(...)
  HostToo = 4,    ///< may be called in host code (needs no emitter)
  Internal = 8,   ///< used by stdlib; not listed
};

enum class ParameterKind : uint8_t {
  Any,
  Tensor,
  Int,
  Float,
  Bool,
  String,
  Ints,
  DType,
  Static,
  Function,
};

struct BuiltinParameter {
  std::string name;
  ParameterKind kind = ParameterKind::Any;
  bool hasDefault = false;
  bool isVariadic = false;    ///< `*x`: further positional arguments, a tuple
  bool takesKeywords = false; ///< `**x`: further named arguments, a dict
  bool keywordOnly = false;
  Value defaultValue;
};

struct Builtin {
  std::string_view module; ///< several: "tl tl.math"; the first is its home
  std::string_view signature;
  EmitFn emit = nullptr; ///< null: defined in stdlib/<library>.py
  std::string_view summary;
  unsigned flags = 0;
  /// For functions written in the language: file of stdlib, without ".py".
  std::string_view library = {};

  // Read from `signature` when the table is made. A library function's
  // signature may be just its name: the parameters are in its source.
  std::string name = {};
  std::vector<BuiltinParameter> parameters = {};
};

/// The name that a user knows it by: "jit" for "_apply_jit", "list" for
/// "_list".
std::string displayName(const Builtin &builtin);

/// The arguments of one call, in the order of the parameters, checked against
/// them and converted.
class BoundArguments {
public:
  struct Item {
    Value value;
    ast::Span span; ///< of the argument, or of the call for a default
    bool given = false;
  };

  BoundArguments(const Builtin &builtin, std::vector<Item> items)
      : builtin(builtin), items(std::move(items)) {}

  const Item &item(llvm::StringRef name) const;
  const Value &operator[](llvm::StringRef name) const {
    return item(name).value;
  }
  const Value &operator[](size_t index) const { return items[index].value; }
  bool given(llvm::StringRef name) const { return item(name).given; }
  bool isNone(llvm::StringRef name) const { return (*this)[name].isNone(); }
  const ast::Span &span(llvm::StringRef name) const { return item(name).span; }

  // Of parameters annotated with the kind (and not None).
  const Tensor &tensor(llvm::StringRef name) const {
    return (*this)[name].tensor();
  }
  /// Saturated, so that a number outside of int64 stays out of every range.
  int64_t integer(llvm::StringRef name) const {
    return static_cast<int64_t>(
        std::clamp((*this)[name].integer(), Int{INT64_MIN}, Int{INT64_MAX}));
  }
  bool boolean(llvm::StringRef name) const { return (*this)[name].boolean(); }
  const std::string &string(llvm::StringRef name) const {
    return (*this)[name].string();
  }
  ScalarType dtype(llvm::StringRef name) const {
    return (*this)[name].type().scalar;
  }
  llvm::SmallVector<int64_t> ints(llvm::StringRef name) const;

private:
  const Builtin &builtin;
  std::vector<Item> items;
};

/// The table. Made once; immutable afterwards; thread-safe.
class BuiltinTable {
public:
  static const BuiltinTable &get();

  void add(Builtin row);

  /// Null when the module has no such name. Modules: "tl", "tl.math",
  /// "libdevice", "tl.extra.cuda", "triton", "python", ...
  const Builtin *find(llvm::StringRef module, llvm::StringRef name) const;
  /// A method of tensors (`module` "tl") or of aggregates
  /// (AggregateType::methods).
  const Builtin *findMember(llvm::StringRef module, llvm::StringRef name) const;
  /// For "did you mean".
  std::vector<std::string> names(llvm::StringRef module,
                                 bool membersOnly = false) const;
  const std::vector<std::unique_ptr<Builtin>> &rows() const { return table; }

private:
  BuiltinTable();

  std::vector<std::unique_ptr<Builtin>> table;
  llvm::StringMap<const Builtin *> byName; ///< "tl.math.exp"
};

/// One argument of a call, as evaluated.
struct Argument {
  std::string keyword; ///< empty: positional
  Value value;
  ast::Span span;
};

/// Assigns arguments to the row's parameters, fills in defaults, checks and
/// converts (Binding.cpp).
FailureOr<BoundArguments> bindArguments(CallContext &context,
                                        llvm::ArrayRef<Argument> arguments);

// One for each family: EmitMemory.cpp, EmitShape.cpp, ... BuiltinTable.cpp
// calls them all.
void registerMemoryBuiltins(BuiltinTable &table); // load store atomics ptrs
void registerShapeBuiltins(BuiltinTable &table);  // arange reshape join ...
void registerMathBuiltins(BuiltinTable &table);   // exp where minimum fma ...
void registerLibdeviceBuiltins(BuiltinTable &table);
void registerReduceBuiltins(BuiltinTable &table);  // reduce scan dot histogram
void registerProgramBuiltins(BuiltinTable &table); // program_id hints asserts
void registerLibraryBuiltins(BuiltinTable &table); // rows for stdlib/*.py
// Python's own and the host side (HostFunctions.cpp): len range float min
// isinstance ..., tl.range, tl.static_range, triton.cdiv, math.*.
void registerHostBuiltins(BuiltinTable &table);

/// For `nereid builtins` and docs: one line a row.
struct BuiltinListing {
  std::string module, name, signature, summary;
  bool isMember;
};
std::vector<BuiltinListing> listBuiltins();
/// The whole table as docs/BUILTINS.md.
std::string builtinsMarkdown();

/// The text of stdlib/<name>.py, embedded in the program; empty: no such file.
std::string_view librarySource(llvm::StringRef name);

} // namespace nereid::irgen

#endif // NEREID_IRGEN_BUILTINS_BUILTINS_H
