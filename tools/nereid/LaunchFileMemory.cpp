//===- LaunchFileMemory.cpp - Storages and their views --------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LaunchFileMemory.h"

#include "ArgumentText.h"
#include "Commands.h"

#include "nereid/Support/Files.h"

#include <cstring>

namespace nereid {

static constexpr uint64_t mostStorageBytes = uint64_t{1} << 40;
static constexpr int64_t storageAlignment =
    256; ///< a GPU's allocations have it

void LaunchMemory::fail(const std::string &place,
                        const std::string &message) const {
  usageError(launch.source + ": " + place + ": " + message);
}

/// Bytes of the host, as a tensor.
static Tensor bytesOf(const std::string &text) {
  return Tensor::borrow(const_cast<char *>(text.data()),
                        {static_cast<int64_t>(text.size())}, u8);
}

std::string LaunchMemory::contentsOf(const LaunchStorage &storage) const {
  switch (storage.content) {
  case LaunchStorage::Content::Fill:
    return {};
  case LaunchStorage::Content::Raw:
    return valueOrThrow(readFile(storage.path, mostStorageBytes));
  case LaunchStorage::Content::Inline:
    return storage.data;
  case LaunchStorage::Content::Array:
    break;
  }
  NamedText text{launch.source + ": " + storage.place, storage.array};
  ParsedArgument made = parseArgument(text, Device::cpu(), storage.seed);
  Tensor tensor = std::get<Tensor>(made).contiguous();
  return std::string(static_cast<const char *>(tensor.data()),
                     static_cast<size_t>(tensor.bytes()));
}

LaunchMemory::LaunchMemory(const LaunchDescription &launch, Device device)
    : launch(launch) {
  for (const LaunchStorage &source : launch.storages) {
    Storage storage;
    storage.initial = contentsOf(source);
    auto size = static_cast<int64_t>(storage.initial.size());
    if (source.bytes >= 0 && source.bytes < size) {
      fail(source.place, "expected contents of at most " +
                             std::to_string(source.bytes) + " bytes, got " +
                             std::to_string(size));
    }
    size = std::max(size, source.bytes);
    storage.initial.resize(static_cast<size_t>(size),
                           static_cast<char>(source.fill));
    // The host's allocations of less than a page have 64 bytes.
    Tensor room = empty({size + source.skew + storageAlignment}, u8, device);
    auto address = reinterpret_cast<uintptr_t>(room.data());
    auto gap = static_cast<int64_t>(-address % storageAlignment) + source.skew;
    storage.memory = room.slice(0, gap, gap + size);
    storages.push_back(std::move(storage));
  }
  for (size_t i = 0; i < storages.size(); ++i) {
    patchPointers(i);
  }
  restore();
}

void LaunchMemory::patchPointers(size_t index) {
  Storage &storage = storages[index];
  for (const PointerEntry &entry : launch.storages[index].pointers) {
    constexpr size_t width = sizeof(uint64_t);
    auto at = static_cast<size_t>(entry.at);
    if (storage.initial.size() < width || at > storage.initial.size() - width) {
      fail(launch.storages[index].place + "/pointers",
           "expected an element within the storage's " +
               std::to_string(storage.initial.size()) +
               " bytes, got one at byte " + std::to_string(entry.at));
    }
    uint64_t address =
        reinterpret_cast<uintptr_t>(storages[entry.storage].memory.data()) +
        static_cast<uint64_t>(entry.offset);
    storage.entries.append(storage.initial, at, width);
    std::memcpy(storage.initial.data() + at, &address, width);
  }
}

void LaunchMemory::restore() const {
  for (const Storage &storage : storages) {
    if (!storage.initial.empty()) {
      storage.memory.copyFrom(bytesOf(storage.initial));
    }
  }
}

Tensor LaunchMemory::view(const LaunchView &view,
                          const std::string &place) const {
  const Tensor &memory = storages[view.storage].memory;
  try {
    Tensor tensor =
        Tensor::adopt(std::make_shared<Tensor>(memory),
                      static_cast<std::byte *>(memory.data()) + view.offset,
                      view.shape, view.dtype, memory.device(), view.strides);
    if (view.offset > memory.numel() ||
        tensor.extentBytes() > memory.numel() - view.offset) {
      fail(place, "expected a view within storage " +
                      std::to_string(view.storage) + " of " +
                      std::to_string(memory.numel()) + " bytes, got " +
                      tensor.str() + " at byte " + std::to_string(view.offset) +
                      ", which ends at " +
                      std::to_string(view.offset + tensor.extentBytes()));
    }
    return tensor;
  } catch (const Error &error) {
    if (error.message().starts_with(launch.source)) {
      throw;
    }
    fail(place, error.message());
  }
}

void LaunchMemory::writeOutputs() const {
  for (size_t i = 0; i < storages.size(); ++i) {
    const LaunchStorage &source = launch.storages[i];
    if (source.out.empty()) {
      continue;
    }
    const Storage &storage = storages[i];
    std::string bytes(storage.initial.size(), '\0');
    if (!bytes.empty()) {
      bytesOf(bytes).copyFrom(storage.memory);
    }
    for (size_t k = 0; k < source.pointers.size(); ++k) {
      constexpr size_t width = sizeof(uint64_t);
      auto at = static_cast<size_t>(source.pointers[k].at);
      if (!bytes.compare(at, width, storage.initial, at, width)) {
        bytes.replace(at, width, storage.entries, k * width, width);
      }
    }
    throwIfFailed(writeFileAtomically(source.out, bytes));
  }
}

} // namespace nereid
