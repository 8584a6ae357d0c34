//===- TuningStore.cpp - Choices kept between processes -------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/Tune/TuningStore.h"

#include "nereid/Runtime/cache/DiskCache.h"
#include "nereid/Support/Files.h"
#include "nereid/Support/Hash.h"
#include "nereid/Support/Knobs.h"
#include "nereid/Support/Log.h"

#include <fcntl.h>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <sstream>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

namespace nereid::tune {

using Json = nlohmann::ordered_json;

//===----------------------------------------------------------------------===//
// Journal
//===----------------------------------------------------------------------===//

void Journal::append(const std::string &line) const {
  if (path_.empty()) {
    return;
  }
  int fd =
      ::open(path_.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
  if (fd >= 0) {
    // What cannot be noted is only tried again by the next process.
    (void)writeDescriptor(fd, line + "\n", path_).ok();
    ::close(fd);
  }
}

static std::string claimOf(const std::string &launch) {
  return Json{{"launch", hashText(launch).hex()}}.dump();
}

void Journal::claim(const std::string &launch) const {
  if (path_.empty()) {
    return;
  }
  std::string own = claimOf(launch);
  Expected<std::string> text = readFile(path_);
  if (!text.ok() || !text->starts_with(own + "\n")) {
    forget();
    append(own);
  }
}

void Journal::forget() const {
  if (!path_.empty()) {
    ::unlink(path_.c_str());
  }
}

void Journal::begin(const ConfigDescription &config) const {
  append(Json{{"begin", toJson(config)}}.dump());
}

void Journal::end(const TrialRecord &trial) const {
  // What failed may quote the bytes of a tool.
  append(Json{{"end", toJson(trial)}}.dump(-1, ' ', false,
                                           Json::error_handler_t::replace));
}

Journal::History Journal::read() const {
  History history;
  Expected<std::string> text =
      path_.empty() ? Expected<std::string>(std::string()) : readFile(path_);
  std::istringstream in(text.ok() ? *text : std::string());
  for (std::string line; std::getline(in, line);) {
    try {
      Json json = Json::parse(line);
      if (json.contains("begin")) {
        ++history.begun[describe(configOf(json.at("begin")))];
      } else if (json.contains("end")) {
        TrialRecord trial = trialOf(json.at("end"));
        history.begun.erase(describe(trial.config));
        history.ended[describe(trial.config)] = std::move(trial);
      }
    } catch (const nlohmann::json::exception &) {
      // The line of a process that died as it wrote.
    }
  }
  return history;
}

//===----------------------------------------------------------------------===//
// Records
//===----------------------------------------------------------------------===//

TuningStore TuningStore::ofThisUser() {
  bool isOff = knobs().cacheSize && !*knobs().cacheSize;
  return TuningStore(isOff ? "" : DiskCache::defaultFolder() + "/tuned");
}

static void warnOfFolder(const Status &status) {
  warnOnce("choices of configurations are not kept: " +
           status.failure().message);
}

bool TuningStore::isUsable() const {
  if (folder.empty()) {
    return false;
  }
  Status status = makePrivateFolder(folder);
  if (!status.ok()) {
    warnOfFolder(status);
  }
  return status.ok();
}

std::string TuningStore::pathOf(const TuningRecord &key,
                                const char *suffix) const {
  constexpr size_t longest = 64;
  std::string name = key.kernel.substr(0, longest);
  std::replace_if(
      name.begin(), name.end(),
      [](unsigned char c) { return !std::isalnum(c) && c != '_'; }, '_');
  return folder + "/" + name + "-" + key.id() + suffix;
}

static std::optional<TuningRecord> readRecord(const std::string &path) {
  Expected<std::string> text = readFile(path);
  if (!text.ok()) {
    return std::nullopt;
  }
  try {
    return tuningOf(Json::parse(*text));
  } catch (const nlohmann::json::exception &) {
    return std::nullopt;
  }
}

std::optional<TuningRecord> TuningStore::find(const TuningRecord &key) const {
  if (folder.empty()) {
    return std::nullopt;
  }
  std::optional<TuningRecord> record = readRecord(pathOf(key, ".json"));
  if (record && isDoubtful(*record)) {
    warnOnce("the kept choice of '" + record->kernel +
             "' is ignored: its configurations disagreed, and nothing said "
             "which was right");
    return std::nullopt;
  }
  return record && record->id() == key.id() ? record : std::nullopt;
}

Status TuningStore::keep(const TuningRecord &record) const {
  if (!record.doubt.empty()) {
    return {ErrorCode::InvalidArgument, record.kernel + ": " + record.doubt};
  }
  if (!isUsable()) {
    return Status::success();
  }
  Status status = replaceFile(
      pathOf(record, ".json"),
      toJson(record).dump(1, ' ', false, Json::error_handler_t::replace) +
          "\n");
  if (status.ok()) {
    ::unlink(pathOf(record, ".trials").c_str());
  } else {
    warnOfFolder(status);
  }
  return status;
}

std::vector<TuningRecord> TuningStore::all() const {
  std::vector<TuningRecord> records;
  std::error_code ignored;
  std::vector<std::string> paths;
  if (!folder.empty()) {
    for (const auto &entry :
         std::filesystem::directory_iterator(folder, ignored)) {
      if (entry.path().extension() == ".json") {
        paths.push_back(entry.path().string());
      }
    }
  }
  std::sort(paths.begin(), paths.end());
  for (const std::string &path : paths) {
    if (auto record = readRecord(path); record && !isDoubtful(*record)) {
      records.push_back(std::move(*record));
    }
  }
  return records;
}

Journal TuningStore::journal(const TuningRecord &key) const {
  return isUsable() ? Journal(pathOf(key, ".trials")) : Journal();
}

//===----------------------------------------------------------------------===//
// Lock
//===----------------------------------------------------------------------===//

/// A name may be removed between opening and locking it: then somebody else may
/// hold a lock on a new file of the name.
static bool isNamed(int descriptor, const std::string &path) {
  struct stat open, named;
  return ::fstat(descriptor, &open) == 0 && ::stat(path.c_str(), &named) == 0 &&
         open.st_ino == named.st_ino && open.st_dev == named.st_dev;
}

TuningStore::Lock::Lock(const TuningStore &kept, const TuningRecord &key) {
  if (!kept.isUsable()) {
    return;
  }
  path = kept.pathOf(key, ".lock");
  while (true) {
    descriptor = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (descriptor < 0) {
      return;
    }
    while (::flock(descriptor, LOCK_EX) != 0 && errno == EINTR) {
    }
    if (isNamed(descriptor, path)) {
      return;
    }
    ::close(descriptor);
  }
}

TuningStore::Lock::~Lock() {
  if (descriptor >= 0) {
    ::unlink(path.c_str());
    ::close(descriptor);
  }
}

} // namespace nereid::tune
