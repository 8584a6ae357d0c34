//===- TextInput.h - Texts that prepare reads -------------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A file is mapped into memory; a pipe, and "-" for the standard input, is read
// whole. http:// and https:// are fetched with the program curl into a file
// of the folder that is written, which is removed afterwards.
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_APPS_GPT2_DATA_TEXTINPUT_H
#define NEREID_APPS_GPT2_DATA_TEXTINPUT_H

#include <memory>
#include <string>
#include <string_view>

namespace nereid::gpt2 {

class TextInput {
public:
  /// `folder`: where a fetched file lies meanwhile. Throws NotFound, IoError.
  TextInput(std::string name, const std::string &folder);
  TextInput(TextInput &&) noexcept;
  ~TextInput();

  const std::string &name() const { return name_; }
  std::string_view text() const;
  /// "name:line:column: error: ".
  std::string placeOf(size_t offset) const;

private:
  struct Storage;
  std::string name_;
  std::unique_ptr<Storage> storage;
};

} // namespace nereid::gpt2

#endif // NEREID_APPS_GPT2_DATA_TEXTINPUT_H
