//===- CodeObject.cpp - What a code object says of its kernel -------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/Target/AMDGPU/CodeObject.h"

#include "nereid/Target/AMDGPU/AmdgpuTarget.h"

#include "llvm/BinaryFormat/ELF.h"
#include "llvm/BinaryFormat/MsgPackDocument.h"
#include "llvm/Object/ELF.h"

#include <algorithm>

namespace nereid::amdgpu {

/// The bytes of the metadata note; empty where there is none.
static llvm::StringRef metadataOf(llvm::StringRef object) {
  auto file = llvm::object::ELF64LEFile::create(object);
  if (!file) {
    llvm::consumeError(file.takeError());
    return {};
  }
  auto sections = file->sections();
  if (!sections) {
    llvm::consumeError(sections.takeError());
    return {};
  }
  for (const auto &section : *sections) {
    if (section.sh_type != llvm::ELF::SHT_NOTE) {
      continue;
    }
    llvm::Error error = llvm::Error::success();
    for (const auto &note : file->notes(section, error)) {
      if (note.getName() == "AMDGPU" &&
          note.getType() == llvm::ELF::NT_AMDGPU_METADATA) {
        llvm::consumeError(std::move(error));
        return note.getDescAsStringRef(section.sh_addralign);
      }
    }
    llvm::consumeError(std::move(error));
  }
  return {};
}

Expected<Resources> readResources(std::string_view object) {
  const Failure broken = {ErrorCode::InvalidArgument,
                          "expected a code object with the metadata of a "
                          "kernel",
                          {}};
  llvm::msgpack::Document document;
  llvm::StringRef metadata = metadataOf({object.data(), object.size()});
  if (metadata.empty() || !document.readFromBlob(metadata, /*Multi=*/false) ||
      !document.getRoot().isMap()) {
    return broken;
  }
  auto &root = document.getRoot().getMap();
  auto kernels = root.find("amdhsa.kernels");
  if (kernels == root.end() || !kernels->second.isArray() ||
      kernels->second.getArray().size() != 1 ||
      !kernels->second.getArray()[0].isMap()) {
    return broken;
  }
  auto &kernel = kernels->second.getArray()[0].getMap();
  auto number = [&](const char *key) -> unsigned {
    auto found = kernel.find(key);
    bool isNumber = found != kernel.end() &&
                    found->second.getKind() == llvm::msgpack::Type::UInt;
    return isNumber ? static_cast<unsigned>(found->second.getUInt()) : 0;
  };
  return Resources{number(".vgpr_count"),
                   number(".agpr_count"),
                   number(".sgpr_count"),
                   number(".vgpr_spill_count"),
                   number(".sgpr_spill_count"),
                   number(".group_segment_fixed_size"),
                   number(".private_segment_fixed_size")};
}

static unsigned roundUp(unsigned value, unsigned unit) {
  return (value + unit - 1) / unit * unit;
}

namespace {
/// How registers and LDS are given out (GCNSubtarget of LLVM).
struct Granules {
  unsigned simdRegisters; ///< of a lane, in all waves of a SIMD unit
  unsigned registers;     ///< a wave gets multiples of so many
  unsigned sharedBytes;
};
} // namespace

static Granules granulesOf(const tilegpu::TargetInfo &info) {
  bool isRdna = info.lanes == 32;
  constexpr unsigned units = 4;
  return {info.processorRegisters / units / info.lanes, isRdna ? 24u : 8u,
          isRdna                          ? 1024u
          : info.sharedLimit > 64u * 1024 ? 1280u
                                          : 512u};
}

Expected<Occupancy> occupancyOf(const Resources &resources, unsigned waves,
                                std::string_view architecture) {
  Expected<AmdgpuTarget> target = resolve(architecture);
  if (!target.ok()) {
    return target.failure();
  }
  const tilegpu::TargetInfo &info = target->info;
  Granules granules = granulesOf(info);
  unsigned registers =
      roundUp(std::max(resources.vectorRegisters, 1u), granules.registers);
  unsigned shared = roundUp(resources.sharedBytes, granules.sharedBytes);
  const std::pair<unsigned, const char *> limits[] = {
      {info.processorBlocks, "workgroups"},
      {info.processorWarps / waves, "waves"},
      {granules.simdRegisters / registers * info.schedulers / waves, "VGPRs"},
      {shared ? info.processorShared / shared : ~0u, "LDS"},
  };
  Occupancy result{limits[0].first, 0, info.processorWarps, limits[0].second};
  for (auto [count, limit] : limits) {
    if (count < result.workgroups) {
      result.workgroups = count;
      result.limit = limit;
    }
  }
  result.waves = result.workgroups * waves;
  return result;
}

Expected<std::string> resourceLine(const KernelImage &image) {
  Expected<Resources> read = readResources(
      {reinterpret_cast<const char *>(image.code.data()), image.code.size()});
  if (!read.ok()) {
    return read.failure();
  }
  Expected<Occupancy> occupancy =
      occupancyOf(*read, image.numWarps, image.target);
  if (!occupancy.ok()) {
    return occupancy.failure();
  }
  auto text = [](unsigned number) { return std::to_string(number); };
  std::string line = image.kernel + " [" + image.target +
                     "]: " + text(read->vectorRegisters) + " VGPRs";
  if (read->accumulationRegisters) {
    line += " (" + text(read->accumulationRegisters) + " to accumulate)";
  }
  line += ", " + text(read->scalarRegisters) + " SGPRs, " +
          text(read->vectorSpills) + " and " + text(read->scalarSpills) +
          " spilled, " + text(read->sharedBytes) + " bytes of LDS, " +
          text(read->privateBytes) + " bytes of scratch a lane; " +
          text(occupancy->waves) + " of " + text(occupancy->mostWaves) +
          " waves of a processor";
  if (occupancy->waves < occupancy->mostWaves) {
    line += ", limited by " + occupancy->limit;
  }
  return line;
}

} // namespace nereid::amdgpu
