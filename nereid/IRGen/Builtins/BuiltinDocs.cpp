//===- BuiltinDocs.cpp - docs/BUILTINS.md ----------------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/IRGen/Builtins/BuiltinEmitter.h"

#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/StringSwitch.h"

namespace nereid::irgen {

namespace {

llvm::StringRef heading(llvm::StringRef module) {
  return llvm::StringSwitch<llvm::StringRef>(module)
      .Case("tl", "triton.language")
      .Case("tl.math", "triton.language.math")
      .Case("libdevice", "triton.language.extra.libdevice")
      .Case("tl.extra.cuda", "triton.language.extra.cuda")
      .Case("tl.extra.hip", "triton.language.extra.hip")
      .Case("tl.target_info", "triton.language.target_info")
      .Case("tensor_descriptor", "Methods of tensor descriptors")
      .Case("block_ptr", "Methods of block pointers")
      .Case("python", "Python's own")
      .Default(module);
}

std::string cell(llvm::StringRef text) {
  std::string result;
  for (char c : text) {
    result += c == '|'    ? std::string("\\|")
              : c == '\n' ? "\\n"
                          : std::string(1, c);
  }
  return result;
}

struct Section {
  std::vector<const Builtin *> supported, refused;
};

void appendRow(std::string &out, const Builtin &row) {
  bool isMember = row.flags & (Member | MemberOnly);
  llvm::StringRef where = row.flags & MemberOnly ? "method only"
                          : isMember             ? "also a method"
                                                 : "";
  out += "| `" + cell(row.signature) + "` | " + cell(row.summary) + " | " +
         where.str() + " |\n";
}

} // namespace

std::string builtinsMarkdown() {
  llvm::MapVector<llvm::StringRef, Section> sections;
  for (const auto &row : BuiltinTable::get().rows()) {
    if (row->flags & Internal) {
      continue;
    }
    Section &section = sections[llvm::StringRef(row->module).split(' ').first];
    (row->emit == emitUnsupported ? section.refused : section.supported)
        .push_back(row.get());
  }
  std::string out =
      "# Built-ins\n\n"
      "Made from the built-ins table by `nereid builtins --markdown`; a test "
      "keeps it current.\n"
      "Annotations: `tensor` a run-time value (numbers are converted), `int` "
      "`bool` `str`\n"
      "`ints` `dtype` `static` known at compile time, `function` a function "
      "of the language,\n"
      "none: anything.\n";
  for (const auto &[module, section] : sections) {
    out += "\n## " + heading(module).str() + "\n\n";
    if (!section.supported.empty()) {
      out += "| signature | meaning | |\n|---|---|---|\n";
      for (const Builtin *row : section.supported) {
        appendRow(out, *row);
      }
    }
    if (!section.refused.empty()) {
      out += "\nRefused with a message:";
      llvm::StringRef separator = " ";
      for (const Builtin *row : section.refused) {
        out += (separator + "`" + row->name + "`").str();
        separator = ", ";
      }
      out += ".\n";
    }
  }
  return out;
}

} // namespace nereid::irgen
