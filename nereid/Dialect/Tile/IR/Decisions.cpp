//===- Decisions.cpp - What a compilation chose, and why ------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/Dialect/Tile/IR/Decisions.h"

#include "mlir/IR/Remarks.h"

using namespace mlir;

namespace nereid {

void recordDecision(Location location, const Decision &decision) {
  using Arg = remark::detail::Remark::Arg;
  auto options =
      remark::RemarkOpts::name(decision.subject).category(decision.subject);
  auto said = decision.rejected.empty() ? remark::passed(location, options)
                                        : remark::missed(location, options);
  for (auto [key, text] : {std::pair(decision::chosen, &decision.chosen),
                           std::pair(decision::rejected, &decision.rejected),
                           std::pair(decision::reason, &decision.reason),
                           std::pair(decision::hint, &decision.hint)}) {
    if (!text->empty()) {
      said << Arg(key, *text);
    }
  }
}

std::string sentenceOf(const Decision &decision) {
  std::string text = decision.subject + ": " + decision.chosen;
  if (!decision.rejected.empty()) {
    text += "; not " + decision.rejected;
  }
  if (!decision.reason.empty()) {
    text += ": " + decision.reason;
  }
  if (!decision.hint.empty()) {
    text += "; hint: " + decision.hint;
  }
  return text;
}

std::string counted(uint64_t count, StringRef noun) {
  return std::to_string(count) + " " + noun.str() + (count == 1 ? "" : "s");
}

std::string byteCount(uint64_t bytes) {
  return bytes >= 1024 && bytes % 1024 == 0
             ? std::to_string(bytes / 1024) + " KiB"
             : counted(bytes, "byte");
}

std::string inLine(Operation *op) {
  auto at = op->getLoc()->findInstanceOf<FileLineColRange>();
  return at ? " in line " + std::to_string(at.getStartLine()) : "";
}

} // namespace nereid
