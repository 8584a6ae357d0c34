//===- CodeLines.cpp - Which line code comes from -------------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/Target/AMDGPU/CodeLines.h"

#include "llvm/DebugInfo/DWARF/DWARFContext.h"
#include "llvm/Object/ObjectFile.h"

namespace nereid::amdgpu {

CodeLines::CodeLines(std::string_view object) {
  using Kind = llvm::DILineInfoSpecifier::FileLineInfoKind;
  auto file = llvm::object::ObjectFile::createObjectFile(
      llvm::MemoryBufferRef({object.data(), object.size()}, ""));
  if (!file) {
    llvm::consumeError(file.takeError());
    return;
  }
  std::unique_ptr<llvm::DWARFContext> dwarf =
      llvm::DWARFContext::create(**file);
  for (const auto &unit : dwarf->compile_units()) {
    const llvm::DWARFDebugLine::LineTable *table =
        dwarf->getLineTableForUnit(unit.get());
    for (size_t i = 0; table && i < table->Rows.size(); ++i) {
      const auto &row = table->Rows[i];
      SourceLocation place;
      if (!row.EndSequence && row.Line) {
        table->getFileNameByIndex(row.File, "", Kind::AbsoluteFilePath,
                                  place.file);
        place.line = row.Line;
        place.column = row.Column;
      }
      begins[row.Address.Address] = place;
    }
  }
}

SourceLocation CodeLines::at(uint64_t address) const {
  auto next = begins.upper_bound(address);
  return next == begins.begin() ? SourceLocation() : std::prev(next)->second;
}

} // namespace nereid::amdgpu
