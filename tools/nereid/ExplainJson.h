//===- ExplainJson.h - What nereid explain says, for machines -*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_TOOLS_NEREID_EXPLAINJSON_H
#define NEREID_TOOLS_NEREID_EXPLAINJSON_H

#include "nereid/Explain/Report.h"

#include <nlohmann/json.hpp>

namespace nereid {

nlohmann::ordered_json jsonOf(const explain::Report &report);

} // namespace nereid

#endif // NEREID_TOOLS_NEREID_EXPLAINJSON_H
