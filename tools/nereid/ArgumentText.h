//===- ArgumentText.h - Kernel arguments, as typed --------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//   NAME=VALUE      where VALUE is
//
//   @file.npy  @file.npy:bf16           a tensor from a file; the suffix names
//                                       bits that NumPy cannot
//   randn:f32[4096,4096]                a tensor from a generator: rand, randn,
//   full:2.5:f16[8]  randint:0:9:i32[]  arange, zeros, empty, full, randint
//   12  -1  0x10  1e-5  inf             a number
//   true  false  none                   also True, False, None
//   "text"  'text'                      a string
//   tl.float32  fp16                    a dtype
//   (1, 2)                              a tuple
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_TOOLS_NEREID_ARGUMENTTEXT_H
#define NEREID_TOOLS_NEREID_ARGUMENTTEXT_H

#include "nereid/nereid.h"

#include <variant>

namespace nereid {

struct NamedText {
  std::string name, value;
};

/// Splits at the first '='. Throws when there is no name.
NamedText splitArgument(const std::string &text);

/// A tensor or a plain value. `seed` is the generator's.
using ParsedArgument = std::variant<Tensor, StaticValue>;
ParsedArgument parseArgument(const NamedText &text, Device device,
                             uint64_t seed);

/// A value that is no tensor; nothing when the text is no value.
std::optional<StaticValue> parseValue(std::string_view text);

/// Splits at commas outside of brackets and quotes, and trims.
std::vector<std::string> splitList(std::string_view text);

/// Source::bindings of --bind NAME=VALUE.
std::map<std::string, StaticValue>
parseBindings(const std::vector<std::string> &texts);

/// Python text over named values: a grid, a tuple. Messages place errors in
/// `place`, an option or an argument.
StaticValue evaluateText(const std::string &expression,
                         const std::map<std::string, StaticValue> &values,
                         const std::string &place);

} // namespace nereid

#endif // NEREID_TOOLS_NEREID_ARGUMENTTEXT_H
