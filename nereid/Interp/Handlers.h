//===- Handlers.h - The operations the executor knows, by family --*- C++
//-*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_INTERP_HANDLERS_H
#define NEREID_INTERP_HANDLERS_H

#include "nereid/Interp/Program.h"

#include "llvm/ADT/StringMap.h"

namespace nereid::interp {

using HandlerTable = llvm::StringMap<Handler>;

void addArithHandlers(HandlerTable &table);
void addConversionHandlers(HandlerTable &table);
void addMathHandlers(HandlerTable &table);
void addControlHandlers(HandlerTable &table);
void addShapeHandlers(HandlerTable &table);
void addMemoryHandlers(HandlerTable &table);
void addAtomicHandlers(HandlerTable &table);
void addReduceHandlers(HandlerTable &table);
void addDotHandlers(HandlerTable &table);
void addDebugHandlers(HandlerTable &table);

/// Of an access that only reads, or only writes, whatever its operation; null
/// for others.
const Handler *accessHandler(mlir::Operation &op);

/// Null for operations that the executor does not know.
const Handler *handlerOf(mlir::Operation &op);

} // namespace nereid::interp

#endif // NEREID_INTERP_HANDLERS_H
