//===- BuildId.cpp - Which build of the compiler this is ---===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/Pipeline/BuildId.h"

#include "llvm/Config/llvm-config.h"

#include <cstring>
#include <elf.h>
#include <link.h>

namespace nereid {
namespace {
struct Search {
  uintptr_t address; ///< of code in the object looked for
  std::string id;
};
} // namespace

/// The NT_GNU_BUILD_ID note of one loaded segment, in hexadecimal.
static std::string findBuildId(const char *note, size_t size) {
  while (size >= sizeof(ElfW(Nhdr))) {
    auto *header = reinterpret_cast<const ElfW(Nhdr) *>(note);
    size_t nameBytes = (header->n_namesz + 3) & ~3u;
    size_t bytes = sizeof(*header) + nameBytes + ((header->n_descsz + 3) & ~3u);
    if (bytes > size) {
      break;
    }
    const char *name = note + sizeof(*header);
    if (header->n_type == NT_GNU_BUILD_ID && header->n_namesz == 4 &&
        std::memcmp(name, "GNU", 4) == 0) {
      auto *id = reinterpret_cast<const unsigned char *>(name + nameBytes);
      std::string hex;
      for (size_t i = 0; i < header->n_descsz; ++i) {
        hex += "0123456789abcdef"[id[i] >> 4];
        hex += "0123456789abcdef"[id[i] & 15];
      }
      return hex;
    }
    note += bytes;
    size -= bytes;
  }
  return {};
}

static int visitObject(dl_phdr_info *info, size_t, void *data) {
  auto *search = static_cast<Search *>(data);
  bool holdsCode = false;
  std::string id;
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const ElfW(Phdr) &header = info->dlpi_phdr[i];
    uintptr_t start = info->dlpi_addr + header.p_vaddr;
    if (header.p_type == PT_LOAD && search->address >= start &&
        search->address < start + header.p_memsz) {
      holdsCode = true;
    }
    if (header.p_type == PT_NOTE && id.empty()) {
      id = findBuildId(reinterpret_cast<const char *>(start), header.p_memsz);
    }
  }
  if (holdsCode) {
    search->id = id;
  }
  return holdsCode;
}

std::string getBuildId() {
  static const std::string id = [] {
    Search search{reinterpret_cast<uintptr_t>(&getBuildId), {}};
    dl_iterate_phdr(visitObject, &search);
    return search.id + "-llvm" LLVM_VERSION_STRING;
  }();
  return id;
}

} // namespace nereid
