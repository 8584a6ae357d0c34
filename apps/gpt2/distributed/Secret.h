//===- Secret.h - The proof of belonging to a run ---------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// HMAC-SHA-256 of libsodium: one who knows the secret can make a tag and check
// one; one who sees a tag learns neither the secret nor another tag.
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_APPS_GPT2_DISTRIBUTED_SECRET_H
#define NEREID_APPS_GPT2_DISTRIBUTED_SECRET_H

#include <initializer_list>
#include <string>
#include <string_view>

namespace nereid::gpt2 {

/// As many random bytes as a tag has, from the kernel's generator.
std::string randomBytes();
/// Random, as 64 hexadecimal digits.
std::string makeSecret();

constexpr size_t tagBytes = 32;

/// The tag of the parts and of where each ends.
std::string tagOf(std::string_view secret,
                  std::initializer_list<std::string_view> parts);
/// Takes as long for every wrong one.
bool isSame(std::string_view tag, std::string_view expected);
bool isTagOf(std::string_view tag, std::string_view secret,
             std::initializer_list<std::string_view> parts);

} // namespace nereid::gpt2

#endif // NEREID_APPS_GPT2_DISTRIBUTED_SECRET_H
