//===- AccessLog.cpp - Which program touched which address ----------------===//
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

AccessLog::Use AccessLog::useOf(uint64_t address, unsigned bytes) const {
  auto found = records.find(address);
  if (found == records.end()) {
    return {};
  }
  const Record &record = found->second;
  bool isWritten = record.writer != none || record.updater != none;
  return {isWritten,
          record.beginsWithWrite && !record.isMet && record.bytes == bytes};
}

AccessLog::Outcome AccessLog::access(Kind kind, int64_t program,
                                     uint64_t address, unsigned bytes) {
  if (arrays.empty()) {
    return Outcome::Alone;
  }
  const Array *array = find(address, bytes);
  if (!array || !array->isWritable) {
    return array && kind == Kind::Read ? Outcome::Alone : Outcome::Outside;
  }
  auto [place, isFirst] = records.try_emplace(address);
  Record &record = place->second;
  if (isFirst) {
    record.bytes = bytes;
    record.beginsWithWrite = kind == Kind::Write;
  } else if (record.bytes != bytes) {
    record.bytes = 0;
  }
  bool isWrite = kind != Kind::Read;
  bool isUpdate = kind == Kind::Update || kind == Kind::UpdateRead;

  bool meetsItself = false;
  bool legal = !byOthers(record.writer, program);
  if (isWrite) {
    legal &= !byOthers(record.reader, program);
    // A block that meets itself: harmless only where no order shows.
    meetsItself = record.lastWrite == operation && kind != Kind::Update;
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
  record.isMet |= !legal;
  return !legal        ? Outcome::MeetsOthers
         : meetsItself ? Outcome::MeetsItself
                       : Outcome::Alone;
}

} // namespace nereid::interp
