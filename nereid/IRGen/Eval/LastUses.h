//===- LastUses.h - Which variables still matter ----------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_IRGEN_EVAL_LASTUSES_H
#define NEREID_IRGEN_EVAL_LASTUSES_H

#include "nereid/IRGen/Eval/Function.h"

#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"

#include <map>

namespace nereid::irgen {

class LastUses {
public:
  /// Whether the function names the variable at this place or after it, or in
  /// a loop that ends after it; by its text.
  bool isNamedFrom(const Function &function, llvm::StringRef name,
                   const ast::Span &span);

  /// Whether the function names a loop's variable outside of the loops over it,
  /// by its text: where it does not, nothing is emitted for it.
  bool isNamedOutsideLoops(const Function &function, llvm::StringRef name);

private:
  /// By function: each word of its text, with the last line that needs it.
  std::map<const ast::FunctionLike *, llvm::StringMap<uint32_t>> known;
  /// By function: the variables of its loops that are named outside of them.
  std::map<const ast::FunctionLike *, llvm::StringSet<>> outside;
};

} // namespace nereid::irgen

#endif // NEREID_IRGEN_EVAL_LASTUSES_H
