//===- Argument.h - What a kernel is called with ---------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Everything between the parentheses of kernel[grid](...): an Argument by
// position, or "name"_a = argument. Both are views of the caller's values and
// live no longer than the call; building them allocates nothing.
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_RUNTIME_ARGUMENT_H
#define NEREID_RUNTIME_ARGUMENT_H

#include "nereid/ABI/KernelCompiler.h"
#include "nereid/Runtime/Pointer.h"
#include "nereid/Runtime/Tensor.h"
#include "nereid/Runtime/TensorDescriptor.h"

#include <concepts>
#include <optional>
#include <string_view>

namespace nereid {

class Tuple;

/// A jit function of the kernel's file, as a tl.constexpr argument.
struct FunctionName {
  Text name;
};

class Argument {
public:
  enum class Kind : uint8_t {
    None,
    Bool,
    Int,  ///< fits int64
    UInt, ///< above int64's maximum
    Float,
    Tensor,
    Pointer, ///< an address of the launch's device
    DType,
    String,
    Static, ///< a tuple or dict
    Function,
    Descriptor,
    Tuple, ///< of any arguments
  };

  Argument(std::nullptr_t) {}
  Argument(std::nullopt_t) {}
  Argument(StaticValue::None) {}
  template <std::same_as<bool> T>
  Argument(T v) : kind(Kind::Bool), integer(v) {}
  template <std::integral T>
    requires(!std::same_as<T, bool>)
  Argument(T v)
      : kind(std::is_unsigned_v<T> && static_cast<int64_t>(v) < 0 &&
                     sizeof(T) == 8
                 ? Kind::UInt
                 : Kind::Int),
        integer(static_cast<int64_t>(v)) {}
  template <std::floating_point T>
  Argument(T v) : kind(Kind::Float), real(static_cast<double>(v)) {}
  Argument(const nereid::Tensor &v) : kind(Kind::Tensor), tensor(&v) {}
  Argument(nereid::Pointer v)
      : kind(Kind::Pointer), pointee(v.dtype), address(v.address) {}
  Argument(nereid::DType v) : kind(Kind::DType), dtype(v) {}
  /// Throws InvalidArgument for a null pointer; None is nereid::none.
  Argument(const char *v) : kind(Kind::String), characters(v) {
    if (!v) [[unlikely]] {
      raiseNullString();
    }
    length = std::string_view(v).size();
  }
  Argument(std::string_view v)
      : kind(Kind::String), characters(v.data()), length(v.size()) {}
  Argument(const std::string &v) : Argument(std::string_view(v)) {}
  Argument(FunctionName v)
      : kind(Kind::Function), characters(v.name.view().data()),
        length(v.name.view().size()) {}
  Argument(const TensorDescriptor &v)
      : kind(Kind::Descriptor), descriptor(&v) {}
  Argument(const nereid::Tuple &v) : kind(Kind::Tuple), tuple(&v) {}
  Argument(const StaticValue &v);

  /// The characters of a string, or a function's name.
  std::string_view string() const { return {characters, length}; }
  /// A copy in plain form. A tensor becomes a dict of its shape, stride and
  /// dtype, which is what heuristics may ask of it.
  StaticValue toStatic() const;
  /// "an int", "a fp32 tensor", ...: for messages.
  std::string describe() const;

  [[noreturn, gnu::cold]] static void raiseNullString();

  Kind kind = Kind::None;
  nereid::DType pointee = nereid::DType::Int1; ///< of a pointer
  /// Of an item of a Tuple: the number is compiled in, as that of a
  /// tl.constexpr parameter.
  bool isConstexpr = false;
  union {
    int64_t integer = 0; ///< Bool, Int, UInt (its bits)
    double real;
    const nereid::Tensor *tensor;
    const void *address;
    nereid::DType dtype;
    const char *characters;
    const StaticValue *value;
    const TensorDescriptor *descriptor;
    const nereid::Tuple *tuple;
  };
  size_t length = 0; ///< of a string
};

/// A tuple of arguments, or one with names (Python's namedtuple):
///
///   kernel[grid](Tuple{x, y, 3}, Tuple::named("Pair", {"a", "b"}, {x, y}));
///
/// A view of the caller's values, as an Argument is. Items are specialized one
/// by one. A kernel takes fields of named tuples by name; where its file has a
/// class of the type's name, that is their class.
class Tuple {
public:
  Tuple(std::initializer_list<Argument> items) : items(items) {}
  explicit Tuple(std::vector<Argument> items) : items(std::move(items)) {}
  /// Throws InvalidArgument unless there is one name an item.
  static Tuple named(Text type, std::vector<std::string> names,
                     std::vector<Argument> items);

  std::vector<Argument> items;
  std::vector<std::string> names;
  std::string type;
};

/// One argument of a call; `name` is empty for a positional one.
struct LaunchArgument {
  std::string_view name;
  Argument value;

  template <typename T>
    requires std::convertible_to<const T &, Argument>
  LaunchArgument(const T &value) : value(value) {}
  LaunchArgument(Text name, const Argument &value) : name(name), value(value) {}
};

/// The left side of "BLOCK"_a = 1024.
struct ArgumentName {
  std::string_view name;

  template <typename T>
    requires std::convertible_to<const T &, Argument>
  LaunchArgument operator=(const T &value) const {
    return LaunchArgument(name, Argument(value));
  }
};

namespace literals {
constexpr ArgumentName operator""_a(const char *name, size_t length) {
  return {std::string_view(name, length)};
}
} // namespace literals

/// A missing pointer, or Python's None.
inline constexpr StaticValue::None none;

} // namespace nereid

#endif // NEREID_RUNTIME_ARGUMENT_H
