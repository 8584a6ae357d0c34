//===- UnknownTokenizer.cpp - Tokens without their texts ------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "apps/gpt2/data/UnknownTokenizer.h"

#include "nereid/Runtime/Error.h"

namespace nereid::gpt2 {

UnknownTokenizer::UnknownTokenizer(int32_t vocabulary, std::string folder)
    : vocabulary(vocabulary), folder(std::move(folder)) {
  Hasher hasher;
  hasher.field("unknown");
  hasher.field(static_cast<uint64_t>(vocabulary));
  hash_ = hasher.finish();
}

void UnknownTokenizer::encode(std::string_view, std::vector<int32_t> &) const {
  raise({ErrorCode::NotFound,
         folder + ": expected a tokenizer beside its tokens (meta.pkl with "
                  "characters, vocab.json and merges.txt, or tokenizer.json), "
                  "got none",
         {}});
}

} // namespace nereid::gpt2
