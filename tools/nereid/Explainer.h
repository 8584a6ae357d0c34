//===- Explainer.h - Launches, explained on the simulated GPU - -*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_TOOLS_NEREID_EXPLAINER_H
#define NEREID_TOOLS_NEREID_EXPLAINER_H

#include "DecisionKeeper.h"
#include "KernelArguments.h"
#include "ProgressLine.h"

#include "nereid/Explain/Report.h"
#include "nereid/Runtime/autotune/ConfigChooser.h"
#include "nereid/Runtime/gpu/simulated/SimulatedDriver.h"

#include <mutex>

namespace nereid {

struct ExplainOptions {
  std::string kernel, grid, chip, config, json, html;
  std::vector<std::string> arguments, bindings, against;
  uint64_t seed = 0, programs = 128;
  double limit = 0; ///< seconds of a launch on the simulator; 0: none
  std::string limitText() const {
    char text[32];
    std::snprintf(text, sizeof(text), "%g", limit);
    return text;
  }
};

/// What is explained: a kernel with its arguments, as texts.
struct ExplainedLaunch {
  std::string kernel, grid;
  std::vector<std::string> arguments;
  std::string label; ///< empty: the kernel's name
};

/// Which configuration of @triton.autotune is explained: the one that --config
/// names, else what a tuner has kept for a GPU, else the one with the least
/// predicted time. The simulator's own times say nothing.
class ExplainChooser : public ConfigChooser {
public:
  ExplainChooser(std::string wanted, std::string target)
      : wanted(std::move(wanted)), target(std::move(target)) {}

  std::optional<ConfigDescription>
  find(const TuningKey &key, const KernelDescription &kernel) override;
  bool searches() const override { return false; }
  Expected<size_t> choose(LaunchTrials &trials) override;

  /// Of the report that the launch before this call has made.
  std::function<std::optional<double>()> predictedUs;
  /// False: there are no such times, and the first that compiles is taken.
  bool isPredicted = true;
  /// Called with what is tried; false: no more are tried.
  std::function<bool(const std::string &)> tell;
  /// The choice and where it comes from; empty before there was one.
  const std::string &text() const { return text_; }

private:
  const std::string wanted, target;
  std::string text_;
};

/// Launches kernels on the simulated GPU, one report each.
class Explainer {
public:
  explicit Explainer(const ExplainOptions &options);
  explain::Report explain(const ExplainedLaunch &launch);

private:
  bool goesOn(uint64_t ended, uint64_t all);
  bool isOver() const;
  void recordLaunch(const gpu::ProfiledHipLaunch &launch);
  void addMachineCode();
  /// As the report names it: code has whole paths.
  void nameOwnFile(std::vector<explain::MachineLine> &code) const;

  const ExplainOptions &options;
  const explain::Chip chip;
  DecisionKeeper *keeper; ///< the context's
  std::shared_ptr<ExplainChooser> chooser;
  Context context;
  SharedClock clock;
  ProgressLine line;
  explain::Subject subject;
  std::optional<explain::Report> report;
  KernelImage image; ///< of the last launch; assembled, where there is ptxas
  std::string doing;
  int64_t begin = 0;
  std::mutex mutex; ///< of the line, which several threads show
};

} // namespace nereid

#endif // NEREID_TOOLS_NEREID_EXPLAINER_H
