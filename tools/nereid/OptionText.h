//===- OptionText.h - Options, as typed ------------------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// CLI11 converts what it can: "-1" becomes 2^64 - 1, "nan" a number. These
// refuse it, with what was expected and what came. Below them are options that
// several commands have.
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_TOOLS_NEREID_OPTIONTEXT_H
#define NEREID_TOOLS_NEREID_OPTIONTEXT_H

#include <CLI/CLI.hpp>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

namespace nereid {

/// Decimal digits only, from `low` to `high`.
inline CLI::Validator wholeNumber(uint64_t low, uint64_t high) {
  return CLI::Validator(
      [low, high](std::string &text) {
        uint64_t value = 0;
        const char *last = text.data() + text.size();
        auto [end, error] = std::from_chars(text.data(), last, value);
        bool isGood = error == std::errc() && end == last && value >= low &&
                      value <= high;
        return isGood
                   ? std::string()
                   : "expected an integer from " + std::to_string(low) +
                         " to " + std::to_string(high) + ", got '" + text + "'";
      },
      "");
}

inline CLI::Validator finiteFromZero() {
  return CLI::Validator(
      [](std::string &text) {
        double value = 0;
        const char *last = text.data() + text.size();
        auto [end, error] = std::from_chars(text.data(), last, value);
        bool isGood = error == std::errc() && end == last &&
                      std::isfinite(value) && value >= 0;
        return isGood
                   ? std::string()
                   : "expected a finite number from 0 on, got '" + text + "'";
      },
      "");
}

inline CLI::Validator namedFile() {
  return CLI::Validator(
      [](std::string &text) {
        return text.empty() ? std::string("expected FILE or -, got ''")
                            : std::string();
      },
      "");
}

inline void addSeedOption(CLI::App &command, uint64_t &seed) {
  command
      .add_option("--seed", seed,
                  "Of the generators; every array has its own stream")
      ->check(wholeNumber(0, UINT64_MAX))
      ->capture_default_str();
}

inline void addBindOption(CLI::App &command,
                          std::vector<std::string> &bindings) {
  command
      .add_option("--bind", bindings,
                  "NAME=VALUE: a global of the file, as of nereid run")
      ->allow_extra_args(false);
}

} // namespace nereid

#endif // NEREID_TOOLS_NEREID_OPTIONTEXT_H
