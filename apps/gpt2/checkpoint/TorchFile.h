//===- TorchFile.h - What torch.save wrote ----------------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//   NAME/data.pkl      a pickle (Pickle.h) of dictionaries, numbers and texts;
//                      a tensor in it is a call of torch._utils.
//                      _rebuild_tensor_v2(storage, offset, size, stride, ...),
//                      its storage a key
//   NAME/data/KEY      the elements of a storage
//   NAME/byteorder     "little"
//
// in a zip whose entries are stored. Nothing of the pickle is called: names
// other than those of tensors and dictionaries are refused.
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_APPS_GPT2_CHECKPOINT_TORCHFILE_H
#define NEREID_APPS_GPT2_CHECKPOINT_TORCHFILE_H

#include "apps/gpt2/checkpoint/ZipArchive.h"
#include "apps/gpt2/data/Pickle.h"
#include "nereid/Runtime/Tensor.h"

namespace nereid::gpt2 {

/// Does it begin as a file of torch.save, of any version?
bool isTorchFile(const std::string &path);

class TorchFile {
public:
  /// Throws NotFound, IoError for a damaged file, Unsupported for one of
  /// PyTorch before 1.6, for TorchScript, and for names that are not read.
  explicit TorchFile(const std::string &path);

  const std::string &path() const { return path_; }
  const PickleValue &value() const { return pickle->value(); }
  /// Views of the mapped file, which live longer than this. Undefined for a
  /// value that is no tensor. Throws as the constructor.
  Tensor tensor(const PickleValue &value);
  /// For a tensor that will be copied: all of them together must not have more
  /// bytes than the file, as tensors that share a storage may have. Throws
  /// IoError.
  void take(const Tensor &tensor);

private:
  [[noreturn]] void refuse(const std::string &why) const;
  Tensor view(const PickleValue &storage, int64_t offset, Shape shape,
              const Shape &strides);

  std::string path_, prefix;
  std::shared_ptr<MappedFile> file;
  std::optional<ZipArchive> zip;
  std::optional<Pickle> pickle;
  uint64_t taken = 0;                    ///< bytes
  std::map<std::string, Tensor> aligned; ///< copies of storages that are not
};

} // namespace nereid::gpt2

#endif // NEREID_APPS_GPT2_CHECKPOINT_TORCHFILE_H
