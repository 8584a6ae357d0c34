//===- Safetensors.h - Files of named tensors -------------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//   offset 0   bytes of the header, u64 little-endian, at most 100,000,000
//   offset 8   the header: a JSON object, spaces after it
//                {"__metadata__": {"key": "text"},
//                 "name": {"dtype": "F32", "shape": [2, 3],
//                          "data_offsets": [0, 24]}}
//   then       the elements, row-major, little-endian; data_offsets count from
//              here. Tensors lie one after another without gaps, and the last
//              one ends with the file.
//
// A file that breaks one of these rules is refused as a whole, with the rule
// that it breaks.
//
// Source: the description of the format in huggingface/safetensors.
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_WEIGHTS_SAFETENSORS_H
#define NEREID_WEIGHTS_SAFETENSORS_H

#include "nereid/Runtime/Tensor.h"
#include "nereid/Support/Hash.h"

#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace nereid {

struct NamedTensor {
  std::string name;
  Tensor tensor;
};

using Metadata = std::map<std::string, std::string>;

/// What has been written: enough to recognise the file.
struct WrittenFile {
  uint64_t bytes = 0;
  Digest digest; ///< BLAKE2b of the whole file
};

/// Writes beside, flushes to the disk, renames: a process that is killed leaves
/// the old file or the new one. Tensors may have any strides and be on any
/// device. Throws InvalidArgument for a name that is used twice, IoError.
WrittenFile writeSafetensors(const std::string &path,
                             std::span<const NamedTensor> tensors,
                             const Metadata &metadata = {});

/// A file that is mapped into memory. Its tensors are views of that memory,
/// which lives as long as one of them; changing one does not change the file.
/// The file must not shrink meanwhile: who replaces it renames another one over
/// it, as `writeSafetensors` does.
class SafetensorsFile {
public:
  /// Throws NotFound, IoError with the rule that is broken,
  /// Unsupported for element types that Nereid does not have.
  explicit SafetensorsFile(const std::string &path);

  const std::string &path() const { return path_; }
  const Metadata &metadata() const { return metadata_; }
  /// In the order of their places in the file.
  const std::vector<NamedTensor> &tensors() const { return tensors_; }
  /// Undefined where there is none.
  Tensor find(std::string_view name) const;
  uint64_t bytes() const { return bytes_; }
  /// A digest of the whole file, as `writeSafetensors` returned it.
  Digest digest() const;

private:
  std::string path_;
  std::shared_ptr<void> mapping;
  uint64_t bytes_ = 0;
  Metadata metadata_;
  std::vector<NamedTensor> tensors_;
  std::map<std::string, size_t, std::less<>> places;
};

} // namespace nereid

#endif // NEREID_WEIGHTS_SAFETENSORS_H
