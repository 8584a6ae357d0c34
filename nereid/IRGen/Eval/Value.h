//===- Value.h - What an expression evaluates to ---------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A Value is static (known while compiling; the kinds None to Opaque) or
// dynamic (a Tensor: a Tile value with its language type). Tuples and
// aggregates may mix both. There is no separate "constexpr" wrapper: a static
// number *is* a constexpr, and assignment to a plain variable is what turns it
// into a Tensor (Emitter::decay).
//
// Values are cheap to copy: anything larger than a number is shared. Lists,
// dicts and objects of the host's classes are mutable and shared, as in Python;
// everything else is immutable.
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_IRGEN_EVAL_VALUE_H
#define NEREID_IRGEN_EVAL_VALUE_H

#include "nereid/ABI/KernelCompiler.h"
#include "nereid/IRGen/Eval/Types.h"

#include "mlir/IR/Value.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"

#include <map>
#include <memory>
#include <string>
#include <variant>
#include <vector>

namespace nereid::irgen {

struct Builtin;      // Builtins.h
struct Function;     // Function.h
struct HostObject;   // Function.h
struct PythonClass;  // Function.h
struct SourceModule; // Modules.h
class Value;

/// Python's int. Arithmetic that leaves 128 bits is a diagnostic.
using Int = __int128;

std::string toString(Int value);

/// A run-time value: `value` is a scalar or a ranked tensor of toMlir(type).
struct Tensor {
  mlir::Value value;
  ScalarType type;

  /// Empty for a scalar.
  llvm::ArrayRef<int64_t> shape() const;
  bool isBlock() const { return !shape().empty(); }
  int64_t rank() const { return static_cast<int64_t>(shape().size()); }
  int64_t numElements() const;
  /// "float32[64, 32]".
  std::string typeStr() const;
};

/// A type as a value: tl.float32, tl.pointer_type(tl.float16), x.type.
struct TypeValue {
  ScalarType scalar;
  bool isBlock = false; ///< block_type
  /// Of a block; of a pointer that is no block: of what a block pointer points
  /// to.
  llvm::SmallVector<int64_t, 4> shape;

  bool operator==(const TypeValue &) const = default;
};

/// Names the fields of an Aggregate and where its methods are found. One object
/// per kind: two aggregates have the same kind when the pointers are equal.
struct AggregateType {
  std::string name; ///< "block_ptr", "tensor_descriptor", a class's name
  std::vector<std::string> fields;
  /// Iterates, indexes and unpacks (namedtuple).
  bool isTuple = false;
  /// Module of the built-ins table that holds its methods; empty: none.
  std::string methods;
  /// The user's class, for aggregates made by one.
  std::shared_ptr<const PythonClass> userClass;
};

/// Values under field names: block pointers, descriptors, namedtuples,
/// aggregates. Each field is static or dynamic; a loop carries the dynamic
/// parts and requires the static ones to stay the same.
struct Aggregate {
  std::shared_ptr<const AggregateType> type;
  std::vector<Value> fields;

  /// Null when there is no such field.
  const Value *find(llvm::StringRef name) const;
};

/// What `for` iterates over: range, tl.range, tl.static_range.
struct RangeValue;

/// `value.method`, before it is called.
struct BoundMethod;

/// `lower:upper:step` of a subscript.
struct SliceValue;

/// A module that holds names: `path` is its full name. `source` is set when it
/// is a .py file; otherwise it is a built-in module ("triton.language").
struct ModuleValue {
  std::string path;
  std::shared_ptr<SourceModule> source;
};

/// Something of the host that means nothing in a kernel: `torch`,
/// `torch.float32`, os.environ[...]. Attributes, subscripts and calls of it
/// give further opaque values; `name` is what the user wrote.
struct Opaque {
  std::string name;
  /// What was missing when it was computed, with its line; empty: nothing was
  /// tried.
  std::string why = {};
};

class Value {
public:
  struct None {};
  struct Ellipsis {};
  using String = std::shared_ptr<const std::string>;
  using Tuple = std::shared_ptr<const std::vector<Value>>;
  using List = std::shared_ptr<std::vector<Value>>;
  /// Insertion order, as in Python. Keys are hashable statics.
  using Dict = std::shared_ptr<std::vector<std::pair<Value, Value>>>;

  using Storage = std::variant<
      None, bool, Int, double, String, Tuple, List, Dict,
      std::shared_ptr<const TypeValue>, std::shared_ptr<const Function>,
      const Builtin *, std::shared_ptr<const ModuleValue>,
      std::shared_ptr<const PythonClass>, std::shared_ptr<const BoundMethod>,
      std::shared_ptr<const RangeValue>, std::shared_ptr<const SliceValue>,
      Ellipsis, std::shared_ptr<const Opaque>, std::shared_ptr<const Aggregate>,
      Tensor, std::shared_ptr<HostObject>>;

  Value() = default;
  Value(bool v) : storage(v) {}
  Value(int v) : storage(Int{v}) {}
  Value(int64_t v) : storage(Int{v}) {}
  Value(Int v) : storage(v) {}
  Value(double v) : storage(v) {}
  Value(const char *v) : Value(std::string(v)) {}
  Value(std::string v);
  Value(llvm::StringRef v) : Value(v.str()) {}
  Value(DType v);
  Value(ScalarType v);
  Value(TypeValue v)
      : storage(std::make_shared<const TypeValue>(std::move(v))) {}
  Value(const Builtin *v) : storage(v) {}
  Value(Tensor v) : storage(v) {}
  Value(Aggregate v);
  Value(Opaque v) : storage(std::make_shared<const Opaque>(std::move(v))) {}
  Value(Ellipsis v) : storage(v) {}
  Value(ModuleValue v)
      : storage(std::make_shared<const ModuleValue>(std::move(v))) {}
  Value(std::shared_ptr<const Function> v) : storage(std::move(v)) {}
  Value(std::shared_ptr<const PythonClass> v) : storage(std::move(v)) {}
  Value(std::shared_ptr<HostObject> v) : storage(std::move(v)) {}
  Value(BoundMethod v);
  Value(RangeValue v);
  Value(SliceValue v);
  template <typename T>
  Value(T *) = delete; // a pointer would become a bool

  static Value tuple(std::vector<Value> items);
  static Value list(std::vector<Value> items);
  static Value dict(std::vector<std::pair<Value, Value>> items);
  static Value ints(llvm::ArrayRef<int64_t> values); ///< a tuple
  static Value fromStatic(const StaticValue &value);

  // Exactly this Python type: a bool is not an int here.
  bool isNone() const { return is<None>(); }
  bool isBool() const { return is<bool>(); }
  bool isInt() const { return is<Int>(); }
  bool isFloat() const { return is<double>(); }
  bool isString() const { return is<String>(); }
  bool isTuple() const { return is<Tuple>(); }
  bool isList() const { return is<List>(); }
  bool isDict() const { return is<Dict>(); }
  bool isType() const { return is<std::shared_ptr<const TypeValue>>(); }
  bool isFunction() const { return is<std::shared_ptr<const Function>>(); }
  bool isBuiltin() const { return is<const Builtin *>(); }
  bool isModule() const { return is<std::shared_ptr<const ModuleValue>>(); }
  bool isClass() const { return is<std::shared_ptr<const PythonClass>>(); }
  bool isMethod() const { return is<std::shared_ptr<const BoundMethod>>(); }
  bool isRange() const { return is<std::shared_ptr<const RangeValue>>(); }
  bool isSlice() const { return is<std::shared_ptr<const SliceValue>>(); }
  bool isEllipsis() const { return is<Ellipsis>(); }
  bool isOpaque() const { return is<std::shared_ptr<const Opaque>>(); }
  bool isAggregate() const { return is<std::shared_ptr<const Aggregate>>(); }
  bool isTensor() const { return is<Tensor>(); }
  bool isObject() const { return is<std::shared_ptr<HostObject>>(); }

  /// bool, int or float.
  bool isNumber() const { return isBool() || isInt() || isFloat(); }
  /// bool or int.
  bool isIntegral() const { return isBool() || isInt(); }
  /// tuple, list, or an aggregate that unpacks.
  bool isSequence() const;
  /// No Tensor in it, at any depth.
  bool isStatic() const;

  bool boolean() const { return std::get<bool>(storage); }
  /// Of an int or a bool.
  Int integer() const {
    return isBool() ? Int{boolean()} : std::get<Int>(storage);
  }
  /// Of any number.
  double number() const {
    return isFloat() ? std::get<double>(storage)
                     : static_cast<double>(integer());
  }
  const std::string &string() const { return *std::get<String>(storage); }
  /// Of a sequence.
  llvm::ArrayRef<Value> items() const;
  std::vector<Value> &list() const { return *std::get<List>(storage); }
  std::vector<std::pair<Value, Value>> &dict() const {
    return *std::get<Dict>(storage);
  }
  const TypeValue &type() const { return get<TypeValue>(); }
  const Function &function() const { return get<Function>(); }
  std::shared_ptr<const Function> functionPtr() const {
    return std::get<std::shared_ptr<const Function>>(storage);
  }
  const Builtin &builtin() const { return *std::get<const Builtin *>(storage); }
  const ModuleValue &module() const { return get<ModuleValue>(); }
  const PythonClass &pythonClass() const { return get<PythonClass>(); }
  std::shared_ptr<const PythonClass> pythonClassPtr() const {
    return std::get<std::shared_ptr<const PythonClass>>(storage);
  }
  const BoundMethod &method() const { return get<BoundMethod>(); }
  const RangeValue &range() const { return get<RangeValue>(); }
  const SliceValue &slice() const { return get<SliceValue>(); }
  const Opaque &opaque() const { return get<Opaque>(); }
  const Aggregate &aggregate() const { return get<Aggregate>(); }
  const Tensor &tensor() const { return std::get<Tensor>(storage); }
  HostObject &object() const {
    return *std::get<std::shared_ptr<HostObject>>(storage);
  }

  /// For messages: "int", "tuple", "tensor float32[64]", "function 'f'".
  std::string describe() const;
  /// Python's repr of a static value, `<tensor float32[64]>` of a dynamic one.
  std::string repr() const;
  /// Python's str: as repr, but a string without quotes.
  std::string str() const;

  /// Made by tl.constexpr(...) or from one: only such globals may be read in a
  /// kernel. Means nothing inside one.
  bool constexprGlobal = false;

  Storage storage;

private:
  template <typename T>
  bool is() const {
    return std::holds_alternative<T>(storage);
  }
  template <typename T>
  const T &get() const {
    return *std::get<std::shared_ptr<const T>>(storage);
  }
};

struct RangeValue {
  Value start = 0, stop, step = 1;
  enum class Kind { Python, Tile, Static } kind = Kind::Python;
  /// tl.range's hints, by name, in the order given: put on the scf.for as
  /// `tile.<name>`.
  std::vector<std::pair<std::string, int64_t>> hints;
};

struct BoundMethod {
  Value self;
  std::string name;
  const Builtin *builtin = nullptr; ///< a member of the built-ins table, or
  std::shared_ptr<const Function> function; ///< a function of the language, or
                                            ///< neither: a method of a static
};

struct SliceValue {
  Value lower, upper, step;
};

/// Python's `==` of two static values. Values of unrelated kinds differ.
bool equal(const Value &a, const Value &b);
/// Python's truth of a static value.
bool truth(const Value &value);

/// Keeps the first of equal values: what makes a list a set.
void removeEquals(std::vector<Value> &values);

/// The dynamic parts of a value, in order of fields.
void flatten(const Value &value, llvm::SmallVectorImpl<Tensor> &parts);
/// `like` with its dynamic parts replaced, in flatten's order. `parts` is
/// consumed from the front.
Value unflatten(const Value &like, llvm::ArrayRef<mlir::Value> &parts);
/// Same structure, same types of dynamic parts, equal static parts. On false
/// `why` says what differs ("float32[64] and float16[64]").
bool sameType(const Value &a, const Value &b, std::string &why);

/// As the interface to the runtime has it. Null for functions, modules and
/// everything else that has no plain form.
std::optional<StaticValue> toStaticValue(const Value &value);

} // namespace nereid::irgen

#endif // NEREID_IRGEN_EVAL_VALUE_H
