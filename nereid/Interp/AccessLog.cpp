//===- AccessLog.cpp - Who touched which address --------------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/Interp/AccessLog.h"

namespace nereid::interp {

const Array *AccessLog::find(uint64_t address, unsigned bytes) const {
  for (const Array &array : arrays) {
    if (address >= array.begin && address + bytes <= array.end) {
      return &array;
    }
  }
  return nullptr;
}

bool AccessLog::contains(uint64_t address, unsigned bytes) const {
  return arrays.empty() || find(address, bytes);
}

bool AccessLog::access(Kind kind, int64_t program, uint64_t address,
                       unsigned bytes) {
  if (arrays.empty()) {
    return true;
  }
  const Array *array = find(address, bytes);
  if (!array || !array->isWritable) {
    return array && kind == Kind::Read;
  }
  Record &record = records[address];
  bool isWrite = kind != Kind::Read;
  bool isUpdate = kind == Kind::Update || kind == Kind::UpdateRead;

  bool legal = !byOthers(record.writer, program);
  if (isWrite) {
    legal &= !byOthers(record.reader, program);
    // A block that meets itself: harmless only where no order shows.
    if (record.lastWrite == operation) {
      legal &= kind == Kind::Update;
    }
    record.lastWrite = operation;
  }
  if (kind != Kind::Update) {
    legal &= !byOthers(record.updater, program);
  }
  legal &= !byOthers(record.orderedUpdater, program);

  if (!isWrite) {
    join(record.reader, program);
  } else if (!isUpdate) {
    join(record.writer, program);
  } else {
    join(record.updater, program);
    if (kind == Kind::UpdateRead) {
      join(record.orderedUpdater, program);
    }
  }
  return legal;
}

} // namespace nereid::interp
