//===- StagedFolder.h - A data set that appears whole -----------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Everything is written into the folder ".prepare-partial" of the data set.
// Then the earlier meta.json goes, the files are renamed to their places, and
// the new meta.json last: at every moment the folder is the earlier data set,
// the new one, or none.
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_APPS_GPT2_DATA_STAGEDFOLDER_H
#define NEREID_APPS_GPT2_DATA_STAGEDFOLDER_H

#include <string>

namespace nereid::gpt2 {

class StagedFolder {
public:
  /// Makes the folder where there is none. Throws IoError when that fails, when
  /// its meta.json is of another program, and while another process writes it.
  explicit StagedFolder(const std::string &folder);
  StagedFolder(const StagedFolder &) = delete;
  /// Removes what is not committed, and the folder if it was made here.
  ~StagedFolder();

  /// Where files are written meanwhile.
  const std::string &staging() const { return staging_; }
  /// Moves every file of `staging`, which has a meta.json, and removes the
  /// shards of the earlier data set.
  void commit();

private:
  std::string folder, staging_;
  int lock = -1;
  bool isNew = false;
};

} // namespace nereid::gpt2

#endif // NEREID_APPS_GPT2_DATA_STAGEDFOLDER_H
