//===- EditDistance.h - Did you mean ----------------------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_SUPPORT_EDITDISTANCE_H
#define NEREID_SUPPORT_EDITDISTANCE_H

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace nereid {

/// Insertions, deletions, substitutions and swaps of neighbours that turn `a`
/// into `b`, no substring edited twice (optimal string alignment). Characters
/// that differ in case only count as equal. O(|a| * |b|).
size_t editDistance(std::string_view a, std::string_view b);

/// The candidate nearest to `name`, if it is near enough to be a typing error:
/// at most a third of the longer name's characters, and at least one of the
/// name's own characters kept. The first of equals.
std::optional<std::string> closestName(std::string_view name,
                                       std::span<const std::string> candidates);

/// "; did you mean 'x'?" or nothing.
std::string didYouMean(std::string_view name,
                       std::span<const std::string> candidates);

} // namespace nereid

#endif // NEREID_SUPPORT_EDITDISTANCE_H
