//===- Options.h - The options of a training run ----------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// nanoGPT's options, by its names and with its defaults, from the command line
// (--batch_size=12) and from its configuration files (batch_size = 12).
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_APPS_GPT2_OPTIONS_H
#define NEREID_APPS_GPT2_OPTIONS_H

#include "apps/gpt2/model/GptConfig.h"

#include <nlohmann/json_fwd.hpp>
#include <set>
#include <string_view>

namespace nereid::gpt2 {

struct Options {
  // Where.
  std::string outDir = "out", dataset = "openwebtext", initFrom = "scratch",
              device = "cuda", dtype = "auto";
  std::string checkpoint; ///< of a folder's; empty: see its row
  bool compile = true, recompute = false, overwrite = false;
  int64_t seed = 1337;
  int64_t gpus = 1, processes = 1; ///< of this machine
  int64_t threads = 0;             ///< of a process on the CPU; 0: the default
  // When.
  int64_t maxIters = 600000, evalInterval = 2000, evalIters = 200,
          logInterval = 1;
  bool evalOnly = false, alwaysSaveCheckpoint = true;
  double epochs = 0;          ///< instead of maxIters
  int64_t patience = 0;       ///< evaluations without a better loss; 0: any
  int64_t sampleEvery = 0;    ///< steps between texts; 0: none
  std::string multipleChoice; ///< a file of questions; empty: none
  bool csv = false, tensorboard = false;
  int64_t keep = 0; ///< checkpoints before the last one
  // The batch.
  int64_t gradientAccumulationSteps = 40, batchSize = 12, blockSize = 1024;
  // The model. Vocabulary 0: that of the data.
  int64_t layers = 12, heads = 12, width = 768, vocabulary = 0;
  double dropout = 0;
  bool bias = false, tanhGelu = true;
  // AdamW.
  double learningRate = 6e-4, minLr = 6e-5, weightDecay = 0.1, beta1 = 0.9,
         beta2 = 0.95, gradClip = 1;
  /// Deviations above the mean of the last 128 steps; 0: no step is skipped.
  double skipUpdateLossZ = 0, skipUpdateGradZ = 0;
  bool decayLr = true;
  std::string lrSchedule = "cosine";
  int64_t warmupIters = 2000, lrDecayIters = 600000;
  int64_t decayIters = 0; ///< of wsd; 0: a tenth of lrDecayIters
  // What is written beside the checkpoints.
  std::string plot, trace;
  // Of sampling; no part of a run's record.
  std::string start = "\n";
  int64_t numSamples = 10, maxNewTokens = 500, topK = 200;
  double temperature = 0.8, topP = 1;

  /// Those that somebody has set, by a command line or a file.
  std::set<std::string> given = {};
};

/// A description of one option, for help and for messages.
struct OptionRow {
  std::string name, help, group;
  bool isFlag = false;     ///< may stand without a value
  bool mayBeEmpty = false; ///< a text that may be empty: --start=
};
/// The help ends with the value in `defaults`.
std::vector<OptionRow> optionRows(const Options &defaults = {});

/// Throws InvalidArgument: "--dropout: expected a number from 0 to below 1, got
/// 2", and for unknown names what was meant.
void setOption(Options &options, const std::string &name,
               const std::string &value);
/// The value as `setOption` takes it.
std::string optionText(const Options &options, const std::string &name);
/// Every option of training, as numbers, truth values and texts, by its name.
nlohmann::json toJson(const Options &options);
/// From `toJson`; what this program does not know, or does not take, is left
/// out. `given` holds what there was.
Options optionsFrom(const nlohmann::json &json);

/// Options of nanoGPT that have no meaning here: wandb_log, backend ...
const std::vector<std::string> &ignoredOptions();
bool isIgnoredOption(const std::string &name);

/// Lines "name = value" with comments, as Python reads them, and imports; the
/// values are those of ConfigExpression.h. A name that is no option must be
/// used by a later line. Ignored options are returned. Errors have the place:
/// "config.py:3:1: error: ...". Throws Error.
std::vector<std::string> readConfig(Options &options, const std::string &path);
std::vector<std::string> readConfigText(Options &options, std::string_view text,
                                        const std::string &path);

/// What one option alone cannot tell. Throws InvalidArgument.
void checkOptions(const Options &options);

} // namespace nereid::gpt2

#endif // NEREID_APPS_GPT2_OPTIONS_H
