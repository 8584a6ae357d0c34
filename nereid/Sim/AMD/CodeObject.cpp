//===- CodeObject.cpp - Segments, descriptors and metadata ----------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// AMDGPUUsage of LLVM: "Code Object", "Kernel Descriptor", "Code Object V3
// Metadata". Everything is read with bounds: the file may be anyone's.
//
//===----------------------------------------------------------------------===//

#include "nereid/Sim/AMD/LoadedProgram.h"
#include "nereid/Sim/AMD/MessagePack.h"

#include <cstring>

namespace nereid::sim::amd {

namespace {

template <typename T>
bool readAt(std::span<const uint8_t> bytes, uint64_t at, T &to) {
  if (at > bytes.size() || sizeof(T) > bytes.size() - at) {
    return false;
  }
  std::memcpy(&to, bytes.data() + at, sizeof(T));
  return true;
}

struct FileHeader {
  uint8_t ident[16];
  uint16_t type, machine;
  uint32_t version;
  uint64_t entry, programOffset, sectionOffset;
  uint32_t flags;
  uint16_t headerSize, programSize, programCount, sectionSize, sectionCount,
      nameSection;
};
struct ProgramHeader {
  uint32_t type, flags;
  uint64_t offset, address, physical, fileSize, memorySize, alignment;
};
struct SectionHeader {
  uint32_t name, type;
  uint64_t flags, address, offset, size;
  uint32_t link, info;
  uint64_t alignment, entrySize;
};
struct Symbol {
  uint32_t name;
  uint8_t info, other;
  uint16_t section;
  uint64_t value, size;
};
struct Descriptor {
  uint32_t sharedBytes, privateBytes, argumentBytes, reserved0;
  int64_t entry;
  uint8_t reserved1[20];
  uint32_t rsrc3, rsrc1, rsrc2;
  uint16_t properties, preload;
  uint32_t reserved2;
};
static_assert(sizeof(Descriptor) == 64);

constexpr uint16_t amdgpuMachine = 224;
constexpr uint32_t loadSegment = 1, noteSegment = 4, dynamicSymbols = 11;
constexpr uint64_t executable = 4, mostImageBytes = uint64_t{1} << 26;

const Failure broken(const std::string &what) {
  return {ErrorCode::InvalidArgument,
          "expected a code object of an AMD GPU (ELF64), got " + what,
          {}};
}

class Reader {
public:
  explicit Reader(std::span<const uint8_t> bytes) : bytes(bytes) {}

  Expected<std::shared_ptr<Program>> read() {
    if (!readAt(bytes, 0, header) || std::memcmp(header.ident,
                                                 "\x7f"
                                                 "ELF\x02\x01",
                                                 6) != 0) {
      return broken("other bytes");
    }
    if (header.machine != amdgpuMachine) {
      return broken("one for machine " + std::to_string(header.machine));
    }
    Status status = readSegments();
    if (!status.ok()) {
      return status;
    }
    status = readTarget();
    if (!status.ok()) {
      return status;
    }
    status = readSections();
    if (!status.ok()) {
      return status;
    }
    status = readMetadata();
    if (!status.ok()) {
      return status;
    }
    return std::move(program);
  }

private:
  Status readSegments() {
    std::vector<ProgramHeader> loads;
    uint64_t end = 0;
    for (unsigned i = 0; i < header.programCount; ++i) {
      ProgramHeader one;
      if (!readAt(bytes, header.programOffset + i * sizeof(one), one)) {
        return broken("program headers past its end");
      }
      if (one.type == noteSegment) {
        notes = one;
      }
      if (one.type != loadSegment) {
        continue;
      }
      if (one.offset > bytes.size() ||
          one.fileSize > bytes.size() - one.offset ||
          one.fileSize > one.memorySize || one.memorySize > mostImageBytes ||
          one.address > mostImageBytes) {
        return broken("a segment past its end");
      }
      end = std::max(end, one.address + one.memorySize);
      loads.push_back(one);
    }
    // The processor fetches ahead of the last instruction.
    program->image.resize(end + 256);
    for (const ProgramHeader &one : loads) {
      std::memcpy(program->image.data() + one.address, &bytes[one.offset],
                  one.fileSize);
    }
    return Status::success();
  }

  Status readTarget() {
    constexpr uint32_t machineMask = 0xff;
    struct Row {
      uint32_t machine;
      const char *name;
      Generation generation;
    };
    // EF_AMDGPU_MACH_AMDGCN_*
    constexpr Row rows[] = {{0x3f, "gfx90a", Generation::Cdna},
                            {0x4c, "gfx942", Generation::Cdna},
                            {0x4f, "gfx950", Generation::Cdna},
                            {0x41, "gfx1100", Generation::Rdna3},
                            {0x4e, "gfx1201", Generation::Rdna4}};
    for (const Row &row : rows) {
      if (row.machine == (header.flags & machineMask)) {
        program->target = row.name;
        program->generation = row.generation;
        return Status::success();
      }
    }
    return {ErrorCode::InvalidArgument,
            "expected a code object for gfx90a, gfx942, gfx950, gfx1100 or "
            "gfx1201, got one for machine " +
                std::to_string(header.flags & machineMask)};
  }

  Status readSections() {
    for (unsigned i = 0; i < header.sectionCount; ++i) {
      SectionHeader one;
      if (!readAt(bytes, header.sectionOffset + i * sizeof(one), one)) {
        return broken("section headers past its end");
      }
      if (one.flags & executable && one.size) {
        if (one.address > program->image.size() ||
            one.size > program->image.size() - one.address || one.address % 4) {
          return broken("a text section past its segments");
        }
        program->textBegin = one.address;
        program->textEnd = one.address + one.size / 4 * 4;
      }
      if (one.type == dynamicSymbols) {
        symbols = one;
      }
    }
    SectionHeader strings;
    if (!symbols.size ||
        !readAt(bytes, header.sectionOffset + symbols.link * sizeof(strings),
                strings)) {
      return broken("one without symbols");
    }
    names = strings.offset;
    return Status::success();
  }

  std::string nameAt(uint64_t at) const {
    std::string name;
    for (uint8_t c = 0; readAt(bytes, at, c) && c; ++at) {
      name += char(c);
    }
    return name;
  }

  Status readMetadata() {
    struct {
      uint32_t nameSize, size, type;
    } note;
    uint64_t at = notes.offset;
    constexpr uint32_t metadataType = 32;
    if (!readAt(bytes, at, note) || note.type != metadataType) {
      return broken("one without metadata");
    }
    at += sizeof(note) + (uint64_t(note.nameSize) + 3) / 4 * 4;
    if (at > bytes.size() || note.size > bytes.size() - at) {
      return broken("metadata past its end");
    }
    std::optional<PackedValue> root =
        readMessagePack(bytes.subspan(at, note.size));
    const PackedValue *all = root ? root->find("amdhsa.kernels") : nullptr;
    if (!all || all->items.empty()) {
      return broken("one without kernels");
    }
    for (const PackedValue &kernel : all->items) {
      Status status = readKernel(kernel);
      if (!status.ok()) {
        return status;
      }
    }
    return Status::success();
  }

  Status readKernel(const PackedValue &of) {
    Kernel kernel;
    kernel.name = of.text(".name");
    kernel.lanes = unsigned(of.number(".wavefront_size"));
    kernel.vectorRegisters = uint32_t(of.number(".vgpr_count"));
    kernel.accumulationRegisters = uint32_t(of.number(".agpr_count"));
    kernel.scalarRegisters = uint32_t(of.number(".sgpr_count"));
    kernel.mostThreads = uint32_t(of.number(".max_flat_workgroup_size"));
    if (const PackedValue *arguments = of.find(".args")) {
      for (const PackedValue &one : arguments->items) {
        kernel.arguments.push_back({uint32_t(one.number(".offset")),
                                    uint32_t(one.number(".size")),
                                    one.text(".value_kind")});
      }
    }
    if (kernel.lanes != 64 && kernel.lanes != 32) {
      return broken("waves of " + std::to_string(kernel.lanes) + " lanes");
    }
    Descriptor descriptor;
    uint64_t place = addressOf(of.text(".symbol"));
    if (!place ||
        !readAt(std::span<const uint8_t>(program->image), place, descriptor)) {
      return broken("no descriptor of " + kernel.name);
    }
    kernel.sharedBytes = descriptor.sharedBytes;
    kernel.privateBytes = descriptor.privateBytes;
    // Older tools leave the descriptor's size out.
    kernel.argumentBytes = std::max(
        descriptor.argumentBytes, uint32_t(of.number(".kernarg_segment_size")));
    kernel.rsrc1 = descriptor.rsrc1;
    kernel.rsrc2 = descriptor.rsrc2;
    kernel.rsrc3 = descriptor.rsrc3;
    kernel.properties = descriptor.properties;
    kernel.entry = place + uint64_t(descriptor.entry);
    constexpr uint32_t mostBytes = 1 << 17;
    for (const KernelArgument &one : kernel.arguments) {
      if (one.offset > mostBytes || one.bytes > mostBytes) {
        return broken("arguments of " + kernel.name + " past its segment");
      }
    }
    if (kernel.sharedBytes > mostBytes || kernel.privateBytes > mostBytes ||
        kernel.argumentBytes > mostBytes) {
      return broken("sizes of " + kernel.name + " that no GPU has");
    }
    program->kernels.push_back(std::move(kernel));
    return Status::success();
  }

  uint64_t addressOf(const std::string &name) const {
    for (uint64_t at = symbols.offset; at < symbols.offset + symbols.size;
         at += sizeof(Symbol)) {
      Symbol symbol;
      if (!readAt(bytes, at, symbol)) {
        return 0;
      }
      if (nameAt(names + symbol.name) == name) {
        return symbol.value;
      }
    }
    return 0;
  }

  std::span<const uint8_t> bytes;
  std::shared_ptr<Program> program = std::make_shared<Program>();
  FileHeader header = {};
  ProgramHeader notes = {};
  SectionHeader symbols = {};
  uint64_t names = 0;
};

} // namespace

Expected<std::shared_ptr<Program>>
readCodeObject(std::span<const uint8_t> object) {
  return Reader(object).read();
}

Expected<std::shared_ptr<const Program>> load(std::span<const uint8_t> object) {
  Expected<std::shared_ptr<Program>> program = readCodeObject(object);
  if (!program.ok()) {
    return program.failure();
  }
  Status status = decodeText(**program);
  if (!status.ok()) {
    return status;
  }
  return std::shared_ptr<const Program>(std::move(*program));
}

const std::string &targetOf(const Program &program) { return program.target; }

const std::vector<Kernel> &kernelsOf(const Program &program) {
  return program.kernels;
}

const Kernel *findKernel(const Program &program, std::string_view name) {
  for (const Kernel &kernel : program.kernels) {
    if (kernel.name == name) {
      return &kernel;
    }
  }
  return nullptr;
}

} // namespace nereid::sim::amd
