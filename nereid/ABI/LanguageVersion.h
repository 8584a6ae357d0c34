//===- LanguageVersion.h - Versions of upstream's language ------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What every version has is accepted under each of them. Where two give one
// expression another meaning, or another type, a source has the meaning of its
// version (docs/UPSTREAM.md lists these places).
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_ABI_LANGUAGEVERSION_H
#define NEREID_ABI_LANGUAGEVERSION_H

#include <cstdint>

namespace nereid {

/// A later version is greater. The number is the minor one: 3.<number>.
enum class LanguageVersion : uint8_t { V3_6 = 6, V3_7, V3_8, V3_9 };

inline constexpr LanguageVersion newestLanguage = LanguageVersion::V3_9;

} // namespace nereid

#endif // NEREID_ABI_LANGUAGEVERSION_H
