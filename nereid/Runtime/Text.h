//===- Text.h - A text that a caller gives ---------------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_RUNTIME_TEXT_H
#define NEREID_RUNTIME_TEXT_H

#include <concepts>
#include <string>
#include <string_view>

namespace nereid {

/// A parameter that takes a literal, a string, a view or a
/// std::filesystem::path. Like std::string_view it is a view, but a null
/// pointer throws InvalidArgument; std::string would throw an exception of the
/// library, and std::string_view would read address 0.
class Text {
public:
  constexpr Text() = default;
  constexpr Text(const char *text)
      : view_(text ? std::string_view(text) : raiseNull()) {}
  constexpr Text(std::string_view text) : view_(text) {}
  constexpr Text(const std::string &text) : view_(text) {}
  template <typename Path>
    requires requires(const Path &path) {
      { path.native() } -> std::same_as<const std::string &>;
    }
  Text(const Path &path) : view_(path.native()) {}

  constexpr std::string_view view() const { return view_; }
  constexpr operator std::string_view() const { return view_; }
  std::string str() const { return std::string(view_); }

private:
  [[noreturn, gnu::cold]] static std::string_view raiseNull();

  std::string_view view_;
};

} // namespace nereid

#endif // NEREID_RUNTIME_TEXT_H
