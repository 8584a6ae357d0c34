//===- TuningRecord.h - What tuning found out, as JSON ---------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One record a kernel and key. docs/Tune.md describes the fields; the same form
// is kept on the disk, exported, imported, and built into programs.
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_TUNE_TUNINGRECORD_H
#define NEREID_TUNE_TUNINGRECORD_H

#include "nereid/Runtime/autotune/ConfigChooser.h"

#include <nlohmann/json_fwd.hpp>

namespace nereid::tune {

/// What became of one configuration.
enum class TrialState {
  Measured,
  NoGrid,      ///< the launch has no grid with its values
  NotCompiled, ///< an error of the compiler
  TooLarge,    ///< more of a resource than the device has
  Faulted,     ///< the kernel failed, or ended its process
  Hung,        ///< did not end within the limit
  Suspect,     ///< results that others do not agree with
};
const char *name(TrialState state);

struct TrialRecord {
  ConfigDescription config;
  TrialState state = TrialState::Measured;
  double ms = 0;     ///< median; 0 when it was not measured
  double spread = 0; ///< half of the middle half of the samples, of the median
  size_t samples = 0;
  std::string message; ///< why it is out
};

struct TuningRecord {
  std::string kernel, file, sourceHash;
  std::string device; ///< its name, and for a GPU its architecture
  std::string driver; ///< of a GPU: CUDA's version
  std::map<std::string, StaticValue> values;
  std::map<std::string, DType> dtypes;
  /// What was chosen from: a hash of the decorator's list, or "search".
  std::string candidates;
  ConfigDescription config;
  double ms = 0, seconds = 0; ///< a launch; the whole tuning
  std::vector<TrialRecord> trials;
  /// Others that may be faster by more than a twentieth.
  size_t rivals = 0;
  /// Configurations with the code of another one; ones that were not tried.
  size_t twins = 0, untried = 0;
  bool isStopped = false; ///< before everything was tried
  std::string remark;     ///< what holds of all configurations
  /// Not empty: configurations compute different things, and nothing says which
  /// is right. Such a record is not kept.
  std::string doubt;

  /// Names the record among all others.
  std::string id() const;
};

/// In messages of trials: configurations disagree.
inline constexpr const char *undecided = "nothing says which is right";
/// Were results distinguished, and a choice made all the same? Nereid has done
/// so.
bool isDoubtful(const TuningRecord &record);

/// A record without a choice, of this machine.
TuningRecord recordOf(const TuningKey &key);
/// Hash of a list of configurations.
std::string hashOf(std::span<const ConfigDescription> configs);

nlohmann::ordered_json toJson(const ConfigDescription &config);
nlohmann::ordered_json toJson(const TrialRecord &trial);
nlohmann::ordered_json toJson(const TuningRecord &record);
/// Throw nlohmann's exceptions for what is no such thing.
ConfigDescription configOf(const nlohmann::ordered_json &json);
TrialRecord trialOf(const nlohmann::ordered_json &json);
TuningRecord tuningOf(const nlohmann::ordered_json &json);

/// A file of records: what --export writes. The failure names the file, and the
/// place in it.
std::string fileText(std::span<const TuningRecord> records);
Expected<std::vector<TuningRecord>> readRecords(const std::string &path);
Expected<std::vector<TuningRecord>> parseRecords(const std::string &path,
                                                 const std::string &text);

} // namespace nereid::tune

#endif // NEREID_TUNE_TUNINGRECORD_H
