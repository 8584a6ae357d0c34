//===- SafetensorsWriter.cpp - Writing files of named tensors -------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/Runtime/Error.h"
#include "nereid/Weights/AtomicFile.h"
#include "nereid/Weights/Safetensors.h"
#include "nereid/Weights/SafetensorsTypes.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <set>

using namespace nereid;

static const char *typeName(DType dtype) {
  return std::find_if(std::begin(safetensorsTypes), std::end(safetensorsTypes),
                      [&](const auto &type) { return type.second == dtype; })
      ->first;
}

/// The length, and the object with spaces after it, so that elements begin at
/// a multiple of 64 bytes.
static std::string headerOf(const std::vector<const NamedTensor *> &order,
                            const Metadata &metadata) {
  auto header = nlohmann::ordered_json::object();
  if (!metadata.empty()) {
    header["__metadata__"] = metadata;
  }
  uint64_t place = 0;
  for (const NamedTensor *one : order) {
    auto bytes = uint64_t(one->tensor.bytes());
    header[one->name] = {{"dtype", typeName(one->tensor.dtype())},
                         {"shape", one->tensor.shape()},
                         {"data_offsets", {place, place + bytes}}};
    place += bytes;
  }
  std::string text = header.dump();
  text.resize((text.size() + 8 + 63) / 64 * 64 - 8, ' ');
  std::string length;
  for (int i = 0; i < 8; ++i) {
    length += char(uint64_t{text.size()} >> 8 * i & 255);
  }
  return length + text;
}

WrittenFile nereid::writeSafetensors(const std::string &path,
                                     std::span<const NamedTensor> tensors,
                                     const Metadata &metadata) {
  auto refuse = [&](const std::string &why) {
    raise({ErrorCode::InvalidArgument,
           "cannot write '" + path + "': " + why,
           {}});
  };
  std::set<std::string_view> names;
  for (const NamedTensor &one : tensors) {
    if (!one.tensor.defined() || one.name == "__metadata__") {
      refuse("expected a tensor with a name, got " +
             (one.tensor.defined() ? "the name '__metadata__'"
                                   : "an undefined one, '" + one.name + "'"));
    }
    if (!names.insert(one.name).second) {
      refuse("two tensors are named '" + one.name + "'");
    }
  }
  // Wide elements first: all are then aligned.
  std::vector<const NamedTensor *> order;
  for (size_t bytes : {8, 4, 2, 1}) {
    for (const NamedTensor &one : tensors) {
      if (byteSize(one.tensor.dtype()) == bytes) {
        order.push_back(&one);
      }
    }
  }
  std::string header;
  try {
    header = headerOf(order, metadata);
  } catch (const nlohmann::json::exception &) {
    refuse("expected names in UTF-8");
  }
  if (header.size() - 8 > mostHeaderBytes) {
    refuse("expected a header of at most " + std::to_string(mostHeaderBytes) +
           " bytes, got " + std::to_string(header.size() - 8));
  }
  WrittenFile written{header.size(), {}};
  for (const NamedTensor *one : order) {
    written.bytes += uint64_t(one->tensor.bytes());
  }
  Hasher hasher;
  AtomicFile file(path, written.bytes);
  auto put = [&](std::string_view content) {
    hasher.update(content.data(), content.size());
    file.write(content);
  };
  put(header);
  for (const NamedTensor *one : order) {
    Tensor host = one->tensor.onHost().contiguous();
    // In pieces that stay in the cache between the checksum and the copy.
    std::string_view rest(static_cast<const char *>(host.data()),
                          size_t(host.bytes()));
    while (!rest.empty()) {
      size_t piece = std::min(rest.size(), size_t{1} << 20);
      put(rest.substr(0, piece));
      rest.remove_prefix(piece);
    }
  }
  file.commit();
  written.digest = hasher.finish();
  return written;
}
