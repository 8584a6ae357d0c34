//===- Decisions.h - What a compilation chose, and why ----------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Passes tell their choices where they make them:
//
//   reportDecision(load, [&] {
//     return Decision{"load", "4 bytes an access", "16", "its mask ...",
//     "..."};
//   });
//
// Decisions become remarks of the context's remark engine. Where it has none,
// which is the rule, the function is not called. docs/Reasons.md tells more.
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_DIALECT_TILE_IR_DECISIONS_H
#define NEREID_DIALECT_TILE_IR_DECISIONS_H

#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/Operation.h"

#include <string>

namespace nereid {

/// One choice. Texts are for who wrote the kernel; none ends with a full stop.
struct Decision {
  std::string subject;  ///< what it is about: "load", "dot", "loop"
  std::string chosen;   ///< what is done
  std::string rejected; ///< what would be better, and is not done; may be empty
  std::string reason;   ///< may be empty
  std::string hint;     ///< what to write instead; may be empty
};

/// Keys of a remark's arguments, one for each text of a Decision.
namespace decision {
inline constexpr llvm::StringLiteral chosen = "Chosen", rejected = "Rejected",
                                     reason = "Reason", hint = "Hint";
} // namespace decision

/// Does anybody listen? Passes that must look for a reason ask first.
inline bool tellsDecisions(mlir::MLIRContext *context) {
  return context->getRemarkEngine() != nullptr;
}

/// Passed where nothing better was rejected, else missed.
void recordDecision(mlir::Location location, const Decision &decision);

template <typename Make>
void reportDecision(mlir::Location location, Make &&make) {
  if (LLVM_UNLIKELY(tellsDecisions(location.getContext()))) {
    recordDecision(location, make());
  }
}
template <typename Make>
void reportDecision(mlir::Operation *op, Make &&make) {
  reportDecision(op->getLoc(), std::forward<Make>(make));
}

/// "load: 4 bytes an access; not 16: its mask ...; hint: ...".
std::string sentenceOf(const Decision &decision);

/// "1 warp", "4 warps".
std::string counted(uint64_t count, llvm::StringRef noun);
/// "512 bytes", "48 KiB".
std::string byteCount(uint64_t bytes);
/// " in line 12"; empty where the operation has no place in a source.
std::string inLine(mlir::Operation *op);

} // namespace nereid

#endif // NEREID_DIALECT_TILE_IR_DECISIONS_H
