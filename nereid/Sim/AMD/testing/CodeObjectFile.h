//===- CodeObjectFile.h - A few instructions as a file ----------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The ELF file of a kernel "k" with one argument, as a driver loads it: for
// tests that have no compiler. s[0:1] points to the argument, an address of 8
// bytes; v0 is the number of the thread.
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_SIM_AMD_TESTING_CODEOBJECTFILE_H
#define NEREID_SIM_AMD_TESTING_CODEOBJECTFILE_H

#include "nereid/Sim/AMD/testing/WaveRun.h"

namespace nereid::sim::amd {

struct CodeObjectFile {
  Generation generation = Generation::Cdna;
  Words code;
  uint32_t sharedBytes = 1024, vectorRegisters = 16, mostThreads = 1024;

  std::string bytes() const {
    std::string file(textAt, '\0');
    auto put = [&](size_t at, auto value) {
      std::memcpy(&file[at], &value, sizeof(value));
    };
    // The header of the file.
    std::memcpy(file.data(),
                "\x7f"
                "ELF\x02\x01\x01\x40\x03",
                9);
    put(16, uint16_t{3});
    put(18, uint16_t{224}); // EM_AMDGPU
    put(32, uint64_t{segmentsAt});
    put(48, generation == Generation::Cdna    ? uint32_t{0x4c}
            : generation == Generation::Rdna3 ? uint32_t{0x41}
                                              : uint32_t{0x4e});
    put(54, uint16_t{56});
    put(56, uint16_t{2});
    put(58, uint16_t{64});
    put(60, uint16_t{4});
    // Segments: all of it, and the note.
    std::string note = metadata();
    uint64_t textEnd = textAt + code.size() * 4;
    put(segmentsAt, uint32_t{1});
    put(segmentsAt + 32, textEnd);
    put(segmentsAt + 40, textEnd);
    put(segmentsAt + 56, uint32_t{4});
    put(segmentsAt + 64, uint64_t{noteAt});
    put(segmentsAt + 88, uint64_t{20 + note.size()});
    // The note: its name has 7 letters and a zero.
    put(noteAt, uint32_t{7});
    put(noteAt + 4, uint32_t(note.size()));
    put(noteAt + 8, uint32_t{32});
    std::memcpy(&file[noteAt + 12], "AMDGPU", 7);
    std::memcpy(&file[noteAt + 20], note.data(), note.size());
    // The symbol of the descriptor, and its name.
    put(symbolsAt + 24, uint32_t{1});
    put(symbolsAt + 32, uint64_t{descriptorAt});
    std::memcpy(&file[namesAt + 1], "k.kd", 5);
    // The descriptor: the kernarg segment's address in two user registers.
    put(descriptorAt, sharedBytes);
    put(descriptorAt + 8, uint32_t{8});
    put(descriptorAt + 16, int64_t{textAt - descriptorAt});
    put(descriptorAt + 52, uint32_t{2 << 1});
    put(descriptorAt + 56, uint16_t{1 << 3});
    file.append(reinterpret_cast<const char *>(code.data()), code.size() * 4);
    // Sections, the first one of nothing.
    uint64_t at = file.size();
    put(40, at);
    file.resize(at + size_t{4} * 64);
    put(at + 64 + 4, uint32_t{11}); // SHT_DYNSYM
    put(at + 64 + 24, uint64_t{symbolsAt});
    put(at + 64 + 32, uint64_t{48});
    put(at + 64 + 40, uint32_t{2}); // its names are section 2
    put(at + 128 + 24, uint64_t{namesAt});
    put(at + 192 + 8, uint64_t{6}); // allocated, executable
    put(at + 192 + 16, uint64_t{textAt});
    put(at + 192 + 24, uint64_t{textAt});
    put(at + 192 + 32, uint64_t{code.size() * 4});
    return file;
  }

private:
  static constexpr int64_t segmentsAt = 64, noteAt = 256, symbolsAt = 1024,
                           namesAt = 1072, descriptorAt = 1152, textAt = 1280;

  static std::string text(const std::string &of) {
    return char(0xa0 | of.size()) + of;
  }
  static std::string number(uint32_t value) {
    std::string packed = "\xce";
    for (int shift = 24; shift >= 0; shift -= 8) {
      packed += char(value >> shift);
    }
    return packed;
  }
  static std::string map(unsigned entries) { return {char(0x80 | entries)}; }
  static std::string list(unsigned entries) { return {char(0x90 | entries)}; }

  /// MessagePack; every text has at most 31 letters.
  std::string metadata() const {
    return map(1) + text("amdhsa.kernels") + list(1) + map(7) + text(".name") +
           text("k") + text(".symbol") + text("k.kd") +
           text(".wavefront_size") +
           number(generation == Generation::Cdna ? 64 : 32) +
           text(".vgpr_count") + number(vectorRegisters) + text(".sgpr_count") +
           number(8) + text(".max_flat_workgroup_size") + number(mostThreads) +
           text(".args") + list(1) + map(3) + text(".offset") + number(0) +
           text(".size") + number(8) + text(".value_kind") +
           text("global_buffer");
  }
};

} // namespace nereid::sim::amd

#endif // NEREID_SIM_AMD_TESTING_CODEOBJECTFILE_H
