//===- TileText.h - Tile IR text, written from C++, for tests --*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_CONVERSION_TILETOCPU_TILETEXT_H
#define NEREID_CONVERSION_TILETOCPU_TILETEXT_H

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace nereid {

using Shape = std::vector<int64_t>;

/// A value of the program that is being written. No shape: a scalar.
struct TextValue {
  std::string name, element;
  Shape shape;
  std::string type() const;
};

class TileText {
public:
  TextValue argument(const std::string &element);
  TextValue ptr(const std::string &pointee) {
    return argument("!tile.ptr<" + pointee + ">");
  }
  std::string str() const;

  TextValue programId(int axis);
  TextValue constant(const std::string &element, const std::string &value,
                     const Shape &shape = {});
  TextValue range(int64_t end, int64_t start = 0);
  TextValue splat(const TextValue &x, const Shape &shape);
  /// `x` in `shape`: splat, or sizes of 1 repeated.
  TextValue broadcast(const TextValue &x, const Shape &shape);
  TextValue expand(const TextValue &x, int axis);
  TextValue reshape(const TextValue &x, const Shape &shape);
  TextValue transpose(const TextValue &x, const std::vector<int> &order);
  /// "arith.addf": operands are brought to one shape.
  TextValue op(const std::string &name, TextValue x, TextValue y);
  TextValue unary(const std::string &name, const TextValue &x);
  TextValue convert(const std::string &name, const TextValue &x,
                    const std::string &element);
  TextValue compare(const std::string &predicate, TextValue x, TextValue y);
  TextValue select(const TextValue &c, TextValue x, TextValue y);
  TextValue addptr(TextValue pointer, TextValue offset);
  TextValue load(const TextValue &pointer, const TextValue &mask = {},
                 const TextValue &other = {});
  void store(const TextValue &pointer, TextValue value,
             const TextValue &mask = {});
  /// `combine` names one operation of two scalars.
  TextValue reduce(const TextValue &x, int axis, const std::string &combine);
  TextValue scan(const TextValue &x, int axis, const std::string &combine,
                 bool reverse = false);
  /// (values, indices) of the greatest element, ties to the left.
  std::vector<TextValue> argmax(const TextValue &x, const TextValue &index,
                                int axis);
  TextValue dot(const TextValue &a, const TextValue &b, const TextValue &c);
  /// A loop from 0 to `count` that carries `inits`.
  std::vector<TextValue> loop(const TextValue &count,
                              const std::vector<TextValue> &inits,
                              const std::function<std::vector<TextValue>(
                                  TextValue, std::vector<TextValue>)> &body);
  /// A statement in the text's own words; `%` names are those of values.
  void line(const std::string &text) { body += "  " + text + "\n"; }
  TextValue fresh(const std::string &element, const Shape &shape);

private:
  std::vector<TextValue> arguments;
  std::string body;
  int next = 0;
};

} // namespace nereid

#endif // NEREID_CONVERSION_TILETOCPU_TILETEXT_H
