//===- Encoding.h - Values and images as bytes ------------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A small binary form for what goes into cache keys and cache files:
// little-endian numbers, length-prefixed strings and lists. Two values have
// equal bytes exactly when they are equal. The reader checks every length
// against what is left, so that any bytes at all may be fed to it.
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_ABI_ENCODING_H
#define NEREID_ABI_ENCODING_H

#include "nereid/ABI/KernelCompiler.h"

#include <cstring>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>

namespace nereid {

class Encoder {
public:
  template <typename T>
    requires(std::is_arithmetic_v<T> || std::is_enum_v<T>)
  Encoder &add(T value) {
    char raw[sizeof(T)];
    std::memcpy(raw, &value, sizeof(T));
    bytes.append(raw, sizeof(T));
    return *this;
  }
  Encoder &add(std::string_view text) {
    add(static_cast<uint64_t>(text.size()));
    bytes.append(text);
    return *this;
  }
  Encoder &add(const std::string &text) { return add(std::string_view(text)); }
  Encoder &add(const StaticValue &value);
  Encoder &add(const SourceLocation &location);
  Encoder &add(const Diagnostic &diagnostic);
  Encoder &add(const ArgumentSpec &spec);
  Encoder &add(const CompositeArgument &composite);
  Encoder &add(const CompileOptions &options);

  std::string bytes;
};

/// Everything a launch needs of an image.
std::string encodeImage(const KernelImage &image);
/// Nothing when the bytes are no image of this version.
std::optional<KernelImage> decodeImage(std::string_view bytes);

} // namespace nereid

#endif // NEREID_ABI_ENCODING_H
