//===- Value.cpp - What an expression evaluates to ------------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/IRGen/Eval/Value.h"

#include "nereid/Dialect/Tile/IR/Tile.h"
#include "nereid/IRGen/Builtins/Builtins.h"
#include "nereid/IRGen/Eval/Budget.h"
#include "nereid/IRGen/Eval/Function.h"
#include "nereid/IRGen/Host/Objects.h"

#include <charconv>
#include <cmath>

namespace nereid::irgen {

std::string toString(Int value) {
  bool negative = value < 0;
  unsigned __int128 rest =
      negative ? -static_cast<unsigned __int128>(value) : value;
  std::string digits;
  do {
    digits.insert(digits.begin(), static_cast<char>('0' + int(rest % 10)));
    rest /= 10;
  } while (rest != 0);
  return negative ? "-" + digits : digits;
}

llvm::ArrayRef<int64_t> Tensor::shape() const {
  return tile::getShape(value.getType());
}

int64_t Tensor::numElements() const {
  int64_t count = 1;
  for (int64_t extent : shape()) {
    count *= extent;
  }
  return count;
}

std::string Tensor::typeStr() const { return irgen::str(type, shape()); }

const Value *Aggregate::find(llvm::StringRef name) const {
  for (size_t i = 0; i < type->fields.size() && i < fields.size(); ++i) {
    if (type->fields[i] == name) {
      return &fields[i];
    }
  }
  return nullptr;
}

Value::Value(DType v) : Value(TypeValue{ScalarType(v), false, {}}) {}
Value::Value(ScalarType v) : Value(TypeValue{v, false, {}}) {}
Value::Value(BoundMethod v)
    : storage(std::make_shared<const BoundMethod>(std::move(v))) {}
Value::Value(RangeValue v)
    : storage(std::make_shared<const RangeValue>(std::move(v))) {}
Value::Value(SliceValue v)
    : storage(std::make_shared<const SliceValue>(std::move(v))) {}

Value::Value(std::string v) {
  Budget::make(v.size());
  storage = std::make_shared<const std::string>(std::move(v));
}

using Deleter = void (*)(void *);
/// Containers to delete, of the deletion that is under way. No destructor of
/// its own: static values are deleted when a thread's variables are gone.
static thread_local std::vector<std::pair<void *, Deleter>> *waiting = nullptr;

/// Deletes a container after the containers in it, by a list of work: they may
/// hold one another a million levels deep.
template <typename T>
static void bury(T *container) {
  using Plain = std::remove_const_t<T>;
  std::pair<void *, Deleter> own(const_cast<Plain *>(container), [](void *it) {
    delete static_cast<Plain *>(it);
  });
  if (waiting) {
    return waiting->push_back(own);
  }
  std::vector<std::pair<void *, Deleter>> work = {own};
  waiting = &work;
  while (!work.empty()) {
    auto [next, remove] = work.back();
    work.pop_back();
    remove(next); // what it held is waiting now
  }
  waiting = nullptr;
}

template <typename T, typename U>
static std::shared_ptr<T> shared(U value) {
  return std::shared_ptr<T>(new U(std::move(value)), bury<T>);
}

Value::Value(Aggregate v) {
  Budget::make(v.fields.size() * sizeof(Value));
  storage = shared<const Aggregate>(std::move(v));
}

Value Value::tuple(std::vector<Value> items) {
  Budget::make(items.size() * sizeof(Value));
  Value result;
  result.storage = shared<const std::vector<Value>>(std::move(items));
  return result;
}

Value Value::list(std::vector<Value> items) {
  Budget::make(items.size() * sizeof(Value));
  Value result;
  result.storage = shared<std::vector<Value>>(std::move(items));
  return result;
}

Value Value::dict(std::vector<std::pair<Value, Value>> items) {
  Budget::make(2 * items.size() * sizeof(Value));
  Value result;
  result.storage =
      shared<std::vector<std::pair<Value, Value>>>(std::move(items));
  return result;
}

Value Value::ints(llvm::ArrayRef<int64_t> values) {
  return tuple(std::vector<Value>(values.begin(), values.end()));
}

Value Value::fromStatic(const StaticValue &value) {
  return std::visit(
      [](const auto &v) -> Value {
        using T = std::decay_t<decltype(v)>;
        if constexpr (std::is_same_v<T, StaticValue::None>) {
          return Value();
        } else if constexpr (std::is_same_v<T, StaticValue::Tuple>) {
          std::vector<Value> items;
          for (const StaticValue &item : v) {
            items.push_back(fromStatic(item));
          }
          return tuple(std::move(items));
        } else if constexpr (std::is_same_v<T, StaticValue::Dict>) {
          std::vector<std::pair<Value, Value>> items;
          for (const auto &[key, item] : v) {
            items.emplace_back(Value(key), fromStatic(item));
          }
          return dict(std::move(items));
        } else if constexpr (std::is_same_v<T, uint64_t>) {
          return Value(Int{v});
        } else if constexpr (std::is_same_v<T, StaticValue::Function>) {
          return Value(Opaque{v.name}); // generate() finds the function
        } else {
          return Value(v);
        }
      },
      value.value);
}

bool Value::isSequence() const {
  return isTuple() || isList() || (isAggregate() && aggregate().type->isTuple);
}

bool Value::isStatic() const {
  if (isTensor()) {
    return false;
  }
  if (!isTuple() && !isList() && !isAggregate()) {
    return true;
  }
  Look look;
  return !look ||
         llvm::all_of(isAggregate() ? llvm::ArrayRef<Value>(aggregate().fields)
                                    : items(),
                      [](const Value &v) { return v.isStatic(); });
}

llvm::ArrayRef<Value> Value::items() const {
  if (isTuple()) {
    return *std::get<Tuple>(storage);
  }
  return isList() ? llvm::ArrayRef<Value>(list())
                  : llvm::ArrayRef<Value>(aggregate().fields);
}

std::string Value::describe() const {
  if (isNone()) {
    return "None";
  }
  if (isTensor()) {
    return tensor().isBlock() ? "a block " + tensor().typeStr()
                              : "a run-time " + tensor().typeStr();
  }
  if (isBool() || isInt() || isFloat() || isString()) {
    const char *name = isBool()    ? "bool "
                       : isInt()   ? "int "
                       : isFloat() ? "float "
                                   : "str ";
    std::string text = repr();
    return name + (text.size() > 60 ? text.substr(0, 57) + "..." : text);
  }
  if (isTuple()) {
    return "a tuple of " + std::to_string(items().size());
  }
  if (isList()) {
    return "a list of " + std::to_string(items().size());
  }
  if (isDict()) {
    return "a dict";
  }
  if (isType()) {
    return "the type " + repr();
  }
  if (isFunction()) {
    return "function '" + function().name + "'";
  }
  if (isBuiltin()) {
    return "built-in '" + displayName(builtin()) + "'";
  }
  if (isModule()) {
    return "module '" + module().path + "'";
  }
  if (isClass()) {
    return "class '" + pythonClass().name + "'";
  }
  if (isMethod()) {
    return method().builtin && (method().builtin->flags & Internal)
               ? "the decorator '" + displayName(*method().builtin) + "'"
               : "method '" + method().name + "'";
  }
  if (isRange()) {
    return "a range";
  }
  if (isAggregate()) {
    return "a " + aggregate().type->name;
  }
  if (isObject()) {
    const PythonClass *cls = object().cls.get();
    return cls && cls->isEnum ? repr()
                              : "an instance of class '" +
                                    (cls ? cls->name : std::string("?")) + "'";
  }
  if (!isOpaque()) {
    return repr();
  }
  return "the host value '" + opaque().name + "'" +
         (opaque().why.empty() ? "" : ", which is not known: " + opaque().why);
}

/// Python's repr: the shortest digits that read back, with an exponent below
/// 1e-4 and from 1e16 on.
static std::string reprOfFloat(double value) {
  if (std::isnan(value)) {
    return "nan";
  }
  if (std::isinf(value)) {
    return value < 0 ? "-inf" : "inf";
  }
  char buffer[40];
  auto end = std::to_chars(buffer, buffer + sizeof buffer, value,
                           std::chars_format::scientific)
                 .ptr;
  llvm::StringRef text(buffer, end - buffer);
  auto [mantissa, power] = text.split('e');
  int exponent = 0;
  power.consume_front("+");
  power.getAsInteger(10, exponent);
  if (exponent < -4 || exponent >= 16) {
    return text.str();
  }
  std::string sign = mantissa.consume_front("-") ? "-" : "";
  std::string digits =
      mantissa.take_front(1).str() + mantissa.drop_front(1).ltrim('.').str();
  if (exponent < 0) {
    return sign + "0." + std::string(-exponent - 1, '0') + digits;
  }
  size_t whole = static_cast<size_t>(exponent) + 1;
  if (digits.size() <= whole) {
    return sign + digits + std::string(whole - digits.size(), '0') + ".0";
  }
  return sign + digits.substr(0, whole) + "." + digits.substr(whole);
}

static std::string joined(llvm::ArrayRef<Value> items) {
  std::string text;
  for (const Value &item : items) {
    std::string part = item.repr();
    if (!Budget::make(part.size())) {
      break;
    }
    text += (text.empty() ? "" : ", ") + part;
  }
  return text;
}

static std::string reprOfString(const std::string &text) {
  bool doubleQuotes = text.find('\'') != std::string::npos &&
                      text.find('"') == std::string::npos;
  char quote = doubleQuotes ? '"' : '\'';
  std::string out(1, quote);
  for (char c : text) {
    switch (c) {
    case '\n':
      out += "\\n";
      break;
    case '\t':
      out += "\\t";
      break;
    case '\r':
      out += "\\r";
      break;
    default:
      if (c == quote || c == '\\') {
        out += '\\';
      }
      out += c;
    }
  }
  return out + quote;
}

std::string Value::repr() const {
  Look look;
  if (!look) {
    return "...";
  }
  if (isNone()) {
    return "None";
  }
  if (isBool()) {
    return boolean() ? "True" : "False";
  }
  if (isInt()) {
    return toString(integer());
  }
  if (isFloat()) {
    return reprOfFloat(number());
  }
  if (isString()) {
    return reprOfString(string());
  }
  if (isTuple()) {
    return "(" + joined(items()) + (items().size() == 1 ? ",)" : ")");
  }
  if (isList()) {
    return "[" + joined(items()) + "]";
  }
  if (isDict()) {
    std::string text;
    for (const auto &[key, value] : dict()) {
      text += (text.empty() ? "" : ", ") + key.repr() + ": " + value.repr();
    }
    return "{" + text + "}";
  }
  if (isType()) {
    return irgen::str(type().scalar, type().shape);
  }
  if (isAggregate()) {
    const Aggregate &r = aggregate();
    std::string text;
    for (size_t i = 0; i < r.fields.size(); ++i) {
      text += (i ? ", " : "") + r.type->fields[i] + "=" + r.fields[i].repr();
    }
    return r.type->name + "(" + text + ")";
  }
  if (isTensor()) {
    return "<tensor " + tensor().typeStr() + ">";
  }
  if (isEllipsis()) {
    return "Ellipsis";
  }
  if (isSlice()) {
    return "<slice>";
  }
  if (isObject() && object().cls && object().cls->isEnum) {
    const Value *name = object().find("name"), *value = object().find("value");
    return "<" + object().cls->name + "." + (name ? name->str() : "?") + ": " +
           (value ? value->repr() : "?") + ">";
  }
  return "<" + describe() + ">";
}

/// As the language's own library writes a type: fp32 and int32, pointer<fp16>,
/// <[64], fp32>.
static std::string nameOf(const TypeValue &type) {
  DType dtype = type.scalar.dtype;
  std::string name(isFloat(dtype) ? shortName(dtype) : languageName(dtype));
  if (type.scalar.isPointer) {
    name = (type.scalar.isConst ? "const_pointer<" : "pointer<") + name + ">";
  }
  return type.isBlock ? "<" + shapeStr(type.shape) + ", " + name + ">" : name;
}

std::string Value::str() const {
  if (isObject() && object().cls && object().cls->isEnum) {
    const Value *name = object().find("name");
    return object().cls->name + "." + (name ? name->str() : "?");
  }
  return isString() ? string() : isType() ? nameOf(type()) : repr();
}

//===----------------------------------------------------------------------===//
// Equality and truth
//===----------------------------------------------------------------------===//

static bool equalItems(llvm::ArrayRef<Value> a, llvm::ArrayRef<Value> b) {
  Look look;
  return look && a.size() == b.size() &&
         llvm::equal(a, b, [](const Value &x, const Value &y) {
           return Budget::look() && equal(x, y);
         });
}

bool equal(const Value &a, const Value &b) {
  if (a.isNumber() && b.isNumber()) {
    if (a.isIntegral() && b.isIntegral()) {
      return a.integer() == b.integer();
    }
    return a.number() == b.number();
  }
  if (a.isAggregate() && b.isAggregate() &&
      a.aggregate().type == b.aggregate().type) {
    return equalItems(a.aggregate().fields, b.aggregate().fields);
  }
  if (a.isSequence() && b.isSequence() && a.isList() == b.isList()) {
    return equalItems(a.items(), b.items());
  }
  if (a.storage.index() != b.storage.index()) {
    return false;
  }
  if (a.isString()) {
    return a.string() == b.string();
  }
  if (a.isType()) {
    return a.type() == b.type();
  }
  if (a.isTensor()) {
    return a.tensor().value == b.tensor().value &&
           a.tensor().type == b.tensor().type;
  }
  if (a.isDict()) {
    Look look;
    return look && a.dict().size() == b.dict().size() &&
           llvm::all_of(a.dict(), [&](const auto &entry) {
             return llvm::any_of(b.dict(), [&](const auto &other) {
               return Budget::look() && equal(entry.first, other.first) &&
                      equal(entry.second, other.second);
             });
           });
  }
  if (a.isMethod()) {
    return a.method().name == b.method().name &&
           equal(a.method().self, b.method().self);
  }
  if (a.isModule()) {
    return a.module().path == b.module().path;
  }
  if (a.isFunction()) {
    return a.functionPtr() == b.functionPtr() ||
           (a.function().def && a.function().def == b.function().def &&
            !a.function().closure);
  }
  if (a.isClass()) {
    return a.pythonClass().name == b.pythonClass().name &&
           a.pythonClass().def == b.pythonClass().def;
  }
  if (a.isBuiltin()) {
    return &a.builtin() == &b.builtin();
  }
  if (a.isOpaque()) {
    return a.opaque().name == b.opaque().name;
  }
  if (a.isObject()) {
    return &a.object() == &b.object();
  }
  return a.isNone() || a.isEllipsis();
}

void removeEquals(std::vector<Value> &values) {
  std::vector<Value> kept;
  for (Value &value : values) {
    if (llvm::none_of(kept, [&](const Value &other) {
          return !Budget::look() || equal(other, value);
        })) {
      kept.push_back(std::move(value));
    }
  }
  values = std::move(kept);
}

bool truth(const Value &value) {
  if (value.isNone()) {
    return false;
  }
  if (value.isNumber()) {
    return value.isFloat() ? value.number() != 0 : value.integer() != 0;
  }
  if (value.isString()) {
    return !value.string().empty();
  }
  if (value.isDict()) {
    return !value.dict().empty();
  }
  return !value.isSequence() || !value.items().empty();
}

//===----------------------------------------------------------------------===//
// Dynamic parts
//===----------------------------------------------------------------------===//

static bool hasParts(const Value &value) {
  return value.isTuple() || value.isList() || value.isAggregate();
}

static llvm::ArrayRef<Value> partsOf(const Value &value) {
  return value.isAggregate() ? llvm::ArrayRef<Value>(value.aggregate().fields)
                             : value.items();
}

void flatten(const Value &value, llvm::SmallVectorImpl<Tensor> &parts) {
  if (value.isTensor()) {
    parts.push_back(value.tensor());
    return;
  }
  Look look;
  if (look && hasParts(value)) {
    for (const Value &item : partsOf(value)) {
      flatten(item, parts);
    }
  }
}

Value unflatten(const Value &like, llvm::ArrayRef<mlir::Value> &parts) {
  if (like.isTensor()) {
    Tensor result{parts.front(), like.tensor().type};
    parts = parts.drop_front();
    return result;
  }
  Look look;
  if (!look || !hasParts(like)) {
    return like;
  }
  std::vector<Value> items;
  for (const Value &item : partsOf(like)) {
    items.push_back(unflatten(item, parts));
  }
  if (like.isAggregate()) {
    return Aggregate{like.aggregate().type, std::move(items)};
  }
  return like.isTuple() ? Value::tuple(std::move(items))
                        : Value::list(std::move(items));
}

bool sameType(const Value &a, const Value &b, std::string &why) {
  if (a.isTensor() && b.isTensor()) {
    if (a.tensor().type == b.tensor().type &&
        a.tensor().value.getType() == b.tensor().value.getType()) {
      return true;
    }
    why = a.tensor().typeStr() + " and " + b.tensor().typeStr();
    return false;
  }
  bool sameKind =
      a.storage.index() == b.storage.index() &&
      (!a.isAggregate() || a.aggregate().type == b.aggregate().type);
  Look look;
  if (!look) {
    return true;
  }
  if (sameKind && hasParts(a)) {
    llvm::ArrayRef<Value> x = partsOf(a), y = partsOf(b);
    if (x.size() != y.size()) {
      why = "tuples of " + std::to_string(x.size()) + " and " +
            std::to_string(y.size());
      return false;
    }
    for (size_t i = 0; i < x.size(); ++i) {
      if (!sameType(x[i], y[i], why)) {
        return false;
      }
    }
    return true;
  }
  if (sameKind && equal(a, b)) {
    return true;
  }
  why = a.describe() + " and " + b.describe();
  return false;
}

std::optional<StaticValue> toStaticValue(const Value &given) {
  const Value value = plainValue(given);
  Look look;
  if (!look || !Budget::make(sizeof(StaticValue))) {
    return std::nullopt;
  }
  if (value.isNone()) {
    return StaticValue();
  }
  if (value.isBool()) {
    return StaticValue(value.boolean());
  }
  if (value.isInt()) {
    if (value.integer() < INT64_MIN || value.integer() > UINT64_MAX) {
      return std::nullopt;
    }
    if (value.integer() > INT64_MAX) {
      return StaticValue(static_cast<uint64_t>(value.integer()));
    }
    return StaticValue(static_cast<int64_t>(value.integer()));
  }
  if (value.isFloat()) {
    return StaticValue(value.number());
  }
  if (value.isString()) {
    return StaticValue(value.string());
  }
  if (value.isType() && !value.type().isBlock &&
      !value.type().scalar.isPointer) {
    return StaticValue(value.type().scalar.dtype);
  }
  if (value.isSequence()) {
    StaticValue::Tuple items;
    for (const Value &item : value.items()) {
      std::optional<StaticValue> plain = toStaticValue(item);
      if (!plain) {
        return std::nullopt;
      }
      items.push_back(std::move(*plain));
    }
    return StaticValue(std::move(items));
  }
  if (value.isDict()) {
    StaticValue::Dict items;
    for (const auto &[key, item] : value.dict()) {
      std::optional<StaticValue> plain = toStaticValue(item);
      if (!plain || !key.isString()) {
        return std::nullopt;
      }
      items.emplace(key.string(), std::move(*plain));
    }
    return StaticValue(std::move(items));
  }
  return std::nullopt;
}

} // namespace nereid::irgen
