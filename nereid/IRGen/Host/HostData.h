//===- HostData.h - Values of data files ------------------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_IRGEN_HOST_HOSTDATA_H
#define NEREID_IRGEN_HOST_HOSTDATA_H

#include "nereid/IRGen/Eval/Diagnostics.h"
#include "nereid/IRGen/Eval/Value.h"

namespace nereid::irgen {

class Evaluator;

/// Of a text, or of an open file (stdlib/files.py): yaml.safe_load, json.load.
FailureOr<Value> readData(Evaluator &evaluator, const Value &source,
                          bool isYaml);

/// The value of one document. Tags, merge keys, and numbers that YAML 1.1
/// writes to base 60 are refused.
FailureOr<Value> readYaml(Diagnostics &diag, llvm::StringRef text);
FailureOr<Value> readJson(Diagnostics &diag, llvm::StringRef text);

} // namespace nereid::irgen

#endif // NEREID_IRGEN_HOST_HOSTDATA_H
