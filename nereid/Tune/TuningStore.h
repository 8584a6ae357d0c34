//===- TuningStore.h - Choices kept between processes -----------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The folder `tuned` in that of the disk cache. For each key:
//
//   KERNEL-ID.json    the record: written beside and renamed, so that a reader
//                     sees all of it or none
//   KERNEL-ID.trials  while it is being made: a line of JSON for the launch,
//                     then one for each trial that begins or ends. A process
//                     that continues the same launch after one that died skips
//                     what is known, and leaves to the end what was running
//                     when that one died. It goes with the tuning that made
//                     it, also where nothing can be chosen.
//   KERNEL-ID.lock    the process that holds flock on it works; the lock dies
//                     with it, and the others find the record, or continue
//
// A folder that cannot be used gives one warning, and nothing is kept.
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_TUNE_TUNINGSTORE_H
#define NEREID_TUNE_TUNINGSTORE_H

#include "nereid/Tune/TuningRecord.h"

namespace nereid::tune {

/// Lines in the order in which things happened. Each is one write.
class Journal {
public:
  Journal() = default; ///< of nothing: keeps no line
  explicit Journal(std::string path) : path_(std::move(path)) {}

  /// Forgets what is there unless it is of the same launch: what failed with
  /// other arguments or another grid may not fail with these.
  void claim(const std::string &launch) const;
  void forget() const;

  void begin(const ConfigDescription &config) const;
  void end(const TrialRecord &trial) const;

  struct History {
    std::map<std::string, TrialRecord> ended; ///< by describe(config)
    std::map<std::string, int> begun;         ///< and not ended: how often
  };
  History read() const;
  const std::string &path() const { return path_; }

private:
  void append(const std::string &line) const;
  std::string path_;
};

class TuningStore {
public:
  /// Empty: nothing is kept.
  explicit TuningStore(std::string folder) : folder(std::move(folder)) {}
  /// In the disk cache's folder, or none where that is turned off.
  static TuningStore ofThisUser();

  /// Makes the folder; a warning says why it cannot be used.
  bool isUsable() const;
  /// What does not read counts as absent, and is replaced.
  std::optional<TuningRecord> find(const TuningRecord &key) const;
  Status keep(const TuningRecord &record) const;
  std::vector<TuningRecord> all() const;
  Journal journal(const TuningRecord &key) const;

  /// Waits while another process has it.
  class Lock {
  public:
    Lock(const TuningStore &kept, const TuningRecord &key);
    ~Lock();
    Lock(const Lock &) = delete;

  private:
    std::string path;
    int descriptor = -1;
  };

private:
  std::string pathOf(const TuningRecord &key, const char *suffix) const;

  std::string folder;
};

} // namespace nereid::tune

#endif // NEREID_TUNE_TUNINGSTORE_H
