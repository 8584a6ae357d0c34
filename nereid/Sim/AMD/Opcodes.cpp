//===- Opcodes.cpp - Which number is which instruction --------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/Sim/AMD/Opcodes.h"

#include "nereid/Sim/AMD/Families.h"

#include <charconv>
#include <unordered_map>

namespace nereid::sim::amd {

template <typename F>
static void forWords(std::string_view text, F f) {
  constexpr std::string_view blanks = " \n";
  for (size_t at = text.find_first_not_of(blanks); at < text.size();
       at = text.find_first_not_of(blanks, at)) {
    size_t end = std::min(text.find_first_of(blanks, at), text.size());
    f(text.substr(at, end - at));
    at = end;
  }
}

const Semantics *findSemantics(std::string_view name) {
  static const auto all = [] {
    std::unordered_map<std::string_view, const Semantics *> map;
    for (auto family :
         {scalarFamily, scalarFloatFamily, controlFamily, scalarMemoryFamily,
          integerFamily, floatFamily, doubleFamily, halfFamily, packedFamily,
          convertFamily, compareFamily, laneFamily, sharedMemoryFamily,
          globalMemoryFamily, bufferFamily, matrixFamily}) {
      for (const Semantics &row : family()) {
        forWords(row.names, [&](std::string_view one) { map[one] = &row; });
      }
    }
    return map;
  }();
  auto found = all.find(name);
  return found == all.end() ? nullptr : found->second;
}

OpcodeTable::OpcodeTable(std::span<const EncodingText> texts,
                         std::string_view suffix) {
  for (const EncodingText &text : texts) {
    auto &of = rows[unsigned(text.encoding)];
    unsigned number = 0;
    forWords(text.text, [&](std::string_view word) {
      if (word[0] >= '0' && word[0] <= '9') {
        std::from_chars(word.data(), word.data() + word.size(), number);
        return;
      }
      if (of.size() <= number) {
        of.resize(number + 1);
      }
      const Semantics *own =
          findSemantics(std::string(word) + "@" + std::string(suffix));
      of[number++] = {word, own ? own : findSemantics(word)};
    });
  }
}

const OpcodeTable &opcodesOf(Generation generation) {
  static const OpcodeTable tables[] = {OpcodeTable(cdnaOpcodes(), "cdna"),
                                       OpcodeTable(rdna3Opcodes(), "rdna3"),
                                       OpcodeTable(rdna4Opcodes(), "rdna4")};
  return tables[unsigned(generation)];
}

} // namespace nereid::sim::amd
