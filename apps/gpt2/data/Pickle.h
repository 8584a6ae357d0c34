//===- Pickle.h - Python's pickles, read as data ----------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A pickle is a program for a machine with a stack, which may name any function
// of Python and call it. Here nothing is called. A name must be one of a list
// that the caller gives, a call of it becomes a value that says so, and every
// other name is refused. What is left are numbers, texts, lists, tuples and
// dictionaries.
//
// The text of a pickle bounds the memory that it takes; a value that holds
// itself, one that is nested deeper than 64, and one that would have more than
// 2^24 parts if shared ones were written out are refused.
//
// Source: pickletools.py of Python describes the instructions, protocols 2 to
// 5.
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_APPS_GPT2_DATA_PICKLE_H
#define NEREID_APPS_GPT2_DATA_PICKLE_H

#include <cstdint>
#include <deque>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace nereid::gpt2 {

struct PickleValue {
  enum class Kind : uint8_t {
    None,
    Bool,
    Integer,
    Float,
    Text,
    Bytes,
    List,
    Tuple,
    Set,
    Dict,      ///< keys and values by turns; a later one of equal keys counts
    Global,    ///< `text`: "module.name"
    Call,      ///< `text`: what would be called; `items`: the tuple of its
               ///< arguments
    Persistent ///< `items`: what names a thing outside of the pickle
  };

  Kind kind = Kind::None;
  uint32_t index = 0;  ///< values of one pickle are numbered
  int64_t integer = 0; ///< of Bool, too
  double number = 0;
  std::string text; ///< of Text well-formed UTF-8
  std::vector<const PickleValue *> items;

  bool is(Kind one) const { return kind == one; }
  /// The arguments of a call of `name`; null for any other value.
  const PickleValue *argumentsOf(std::string_view name) const {
    return kind == Kind::Call && text == name ? items[0] : nullptr;
  }
  /// The value of a dictionary's key; null where there is none, and for any
  /// other value.
  const PickleValue *find(std::string_view key) const;
  /// A number, of either kind.
  std::optional<double> asNumber() const;
};

/// "a list", "the integer 3": for messages.
std::string describe(const PickleValue &value);

class Pickle {
public:
  /// `globals`: the names that may stand in it ("collections.OrderedDict",
  /// which makes a dictionary). `name`: of the file, for messages. Throws
  /// IoError for a pickle that is damaged or has something else,
  /// Unsupported for names that are not in the list.
  Pickle(std::string_view bytes, const std::string &name,
         std::span<const std::string_view> globals = {});
  Pickle(const Pickle &) = delete;
  Pickle(Pickle &&) = default;

  /// Lives as long as the pickle.
  const PickleValue &value() const { return *root; }

private:
  std::deque<PickleValue> values; ///< those that others refer to stay in place
  const PickleValue *root = nullptr;
};

} // namespace nereid::gpt2

#endif // NEREID_APPS_GPT2_DATA_PICKLE_H
