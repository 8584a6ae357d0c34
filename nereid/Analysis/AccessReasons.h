//===- AccessReasons.h - Why an access is as wide as it is ------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// In words, for who wrote the kernel. What is found out here is only what the
// text needs; how wide an access is AxisInfoAnalysis decides.
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_ANALYSIS_ACCESSREASONS_H
#define NEREID_ANALYSIS_ACCESSREASONS_H

#include "nereid/Analysis/AxisInfo.h"
#include "nereid/Dialect/Tile/IR/Decisions.h"

namespace nereid {

/// An access as it comes out.
struct AccessForm {
  AccessWidth width;
  mlir::Value pointers, mask;
  unsigned mostBytes = 16; ///< of one access
  int64_t threads = 1;     ///< of the program
};

/// "load: 4 bytes an access (2 x fp16), in runs of 4 KiB; not 16 bytes: ...".
Decision decisionOf(llvm::StringRef subject, const AccessForm &access,
                    const AxisInfoAnalysis &axes);

/// Why neighbouring elements of a tile of pointers do not lie side by side, and
/// what to write instead.
std::pair<std::string, std::string> whyNoRuns(mlir::Value pointers);

/// "fp16", "int32": as the language names the type of an element.
std::string elementName(mlir::Type element);

} // namespace nereid

#endif // NEREID_ANALYSIS_ACCESSREASONS_H
