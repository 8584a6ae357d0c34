//===- StagedFolder.cpp - A data set that appears whole -------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "apps/gpt2/data/StagedFolder.h"

#include "apps/gpt2/data/DatasetMeta.h"

#include "nereid/Runtime/Error.h"

#include <cerrno>
#include <fcntl.h>
#include <filesystem>
#include <set>
#include <sys/file.h>
#include <unistd.h>

namespace nereid::gpt2 {

namespace fs = std::filesystem;

[[noreturn]] static void refuse(const std::string &message) {
  raise({ErrorCode::IoError, message, {}});
}

StagedFolder::StagedFolder(const std::string &folder)
    : folder(folder), staging_(folder + "/.prepare-partial") {
  std::error_code error;
  isNew = fs::create_directories(folder, error);
  if (!fs::is_directory(folder)) {
    refuse("cannot make the folder " + folder + ": " +
           (error ? error.message() : "Not a directory"));
  }
  // Held until the process ends, however it ends.
  lock = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (lock >= 0 && ::flock(lock, LOCK_EX | LOCK_NB) != 0 &&
      errno == EWOULDBLOCK) {
    ::close(lock);
    refuse(folder + ": expected that no other process writes it, got one that "
                    "does; wait for it, or take another --dataset");
  }
  try {
    checkMetaIsOurs(folder);
    fs::remove_all(staging_, error); // of a process that was killed
    fs::create_directory(staging_, error);
    if (error) {
      refuse("cannot make the folder " + staging_ + ": " + error.message());
    }
  } catch (const Error &) {
    ::close(lock);
    throw;
  }
}

StagedFolder::~StagedFolder() {
  std::error_code error;
  fs::remove_all(staging_, error);
  if (isNew && fs::is_empty(folder, error)) {
    fs::remove(folder, error);
  }
  ::close(lock);
}

static bool isShard(const std::string &name) {
  return (name.starts_with("train-") || name.starts_with("val-")) &&
         name.ends_with(".tokens");
}

void StagedFolder::commit() {
  std::set<std::string> names;
  for (const fs::directory_entry &entry : fs::directory_iterator(staging_)) {
    names.insert(entry.path().filename().string());
  }
  auto move = [&](const std::string &name) {
    std::error_code error;
    fs::rename(staging_ + "/" + name, folder + "/" + name, error);
    if (error) {
      refuse("cannot write " + folder + "/" + name + ": " + error.message());
    }
  };
  std::error_code error;
  fs::remove(folder + "/meta.json", error);
  if (error) {
    refuse("cannot write " + folder + "/meta.json: " + error.message());
  }
  for (const std::string &name : names) {
    if (name != "meta.json") {
      move(name);
    }
  }
  move("meta.json");
  for (const fs::directory_entry &entry :
       fs::directory_iterator(folder, error)) {
    std::string name = entry.path().filename().string();
    if (isShard(name) && !names.contains(name)) {
      fs::remove(entry.path(), error);
    }
  }
}

} // namespace nereid::gpt2
